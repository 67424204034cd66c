// SPDX-License-Identifier: MIT
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

namespace Bench;

/// <summary>Measures the time of very short calls, on any number of threads.</summary>
internal static class Calls
{
    private const int Batches = 5, Deep = 22, Turns = 30_000, WarmUp = 3;

    [StructLayout(LayoutKind.Sequential)]
    private struct TimeSpec
    {
        public long Seconds, Nanoseconds;
    }

    [DllImport("libc")]
    private static extern int clock_gettime(int clock, out TimeSpec time);

    private static long sink;

    /// <summary>CPU time of the calling thread in ns. Time in which other threads run does not
    /// count.</summary>
    internal static double ThreadNow()
    {
        _ = clock_gettime(3, out TimeSpec now); // CLOCK_THREAD_CPUTIME_ID
        return now.Seconds * 1e9 + now.Nanoseconds;
    }

    /// <summary>A recursive function with two arguments.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static long Fib(int n, long one) => n < 2 ? one : Fib(n - 1, one) + Fib(n - 2, one);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static long Ping(int n, long x) => n + x;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static long Pong(int n, long x) => n ^ x;

    /// <summary>Calls two functions alternately.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static long InTurns(int n)
    {
        long x = 0;
        for (int i = 0; i < n; i++)
            x = Pong(i, Ping(i, x));
        return x;
    }

    private static void RunFib() => sink += Fib(Deep, 1);

    private static void RunTurns() => sink += InTurns(Turns);

    /// <summary>Returns medians over the batches of all threads, which run concurrently, in ns per
    /// call.</summary>
    public static (double Fib, double Turns) Pairs(int threads)
    {
        var fib = new double[threads * Batches];
        var turns = new double[threads * Batches];
        long fibCalls = 2 * Fib(Deep, 1) - 1;
        using var start = new Barrier(threads);
        var all = new Thread[threads];
        for (int i = 0; i < threads; i++)
        {
            int at = i * Batches;
            all[i] = new Thread(() =>
            {
                Measure(start, RunFib, fibCalls, fib.AsSpan(at, Batches));
                Measure(start, RunTurns, 2 * Turns, turns.AsSpan(at, Batches));
            });
            all[i].Start();
        }
        foreach (Thread thread in all)
            thread.Join();
        Array.Sort(fib);
        Array.Sort(turns);
        return (fib[fib.Length / 2], turns[turns.Length / 2]);
    }

    private static void Measure(Barrier start, Action work, long calls, Span<double> times)
    {
        for (int i = 0; i < WarmUp; i++)
            work();
        start.SignalAndWait();
        for (int i = 0; i < Batches; i++)
        {
            double began = ThreadNow();
            work();
            times[i] = (ThreadNow() - began) / calls;
        }
    }

    /// <summary>Makes n million calls, on a few call paths.</summary>
    public static void Millions(int n)
    {
        for (int i = 0; i < n; i++)
            sink += InTurns(500_000);
    }

    /// <summary>Makes n different call paths, 23 calls deep: the bits of a number select the
    /// callees.</summary>
    public static void Paths(int n)
    {
        for (int i = 0; i < n; i++)
            sink += Left((uint)i | 1u << 22);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static long Left(uint bits) => bits < 2 ? 1 : 1 + Next(bits >> 1);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static long Right(uint bits) => bits < 2 ? 2 : 2 + Next(bits >> 1);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static long Next(uint bits) => (bits & 1) != 0 ? Right(bits) : Left(bits);

    /// <summary>Returns the time of an exception that is caught by its caller, in ns.</summary>
    public static double Exceptions(int n)
    {
        for (int i = 0; i < n / 4; i++)
            Catch();
        double began = ThreadNow();
        for (int i = 0; i < n; i++)
            Catch();
        return (ThreadNow() - began) / n;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Throw() => throw new InvalidOperationException("known");

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Catch()
    {
        try
        {
            Throw();
        }
        catch (InvalidOperationException)
        {
            sink++;
        }
    }
}
