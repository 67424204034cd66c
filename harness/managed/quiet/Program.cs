// SPDX-License-Identifier: MIT
using System;
using System.Globalization;
using System.IO;
using System.Threading;

namespace Quiet;

/// <summary>
/// Does the same little work again and again, and collects its garbage twice a second, so that memory that appears in
/// the process is somebody else's. Arguments: the path of a file that ends it; "work" also starts a thread, throws an
/// exception, waits for a lock and allocates, fifty times a second. Exit codes: 0, 1 nothing was done, 2 wrong
/// arguments.</summary>
internal static class Program
{
    private static readonly object Gate = new();
    private static ulong result;
    private static byte[] last = [];

    private static int Main(string[] args)
    {
        if (args.Length is not (1 or 2) || (args.Length == 2 && args[1] != "work"))
        {
            Console.Error.WriteLine("quiet: expected the path of the file that ends it, and perhaps: work");
            return 2;
        }
        var computes = new Thread(() => Compute(args.Length == 2)) { IsBackground = true };
        computes.Start();
        while (!File.Exists(args[0]))
        {
            Thread.Sleep(500);
            GC.Collect(2, GCCollectionMode.Forced, true, true);
        }
        Console.WriteLine(string.Format(CultureInfo.InvariantCulture, "quiet: .NET {0}: {1}",
            Environment.Version, result > 0 ? "computed" : "did nothing"));
        return result > 0 ? 0 : 1;
    }

    private static void Compute(bool works)
    {
        for (; ; )
        {
            result = Round(result);
            if (works)
                Work();
            Thread.Sleep(19);
        }
    }

    private static ulong Round(ulong x)
    {
        for (int i = 0; i < 1_000_000; i++)
            x = (x * 6364136223846793005UL) + 1442695040888963407UL;
        return x | 1;
    }

    private static void Work()
    {
        var waits = new Thread(Wait);
        lock (Gate)
        {
            waits.Start();
            Thread.Sleep(1);
        }
        waits.Join();
        last = new byte[20_000];
        try
        {
            throw new InvalidOperationException("expected");
        }
        catch (InvalidOperationException)
        {
            result += (ulong)last.Length;
        }
    }

    private static void Wait()
    {
        lock (Gate)
            result += Round(1);
    }
}
