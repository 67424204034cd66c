// SPDX-License-Identifier: MIT
using System;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Bench;

/// <summary>Work that needs signals: SIGSEGV for faults, SIGRTMIN for suspensions.</summary>
internal static class Signals
{
    private const int Batch = 100;

    private static volatile bool stop;
    private static volatile bool spinning;

    private sealed class Node
    {
        public readonly int Value = 1;
    }

    /// <summary>Returns the median over batches of the time of one NullReferenceException, in
    /// ns.</summary>
    public static double NullReferences(int n)
    {
        return Median(n, Batch, () =>
        {
            try
            {
                Read(null);
            }
            catch (NullReferenceException)
            {
            }
        });
    }

    /// <summary>
    /// Returns the median time of one collection, in ns, while a thread runs a loop without
    /// safepoints. A signal stops that thread each time.
    /// </summary>
    public static double Collections(int n)
    {
        stop = false;
        var thread = new Thread(Spin);
        thread.Start();
        while (!spinning)
            Thread.Yield();
        double time = Median(n, 1, () => GC.Collect(0));
        stop = true;
        thread.Join();
        return time;
    }

    private static double Median(int n, int batch, Action once)
    {
        for (int i = 0; i < Math.Max(1, n / 10); i++)
            once();
        var times = new double[Math.Max(1, n / batch)];
        for (int i = 0; i < times.Length; i++)
        {
            long start = Stopwatch.GetTimestamp();
            for (int j = 0; j < batch; j++)
                once();
            times[i] = Stopwatch.GetElapsedTime(start).TotalNanoseconds / batch;
        }
        Array.Sort(times);
        return times[times.Length / 2];
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int Read(Node? node) => node!.Value;

    /// <summary>Fully optimized from the start, without patchpoints; some tens of ms between two
    /// reads of `stop`.</summary>
    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
    private static void Spin()
    {
        int x = 1;
        spinning = true;
        do
        {
            for (int i = 0; i < 50_000_000; i++)
                x = x * 31 + i;
        }
        while (!stop);
        GC.KeepAlive(x);
    }
}
