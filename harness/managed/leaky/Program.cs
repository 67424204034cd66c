// SPDX-License-Identifier: MIT
using System;
using System.IO;
using System.Threading;

namespace Leaks;

/// <summary>
/// A program with four leaks: an event handler that is never removed, a static cache that is never
/// emptied, a timer that is never disposed of, and native memory that is never freed. Beside them,
/// it allocates ten times as much that it does not keep, in managed and in native memory.
/// Arguments: "requests=N" (1000): each request leaks one object of each kind; "ready=FILE": make
/// the file when all requests were served; "until=FILE": then wait for the file, at most 100 s.
/// </summary>
internal static class Program
{
    private static int Main(string[] args)
    {
        int requests = int.Parse(Option(args, "requests", "1000"));
        for (int i = 0; i < requests; i++)
            Serve(i);
        GC.Collect();
        GC.WaitForPendingFinalizers();
        GC.Collect();
        string ready = Option(args, "ready", ""), until = Option(args, "until", "");
        if (ready.Length > 0)
            File.WriteAllText(ready, "");
        for (int i = 0; until.Length > 0 && !File.Exists(until) && i < 1000; i++)
            Thread.Sleep(100);
        Console.WriteLine($"leaky: {requests} requests; {Subscriber.Heard}");
        return 0;
    }

    private static string Option(string[] args, string name, string otherwise)
    {
        foreach (string arg in args)
            if (arg.StartsWith(name + "=", StringComparison.Ordinal))
                return arg.Substring(name.Length + 1);
        return otherwise;
    }

    private static void Serve(int number)
    {
        for (int i = 0; i < 10; i++)
            Request.Handle(number + i);
        Subscriber.Subscribe(number);
        Cache.Remember(number);
        Poller.Start(number);
        NativeBuffers.Leak(number);
        for (int i = 0; i < 10; i++)
            NativeBuffers.Use(number + i);
    }
}
