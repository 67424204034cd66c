// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Threading;

namespace Stress;

/// <summary>
/// Does everything that a runtime needs signals for, concurrently, and checks the counts.
/// Arguments: NAME=N..., see Options. Exit codes: 0 every count is right, 1 some are wrong, 2 wrong
/// arguments.</summary>
internal static class Program
{
    /// <summary>Rounds that are repeated until a file exists leave two thirds of the time, but not more
    /// milliseconds than this after each, to whatever the program waits for.</summary>
    private const double MostRest = 300;

    private static int Main(string[] args)
    {
        if (!Options.TryParse(args, out Options options))
        {
            Console.Error.WriteLine($"stress: expected words NAME=N, from: {Options.Names}");
            return 2;
        }
        var clock = Stopwatch.StartNew();
        var tally = new Tally();
        int rounds = 0;
        do
        {
            double began = clock.Elapsed.TotalMilliseconds;
            Round(options, tally);
            rounds++;
            if (options.Until.Length > 0)
                Thread.Sleep((int)Math.Min(2 * (clock.Elapsed.TotalMilliseconds - began), MostRest));
        }
        while (tally.Right && (clock.Elapsed.TotalSeconds < options.Seconds ||
            (options.Until.Length > 0 && !File.Exists(options.Until))));
        Console.WriteLine($"stress: .NET {Environment.Version}: {rounds} rounds, {tally}");
        return tally.Right ? 0 : 1;
    }

    /// <summary>Runs every kind of work on its own thread, and returns when all have
    /// ended.</summary>
    private static void Round(Options options, Tally tally)
    {
        var threads = new List<Thread>();
        for (int i = 0; i < Faults.Threads; i++)
        {
            int nre = Share(options.Nre, i, Faults.Threads);
            int div = Share(options.Div, i, Faults.Threads);
            threads.Add(Run(tally, () => tally.Add("nre", Faults.NullReferences(nre), nre)));
            threads.Add(Run(tally, () => tally.Add("div", Faults.DivisionsByZero(div), div)));
        }
        threads.Add(Run(tally, () => tally.Add("gcs",
            Collections.Collect(options.Gcs, options.Loops), options.Gcs)));
        threads.Add(Run(tally, () => tally.Add("pool", Pool.Items(options.Pool), options.Pool)));
        threads.Add(Run(tally, () => tally.Add("tasks", Pool.Tasks(options.Pool), options.Pool)));
        threads.Add(Run(tally, () => tally.Add("callbacks",
            Callbacks.Sort(options.Pool), options.Pool)));
        foreach (Thread thread in threads)
            thread.Join();
    }

    /// <summary>Runs work; counts an unexpected exception as a wrong result, so that it is not a
    /// crash.</summary>
    private static Thread Run(Tally tally, Action work)
    {
        var thread = new Thread(() =>
        {
            try
            {
                work();
            }
            catch (Exception e)
            {
                tally.Fail(e);
            }
        });
        thread.Start();
        return thread;
    }

    private static int Share(int total, int index, int of) =>
        total / of + (index < total % of ? 1 : 0);
}
