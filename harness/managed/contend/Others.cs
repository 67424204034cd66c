// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

namespace Contend;

/// <summary>Waits that are no contention of a monitor or lock.</summary>
internal static class Others
{
    public static IEnumerable<(string Name, Action Enter, Action Exit)> All()
    {
        var slim = new SemaphoreSlim(1);
        var readers = new ReaderWriterLockSlim();
        var ready = new AutoResetEvent(true);
        yield return ("SemaphoreSlim", slim.Wait, () => slim.Release());
        yield return ("ReaderWriterLockSlim", readers.EnterWriteLock, readers.ExitWriteLock);
        yield return ("AutoResetEvent", () => ready.WaitOne(), () => ready.Set());
    }

    public const int Times = 8;

    /// <summary>One thread waits while another holds it for `hold` ms, `Times` times. Returns the
    /// number of contentions that the runtime has counted meanwhile.</summary>
    public static long Run(Action enter, Action exit, int hold)
    {
        long before = Monitor.LockContentionCount;
        for (int i = 0; i < Times; i++)
            Wait(enter, exit, hold);
        return Monitor.LockContentionCount - before;
    }

    private static void Wait(Action enter, Action exit, int hold)
    {
        using var held = new Barrier(2);
        var owner = new Thread(() =>
        {
            enter();
            held.SignalAndWait();
            Thread.Sleep(hold);
            exit();
        });
        var waiter = new Thread(() =>
        {
            held.SignalAndWait();
            enter();
            exit();
        });
        owner.Start();
        waiter.Start();
        owner.Join();
        waiter.Join();
    }

    /// <summary>Blocks `n` threads of the pool for `ms`, and returns the highest number of items
    /// that were queued meanwhile.</summary>
    public static long Starve(int n, int ms)
    {
        long most = 0;
        var tasks = new List<Task>();
        for (int i = 0; i < n; i++)
            tasks.Add(Task.Run(() => Thread.Sleep(ms)));
        Task all = Task.WhenAll(tasks);
        while (!all.Wait(5))
            most = Math.Max(most, ThreadPool.PendingWorkItemCount);
        return most;
    }
}
