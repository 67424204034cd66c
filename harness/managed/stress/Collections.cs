// SPDX-License-Identifier: MIT
using System;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Stress;

/// <summary>
/// Garbage collections while threads loop without safepoints. Only the runtime's signal stops such
/// a thread; without the signal a collection waits forever.
/// </summary>
internal static class Collections
{
    // Some tens of milliseconds: much longer than a collection needs to send its signal.
    private const int SpinSteps = 50_000_000;

    private static volatile bool stop;
    private static int spinning;
    private static int garbage;

    /// <summary>Returns how many of the n collections took place.</summary>
    public static int Collect(int n, int loops)
    {
        stop = false;
        spinning = 0;
        var threads = new Thread[loops];
        for (int i = 0; i < loops; i++)
        {
            threads[i] = new Thread(Spin);
            threads[i].Start();
        }
        while (Volatile.Read(ref spinning) < loops)
            Thread.Yield();
        int done = 0;
        for (int i = 0; i < n; i++)
        {
            garbage += Litter(i).Length;
            int generation = i % (GC.MaxGeneration + 1);
            int before = GC.CollectionCount(generation);
            GC.Collect(generation);
            done += GC.CollectionCount(generation) > before ? 1 : 0;
        }
        stop = true;
        foreach (Thread thread in threads)
            thread.Join();
        return done;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static string Litter(int seed)
    {
        var parts = new string[100];
        for (int i = 0; i < parts.Length; i++)
            parts[i] = new string('x', (seed + i) % 50);
        return string.Concat(parts);
    }

    private static void Spin()
    {
        Interlocked.Increment(ref spinning);
        SpinUntilStopped();
    }

    /// <summary>
    /// Fully optimized from the start, without patchpoints and helper calls: between two reads of
    /// `stop` there are only arithmetic and a jump.
    /// </summary>
    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
    private static int SpinUntilStopped()
    {
        int x = 1;
        do
        {
            for (int i = 0; i < SpinSteps; i++)
                x = x * 31 + i;
        }
        while (!stop);
        return x;
    }
}
