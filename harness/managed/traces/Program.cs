// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

namespace Traces;

/// <summary>
/// Runs four requests at once, each in an Activity of its own with a child, which hop from thread to thread. Each
/// request computes in methods of its own, so that the trace of a stack is known. A fifth flow has no Activity. A thread
/// allocates all the time, so that objects move. Argument: seconds. Prints for each request: "trace", its number, the
/// version of the runtime, trace id, span id of the request, span id of its child, and the name of its endpoint.
/// Each request has another number of AsyncLocal values: 1, 3, 9 and 25.
/// </summary>
internal static class Program
{
    private static readonly int[] Others = { 0, 2, 8, 24 };
    private static readonly List<AsyncLocal<string>> Locals = new();
    private static volatile bool ends;
    private static long result;

    private static async Task<int> Main(string[] args)
    {
        if (args.Length != 1 || !double.TryParse(args[0], CultureInfo.InvariantCulture, out double seconds))
        {
            Console.Error.WriteLine("traces: expected a number of seconds");
            return 2;
        }
        for (int i = 0; i < 24; i++)
            Locals.Add(new AsyncLocal<string>());
        var garbage = new Thread(Allocate) { IsBackground = true };
        garbage.Start();
        for (int i = 0; i < 4; i++) // what a runtime has never used cannot be read at first
            await Task.Run(() => Request(i, 0.4, Warm, Warm, false));
        Task[] all = Enumerable.Range(0, 4).Select(i => Task.Run(() => Request(i, seconds, Outer(i), Inner(i), true)))
            .Append(Task.Run(() => Without(seconds))).ToArray();
        await Task.WhenAll(all);
        ends = true;
        garbage.Join();
        return result == 1 ? 1 : 0;
    }

    private static Action Outer(int i) => i switch { 0 => Outer0, 1 => Outer1, 2 => Outer2, _ => Outer3 };

    private static Action Inner(int i) => i switch { 0 => Inner0, 1 => Inner1, 2 => Inner2, _ => Inner3 };

    private static async Task Request(int number, double seconds, Action outer, Action inner, bool prints)
    {
        for (int i = 0; i < Others[number]; i++)
            Locals[i].Value = "value";
        using var request = new Activity("request " + number);
        request.SetIdFormat(ActivityIdFormat.W3C);
        if (number == 1)
            request.DisplayName = "GET /one";
        if (number == 2)
            request.SetTag("http.request.method", "GET").SetTag("http.route", "/two/{id}");
        request.Start();
        await Compute(seconds / 2, outer);
        using var child = new Activity("child " + number);
        child.Start();
        await Compute(seconds / 2, inner);
        string of = request.SpanId.ToHexString(), inside = child.SpanId.ToHexString();
        child.Stop();
        request.Stop();
        if (prints)
            Console.WriteLine(string.Format(CultureInfo.InvariantCulture, "trace {0} {1} {2} {3} {4} {5}", number,
                Environment.Version, request.TraceId.ToHexString(), of, inside,
                number == 1 ? "GET /one" : number == 2 ? "/two/{id}" : "request " + number));
    }

    private static async Task Without(double seconds)
    {
        await Compute(seconds, None);
    }

    /// <summary>Hops to another thread every few milliseconds.</summary>
    private static async Task Compute(double seconds, Action step)
    {
        var clock = Stopwatch.StartNew();
        for (int i = 0; clock.Elapsed.TotalSeconds < seconds; i++)
        {
            step();
            if (i % 2 == 0)
                await Task.Yield();
            else
                await Task.Delay(1).ConfigureAwait(false);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Warm() => Spin();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Outer0() { Spin(); result |= 2; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Outer1() { Spin(); result |= 2; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Outer2() { Spin(); result |= 2; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Outer3() { Spin(); result |= 2; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Inner0() { Spin(); result |= 2; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Inner1() { Spin(); result |= 2; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Inner2() { Spin(); result |= 2; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Inner3() { Spin(); result |= 2; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void None() { Spin(); result |= 2; }

    /// <summary>Computes for some milliseconds, allocates, and enters native code.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Spin()
    {
        ulong x = 1;
        for (int i = 0; i < 2_000_000; i++)
            x = (x * 6364136223846793005UL) + 1442695040888963407UL;
        var kept = new List<byte[]>();
        for (int i = 0; i < 200; i++)
            kept.Add(new byte[x % 7 == 8 ? 1 : 500]);
        Thread.Sleep(0);
        GC.KeepAlive(kept);
    }

    private static void Allocate()
    {
        var kept = new Queue<object>();
        while (!ends)
        {
            for (int i = 0; i < 2000; i++)
                kept.Enqueue(new byte[200]);
            while (kept.Count > 20000)
                kept.Dequeue();
            Thread.Sleep(1);
        }
    }
}
