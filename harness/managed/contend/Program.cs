// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;

namespace Contend;

/// <summary>
/// Waits for locks a known number of times. Arguments: words NAME=N.
/// waiters=N, hold=MS, rounds=N: N threads wait for each of the locks of class Sites (4, 3, 2).
/// none=1: no contention. others=MS: waits that are none of a monitor. starve=N: N items that block
/// the thread pool. kinds=S: threads of class Kinds wait for S seconds. open=N: N threads that still wait when the program ends. stay=1: wait to be
/// killed. locks=N, items=N: see class Busy; in thousands.
/// Prints a line for each wait, with what the program itself has measured, and at the end
/// "contend: contentions N", which the runtime has counted.</summary>
internal static class Program
{
    private static readonly Dictionary<string, int> options = new()
    {
        ["waiters"] = 4, ["hold"] = 3, ["rounds"] = 2, ["none"] = 0, ["others"] = 0, ["starve"] = 0,
        ["open"] = 0, ["stay"] = 0, ["kinds"] = 0,
        ["locks"] = 0, ["items"] = 0,
    };

    private static int Main(string[] args)
    {
        foreach (string arg in args)
        {
            string[] parts = arg.Split('=');
            if (parts.Length != 2 || !options.ContainsKey(parts[0]) ||
                !int.TryParse(parts[1], out int value) || value < 0)
            {
                Console.Error.WriteLine(
                    $"contend: expected words NAME=N, from: {string.Join(' ', options.Keys)}");
                return 2;
            }
            options[parts[0]] = value;
        }
        var waits = new List<Wait>();
        for (int i = 0; i < options["rounds"] && options["none"] == 0; i++)
            foreach (Means means in Sites.All())
                waits.AddRange(Rounds.Run(means, options["waiters"], options["hold"]));
        var lines = waits.Select(w => w.ToString()).ToList();
        if (options["none"] != 0)
            Alone();
        if (options["locks"] != 0)
            Busy.Locks(options["locks"]);
        if (options["items"] != 0)
            Busy.Items(options["items"]);
        if (options["others"] != 0)
            foreach ((string name, Action enter, Action exit) in Others.All())
                lines.Add($"contend: other {name} {Others.Run(enter, exit, options["others"])}");
        if (options["starve"] != 0)
            lines.Add($"contend: queued {Others.Starve(options["starve"], 1500)}");
        if (options["kinds"] != 0)
            Kinds.Run(options["kinds"]);
        if (options["open"] != 0)
            lines.AddRange(Open(options["open"]));
        lines.Add($"contend: contentions {Monitor.LockContentionCount}");
        /* One write, since several runtimes print to the same file. */
        Console.Out.Write(string.Join('\n', lines.Select(l => $"{Environment.Version.Major} {l}")) + "\n");
        Console.Out.Flush();
        if (options["stay"] != 0)
            Thread.Sleep(Timeout.Infinite);
        return 0;
    }

    /// <summary>Takes locks that no other thread wants.</summary>
    private static void Alone()
    {
        for (int i = 0; i < 100_000; i++)
            foreach (Means means in Sites.All().Take(1))
            {
                means.Enter();
                means.Exit();
            }
    }

    /// <summary>Threads that wait for a lock that nobody gives up.</summary>
    private static IEnumerable<string> Open(int n)
    {
        Means means = Sites.All().First();
        long before = Monitor.LockContentionCount;
        means.Enter();
        int[] tids = new int[n];
        for (int i = 0; i < n; i++)
        {
            int at = i;
            var thread = new Thread(() =>
            {
                tids[at] = Wait.Tid();
                means.Enter();
            }) { IsBackground = true };
            thread.Start();
        }
        while (Monitor.LockContentionCount - before < n)
            Thread.Sleep(1);
        Thread.Sleep(400);
        return tids.Select(tid => $"contend: open {means.Site} {means.Type} waiter {tid} owner {Wait.Tid()}");
    }
}
