// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Memory;

/// <summary>What keeps objects alive.</summary>
internal static class Roots
{
    /// <summary>What the word keep:KIND=N has allocated, in that order.</summary>
    public static readonly List<object?> Kept = new();

    public static Single? Static;

    /// <summary>A value with a reference: the runtime keeps it in a box.</summary>
    public static Holding Value;

    [ThreadStatic]
    private static PerThread? perThread;

    private static readonly ManualResetEventSlim end = new();
    private static readonly List<Thread> threads = new();

    public static void Keep(object? kept)
    {
        lock (Kept)
            Kept.Add(kept);
    }

    public static void KeepStatic()
    {
        Static = new Single();
        Value = new Holding { It = new Held() };
    }

    /// <summary>Starts n threads, each of which waits with one object in a thread-static field, and
    /// one in a local variable. Returns when all have them.</summary>
    public static void KeepOnThreads(int n)
    {
        using var ready = new CountdownEvent(n);
        for (int i = 0; i < n; i++)
        {
            var thread = new Thread(() => Hold(ready)) { IsBackground = true, Name = $"holder {i}" };
            thread.Start();
            threads.Add(thread);
        }
        ready.Wait();
    }

    /// <summary>Drops everything, and ends the threads.</summary>
    public static void Drop()
    {
        Kept.Clear();
        Static = null;
        Value = default;
        end.Set();
        foreach (Thread thread in threads)
            thread.Join();
        threads.Clear();
        end.Reset();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Hold(CountdownEvent ready)
    {
        perThread = new PerThread();
        var local = new OnStack();
        ready.Signal();
        end.Wait();
        GC.KeepAlive(local);
        GC.KeepAlive(perThread);
    }
}
