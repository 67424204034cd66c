// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Threading;

namespace Contend;

/// <summary>A way to lock something: how it is entered and left.</summary>
internal sealed class Means(string site, string type, Action enter, Action exit)
{
    public readonly string Site = site, Type = type;
    public readonly Action Enter = enter, Exit = exit;
}

/// <summary>Makes threads wait for a lock a known number of times.</summary>
internal static class Rounds
{
    /// <summary>
    /// One thread holds the lock until the runtime has counted all the others as waiting, and then
    /// for `hold` ms more; each of the others holds it for `hold` ms, too. So each of them waits
    /// exactly once. `least` of a wait is the time from the moment when all of them waited until
    /// the lock was given up by its first owner.</summary>
    public static List<Wait> Run(Means means, int waiters, int hold)
    {
        var waits = new Wait[waiters];
        var threads = new Thread[waiters];
        using var held = new ManualResetEventSlim();
        using var ready = new ManualResetEventSlim();
        long owned = 0, left = 0, before = 0;
        int owner = 0;
        var first = new Thread(() =>
        {
            owner = Wait.Tid();
            means.Enter();
            held.Set();
            ready.Wait();
            while (Monitor.LockContentionCount - before < waiters)
                Thread.Sleep(1);
            owned = Wait.Now();
            Hold(hold);
            left = Wait.Now();
            means.Exit();
        });
        first.Start();
        held.Wait();
        before = Monitor.LockContentionCount; /* other waits may have been counted until here */
        ready.Set();
        for (int i = 0; i < waiters; i++)
        {
            int at = i;
            waits[i] = new Wait { Site = means.Site, Type = means.Type };
            threads[i] = new Thread(() =>
            {
                waits[at].Waiter = Wait.Tid();
                long began = Wait.Now();
                means.Enter();
                waits[at].MostNs = Wait.Now() - began;
                Hold(hold);
                means.Exit();
            });
            threads[i].Start();
        }
        foreach (Thread thread in threads)
            thread.Join();
        first.Join();
        foreach (Wait wait in waits)
        {
            wait.Owner = owner;
            wait.LeastNs = left - owned;
        }
        return [.. waits];
    }

    private static void Hold(int ms) => Thread.Sleep(ms);
}
