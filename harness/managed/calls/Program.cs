// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Threading;
using System.Threading.Tasks;

namespace Calls;

/// <summary>
/// Calls chosen methods a known number of times: "fib=25 threads=4 even=100 throws=10 yields=10
/// steps=10 hops=0 rounds=1". Prints a line "calls: known COUNT NAME" for each, with a number
/// computed by formula, so that tests can compare a profiler's counts with it. Prints "calls: time"
/// with the nanoseconds of a call of fib.
/// </summary>
internal static class Program
{
    private static readonly Dictionary<string, long> known = new();

    private static void Know(string name, long count)
    {
        known.TryGetValue(name, out long had);
        known[name] = had + count;
    }

    private static int Main(string[] args)
    {
        var options = new Dictionary<string, int>
        {
            ["fib"] = 0, ["threads"] = 1, ["even"] = 0, ["throws"] = 0, ["yields"] = 0,
            ["steps"] = 0, ["hops"] = 0, ["rounds"] = 1, ["generic"] = 0,
            ["storm"] = 0, ["seed"] = 1, ["probes"] = 0, ["once"] = 3,
            ["values"] = 0, ["shown"] = 0, ["kinds"] = 0, ["tails"] = 0, ["native"] = 0, ["wait"] = 0, ["unseen"] = 0,
            ["natives"] = 0, ["through"] = 0, ["cross"] = 0, ["late"] = 0, ["forks"] = 0,
        };
        foreach (string arg in args)
        {
            string[] word = arg.Split('=');
            if (word.Length != 2 || !options.ContainsKey(word[0]))
                throw new ArgumentException(arg);
            options[word[0]] = int.Parse(word[1]);
        }
        if (options["probes"] > 0)
            Probe.Prepare(options["probes"], options["once"], options["seed"]);
        if (options["storm"] > 0)
            Storm.Run(options["storm"], options["seed"]);
        foreach ((string name, long count) in Storm.Counts)
            Know((name.Contains("..") ? "Calls.Storm+" : "Calls.Storm.") + name, count);
        if (options["values"] > 0)
            Shapes.Values(options["values"]);
        for (int i = 0; i < options["shown"]; i++)
            ShowValues.Run();
        if (options["kinds"] > 0)
            Shapes.Kinds(options["kinds"]);
        if (options["tails"] > 0)
            Tails.Run(options["tails"]);
        if (options["natives"] > 0)
            Natives.All(options["natives"]);
        if (options["through"] > 0)
            Natives.Through();
        if (options["cross"] > 0)
            Cross(options["cross"]);
        if (options["unseen"] > 0)
            Unseen.Run(options["unseen"]);
        foreach ((string name, long count) in Unseen.Counts)
            Know(name, count);
        foreach ((string name, long count) in Shapes.Counts)
            Know(name, count);
        foreach ((string name, long count) in Tails.Counts)
            Know(name, count);
        if (options["native"] > 0)
            Native(options["native"]);
        if (options["probes"] > 0)
            Probe.Report();
        if (options["hops"] > 0)
            Hops(options["hops"], options["rounds"]);
        for (int round = 0; round < options["rounds"]; round++)
            Round(options);
        if (options["forks"] > 0)
        {
            Forks.Run(options["forks"]);
            Know("Calls.Work.Fib", Work.FibCalls(10));
        }
        Know("Calls.Program.Main", 1);
        foreach ((string name, long count) in known)
            Console.WriteLine($"calls: known {count} {name}");
        for (int i = 0; i < options["late"]; i++)
            StartNext();
        if (options["wait"] > 0)
            Thread.Sleep(options["wait"] * 1000);
        return 0;
    }

    /// <summary>A chain of threads: each starts the next one and ends. It goes on while the runtime shuts down.</summary>
    private static void StartNext() => new Thread(StartNext) { IsBackground = true }.Start();

    private static void Round(Dictionary<string, int> options)
    {
        int threads = options["threads"];
        var all = new Thread[threads];
        for (int i = 0; i < threads; i++)
        {
            all[i] = new Thread(() => OneThread(options)) { Name = "calls " + i };
            all[i].Start();
        }
        foreach (Thread thread in all)
            thread.Join();
        Know("Calls.Program.OneThread", threads);
        Know("Calls.Program.Round", 1);
        Know("Calls.Work.Fib", threads * Work.FibCalls(options["fib"]));
        Know("Calls.Work.Even", threads * (options["even"] / 2 + 1) * (options["even"] > 0 ? 1 : 0));
        Know("Calls.Work.Odd", threads * ((options["even"] + 1) / 2));
        Know("Calls.Work.Generic", threads * 2 * options["generic"]);
        Know("Calls.Work+<Count>d__4.MoveNext", threads * (options["steps"] + 1));
        foreach ((string name, int times) in Faults.CallsOf)
            Know("Calls.Faults." + name, threads * times * options["throws"]);
        if (options["yields"] > 0)
        {
            Work.Yields(options["yields"]).Wait();
            Know("Calls.Work+<Yields>d__5.MoveNext", options["yields"] + 1);
        }
    }

    private static void OneThread(Dictionary<string, int> options)
    {
        int fib = options["fib"], even = options["even"];
        if (fib > 0)
        {
            var clock = Stopwatch.StartNew();
            Work.Fib(fib);
            double ns = clock.Elapsed.TotalMilliseconds * 1e6 / Work.FibCalls(fib);
            if (fib >= 30)
                Console.WriteLine($"calls: time {ns:F2} ns a call of fib");
        }
        if (even > 0)
            Work.Even(even);
        for (int i = 0; i < options["generic"]; i++)
        {
            Work.Generic("a");
            Work.Generic(1);
        }
        foreach (int _ in Work.Count(options["steps"]))
        {
        }
        for (int i = 0; i < options["throws"]; i++)
            Faults.All();
    }

    [System.Runtime.InteropServices.DllImport("libc", EntryPoint = "pthread_create")]
    private static extern unsafe int CreateThread(nint* thread, nint how, delegate* unmanaged<nint, nint> start, nint arg);

    [System.Runtime.InteropServices.DllImport("libc", EntryPoint = "pthread_join")]
    private static extern unsafe int JoinThread(nint thread, nint* result);

    [System.Runtime.InteropServices.UnmanagedCallersOnly]
    private static nint OnNativeThread(nint n) => Work.Fib((int)n);

    /// <summary>Native threads that are unknown to the runtime until a hooked method is called on
    /// them.</summary>
    private static unsafe void Native(int threads)
    {
        var all = new nint[threads];
        fixed (nint* at = all)
        {
            for (int i = 0; i < threads; i++)
                if (CreateThread(at + i, 0, &OnNativeThread, 10) != 0)
                    throw new InvalidOperationException("no thread");
            for (int i = 0; i < threads; i++)
            {
                nint result;
                if (JoinThread(all[i], &result) != 0 || result != 55)
                    throw new InvalidOperationException("wrong result of a native thread");
            }
        }
        Know("Calls.Program.Native", 1);
        Know("Calls.Program.OnNativeThread", threads);
        Know("Calls.Work.Fib", threads * Work.FibCalls(10));
    }

    /// <summary>Ends the process: an exception leaves the frames of one runtime for those of
    /// another.</summary>
    private static unsafe void Cross(int hops)
    {
        if (Sxs.Bridge.Join(&Natives.Cross) == 0)
            Sxs.Bridge.Hop(1, hops, 0);
        Sxs.Bridge.Leave();
    }

    private static unsafe void Hops(int hops, int rounds)
    {
        int index = Sxs.Bridge.Join(&Hop.Enter), apps = Sxs.Bridge.Apps(), mine = 0;
        for (int i = 1; i <= hops; i++)
            mine += i % apps == index ? 1 : 0;
        Know("Calls.Hop.Enter", mine * rounds);
        Know("Calls.Hop.Arrive", mine * rounds);
        if (index == 0)
            for (int i = 0; i < rounds; i++)
                Sxs.Bridge.Hop(1, hops, 0);
        Sxs.Bridge.Leave();
    }
}
