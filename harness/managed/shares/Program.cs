// SPDX-License-Identifier: MIT
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

namespace Shares;

/// <summary>Uses known shares of CPU time in known functions, so that tests can check the results
/// of a sampling profiler. "alpha=40 beta=30 native=10 seconds=2": of 2 seconds of this thread's
/// CPU time, spends 40, 30 and 10 hundredths in these functions, in turns of a few milliseconds.
/// "churn=1000": at the same time starts 1000 native threads a second, each with 1 ms of CPU time.
/// "litter=2": then allocates for 2 s and prints how long collections stopped the
/// program.</summary>
internal static unsafe class Program
{
    [StructLayout(LayoutKind.Sequential)]
    private struct TimeSpec
    {
        public long Seconds, Nanoseconds;
    }

    [DllImport("libc", EntryPoint = "clock_gettime")]
    private static extern int ClockGetTime(int clock, TimeSpec* time);

    [DllImport("sxsbridge", EntryPoint = "sxsbridge_burn")]
    private static extern void NativeBurn(long nanoseconds);

    [DllImport("sxsbridge", EntryPoint = "sxsbridge_churn")]
    private static extern long NativeChurn(int threads, long every, long burn);

    private static ulong s_sink;

    private static long CpuNow()
    {
        TimeSpec t;
        ClockGetTime(3, &t); // CLOCK_THREAD_CPUTIME_ID
        return t.Seconds * 1_000_000_000 + t.Nanoseconds;
    }

    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
    private static void Alpha(long until)
    {
        do
        {
            for (int i = 0; i < 100_000; i++)
                s_sink = s_sink * 6364136223846793005 + 1;
        } while (CpuNow() < until);
    }

    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
    private static void Beta(long until)
    {
        do
        {
            for (int i = 0; i < 100_000; i++)
                s_sink = s_sink * 2862933555777941757 + 3;
        } while (CpuNow() < until);
    }

    private sealed class Node
    {
        public Node? Left, Right;
    }

    private static Node Tree(int depth) =>
        depth == 0 ? new Node() : new Node { Left = Tree(depth - 1), Right = Tree(depth - 1) };

    /// <summary>Allocates trees and keeps the last sixteen, so that collections have
    /// work.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Litter(long until)
    {
        var kept = new Node[16];
        for (int i = 0; CpuNow() < until; i++)
            kept[i % kept.Length] = Tree(15);
        GC.KeepAlive(kept);
    }

    private static int Main(string[] args)
    {
        double alpha = 0, beta = 0, native = 0, seconds = 2, churn = 0, litter = 0;
        foreach (string arg in args)
        {
            string[] word = arg.Split('=');
            double value = double.Parse(word[1]);
            switch (word[0])
            {
                case "alpha": alpha = value; break;
                case "beta": beta = value; break;
                case "native": native = value; break;
                case "seconds": seconds = value; break;
                case "churn": churn = value; break;
                case "litter": litter = value; break;
                default: throw new ArgumentException(arg);
            }
        }
        long used = 0;
        var other = new Thread(() => used = NativeChurn((int)(churn * seconds), (long)(1e9 / churn), 1_000_000));
        if (churn > 0) other.Start();
        const int Rounds = 50;
        double unit = seconds * 1e9 / 100 / Rounds; // nanoseconds of one hundredth in one round
        long begin = CpuNow(), due = begin;
        for (int i = 0; i < Rounds; i++)
        {
            // A turn ends when its share of CPU time is used up, counted from the end of the turn
            // before.
            long at = CpuNow();
            if (alpha > 0) Alpha(due = Math.Max(at, due) + (long)(alpha * unit));
            if (beta > 0) Beta(due = Math.Max(CpuNow(), due) + (long)(beta * unit));
            if (native > 0) NativeBurn((long)(native * unit));
            due = CpuNow();
        }
        long own = CpuNow() - begin;
        if (litter > 0)
        {
            TimeSpan before = GC.GetTotalPauseDuration();
            Litter(CpuNow() + (long)(litter * 1e9));
            double pauses = (GC.GetTotalPauseDuration() - before).TotalSeconds;
            Console.WriteLine($"shares: collections: {pauses:F3} s of pauses in {litter:F3} s");
            own = CpuNow() - begin;
        }
        if (churn > 0)
        {
            other.Join();
            Console.WriteLine($"shares: short threads: {100.0 * used / (used + own):F1} % of {(used + own) / 1e9:F2} s");
        }
        Console.WriteLine($"shares: .NET {Environment.Version}: {own / 1e9:F2} s of CPU");
        return 0;
    }
}
