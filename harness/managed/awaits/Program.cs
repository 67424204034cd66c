// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Threading;
using System.Threading.Tasks;

namespace Sxs.Awaiting;

/// <summary>
/// Runs chains of awaits and compares the profiler's logical stack with the expected one.
/// Arguments: "rounds=1 flows=1 collect=0 depth=20": flows chains concurrently, rounds times; with
/// collect=1 a thread allocates and collects garbage at the same time. Prints "awaits: asked N same
/// M". "yields=N": measures only the time of a resumed MoveNext, in ns.
/// </summary>
internal static class Program
{
    private static volatile bool done;

    private static async Task Flow(int rounds, int depth)
    {
        for (int i = 0; i < rounds; i++)
            await Round(depth);
    }

    /// <summary>Runs each chain once. Flow and Round are not methods of Chains, so expected stacks
    /// do not contain them.</summary>
    private static async Task Round(int depth)
    {
        foreach (Func<Task> chain in new Func<Task>[] { Chains.Tasks, Chains.Results,
            () => Chains.Depth(depth), Chains.ValueTasks, Chains.Voids, Chains.Iterators, Chains.All,
            Chains.Any, Chains.Runs, Chains.Continues, Chains.Catches, Chains.InContext,
            Chains.OnScheduler, Chains.Own, Chains.Shared, Chains.Blocks })
        {
            await Chains.Later();
            await chain();
        }
    }

    private static void Collect()
    {
        var kept = new Queue<object>();
        while (!done)
        {
            for (int i = 0; i < 2000; i++)
                kept.Enqueue(new byte[i % 500]);
            while (kept.Count > 5000)
                kept.Dequeue();
            GC.Collect(Random.Shared.Next(3), GCCollectionMode.Forced, true, true);
        }
    }

    private static async Task Yields(int n)
    {
        for (int i = 0; i < n; i++)
            await Task.Yield();
    }

    private static async Task Below(int depth, int n)
    {
        if (depth > 0)
            await Below(depth - 1, n);
        else
            await Yields(n);
    }

    private static int Main(string[] args)
    {
        var options = new Dictionary<string, int>
        {
            ["rounds"] = 1, ["flows"] = 1, ["collect"] = 0, ["depth"] = 20, ["yields"] = 0,
        };
        foreach (string arg in args)
        {
            string[] word = arg.Split('=');
            if (word.Length != 2 || !options.ContainsKey(word[0]))
                throw new ArgumentException(arg);
            options[word[0]] = int.Parse(word[1]);
        }
        if (options["yields"] > 0)
        {
            Below(options["depth"], options["yields"]).Wait();
            var clock = Stopwatch.StartNew();
            Below(options["depth"], options["yields"]).Wait();
            Console.WriteLine($"awaits: {clock.Elapsed.TotalMilliseconds * 1e6 / options["yields"]:F0} ns");
            return 0;
        }
        Expect.Prepare();
        var collector = new Thread(Collect);
        if (options["collect"] > 0)
            collector.Start();
        // While one thread still loads a class, others may already have objects of it, and the
        // profiler does not know the class yet. Load all classes first.
        if (options["flows"] > 1)
            new Worker(-1).Start(() => Flow(1, options["depth"])).Wait();
        var flows = new Task[options["flows"]];
        for (int i = 0; i < flows.Length; i++)
            flows[i] = new Worker(i).Start(() => Flow(options["rounds"], options["depth"]));
        Task.WaitAll(flows);
        done = true;
        if (options["collect"] > 0)
            collector.Join();
        return Expect.Report() ? 0 : 1;
    }
}
