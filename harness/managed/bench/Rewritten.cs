// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

namespace Bench;

/// <summary>
/// Measures the time of one call of methods that are all alike. An instrumentation file may
/// instrument some of them; others have the same instrumentation written by hand. The names of the
/// types are the names of the results.
/// </summary>
internal static unsafe class Rewritten
{
    private const int Batches = 15, Turns = 10_000, WarmUp = 2, Marker = 4096;

    /// <summary>A method of one instruction, and one that computes for some nanoseconds.</summary>
    private interface IPair
    {
        static abstract long Small(int n, long x);
        static abstract long Works(int n, long x);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static long Compute(int n, long x)
    {
        for (int i = 0; i < 6; i++)
            x = (x ^ n) * 0x9e3779b1;
        return x;
    }

    private const MethodImplOptions Own = MethodImplOptions.NoInlining;

    // ---- methods that rules may instrument
    // -------------------------------------------------------
    private struct Untouched : IPair
    {
        [MethodImpl(Own)] public static long Small(int n, long x) => n + x;
        [MethodImpl(Own)] public static long Works(int n, long x) => Compute(n, x);
    }

    private struct Count : IPair
    {
        [MethodImpl(Own)] public static long Small(int n, long x) => n + x;
        [MethodImpl(Own)] public static long Works(int n, long x) => Compute(n, x);
    }

    private struct Time : IPair
    {
        [MethodImpl(Own)] public static long Small(int n, long x) => n + x;
        [MethodImpl(Own)] public static long Works(int n, long x) => Compute(n, x);
    }

    private struct Trace : IPair
    {
        [MethodImpl(Own)] public static long Small(int n, long x) => n + x;
        [MethodImpl(Own)] public static long Works(int n, long x) => Compute(n, x);
    }

    private struct TraceTimes : IPair
    {
        [MethodImpl(Own)] public static long Small(int n, long x) => n + x;
        [MethodImpl(Own)] public static long Works(int n, long x) => Compute(n, x);
    }

    private struct Inject : IPair
    {
        [MethodImpl(Own)] public static long Small(int n, long x) => n + x;
        [MethodImpl(Own)] public static long Works(int n, long x) => Compute(n, x);
    }

    private struct Native : IPair
    {
        [MethodImpl(Own)] public static long Small(int n, long x) => n + x;
        [MethodImpl(Own)] public static long Works(int n, long x) => Compute(n, x);
    }

    private struct NativeNumber : IPair
    {
        [MethodImpl(Own)] public static long Small(int n, long x) => n + x;
        [MethodImpl(Own)] public static long Works(int n, long x) => Compute(n, x);
    }

    private struct NativeFast : IPair
    {
        [MethodImpl(Own)] public static long Small(int n, long x) => n + x;
        [MethodImpl(Own)] public static long Works(int n, long x) => Compute(n, x);
    }

    private struct NativeWrap : IPair
    {
        [MethodImpl(Own)] public static long Small(int n, long x) => n + x;
        [MethodImpl(Own)] public static long Works(int n, long x) => Compute(n, x);
    }

    private struct NativeInside : IPair
    {
        [MethodImpl(Own)] public static long Small(int n, long x) => n + x;
        [MethodImpl(Own)] public static long Works(int n, long x) => Compute(n, x);
    }

    private struct Managed : IPair
    {
        [MethodImpl(Own)] public static long Small(int n, long x) => n + x;
        [MethodImpl(Own)] public static long Works(int n, long x) => Compute(n, x);
    }

    private struct ManagedWrap : IPair
    {
        [MethodImpl(Own)] public static long Small(int n, long x) => n + x;
        [MethodImpl(Own)] public static long Works(int n, long x) => Compute(n, x);
    }

    // ---- instrumented by hand
    // --------------------------------------------------------------------

    private static long hits, ticks;

    private struct HandAdd : IPair
    {
        [MethodImpl(Own)] public static long Small(int n, long x) { hits++; return n + x; }
        [MethodImpl(Own)] public static long Works(int n, long x) { hits++; return Compute(n, x); }
    }

    private struct HandInterlocked : IPair
    {
        [MethodImpl(Own)]
        public static long Small(int n, long x) { Interlocked.Increment(ref hits); return n + x; }
        [MethodImpl(Own)]
        public static long Works(int n, long x) { Interlocked.Increment(ref hits); return Compute(n, x); }
    }

    private struct HandStopwatch : IPair
    {
        [MethodImpl(Own)]
        public static long Small(int n, long x)
        {
            long began = Stopwatch.GetTimestamp();
            long result = n + x;
            ticks += Stopwatch.GetTimestamp() - began;
            return result;
        }

        [MethodImpl(Own)]
        public static long Works(int n, long x)
        {
            long began = Stopwatch.GetTimestamp();
            long result = Compute(n, x);
            ticks += Stopwatch.GetTimestamp() - began;
            return result;
        }
    }

    [DllImport("benchnative", EntryPoint = "bench_nothing")]
    private static extern void Nothing(nint marker);

    [DllImport("benchnative", EntryPoint = "bench_nothing"), SuppressGCTransition]
    private static extern void NothingFast(nint marker);

    private struct HandPinvoke : IPair
    {
        [MethodImpl(Own)] public static long Small(int n, long x) { Nothing(Marker); return n + x; }
        [MethodImpl(Own)] public static long Works(int n, long x) { Nothing(Marker); return Compute(n, x); }
    }

    private struct HandPinvokeFast : IPair
    {
        [MethodImpl(Own)] public static long Small(int n, long x) { NothingFast(Marker); return n + x; }
        [MethodImpl(Own)]
        public static long Works(int n, long x) { NothingFast(Marker); return Compute(n, x); }
    }

    private static readonly nint library = Load();
    private static readonly delegate* unmanaged[Cdecl]<nint, void> nothing =
        (delegate* unmanaged[Cdecl]<nint, void>)NativeLibrary.GetExport(library, "bench_nothing");
    private static readonly delegate* unmanaged[Cdecl, SuppressGCTransition]<nint, void> nothingFast =
        (delegate* unmanaged[Cdecl, SuppressGCTransition]<nint, void>)
        NativeLibrary.GetExport(library, "bench_nothing");

    private static nint Load()
    {
        nint handle = NativeLibrary.Load(Environment.GetEnvironmentVariable("BENCH_NATIVE")
            ?? throw new InvalidOperationException("BENCH_NATIVE names no library"));
        NativeLibrary.SetDllImportResolver(Assembly.GetExecutingAssembly(),
            (name, _, _) => name == "benchnative" ? handle : 0);
        return handle;
    }

    private struct HandCalli : IPair
    {
        [MethodImpl(Own)] public static long Small(int n, long x) { nothing(Marker); return n + x; }
        [MethodImpl(Own)] public static long Works(int n, long x) { nothing(Marker); return Compute(n, x); }
    }

    private struct HandCalliFast : IPair
    {
        [MethodImpl(Own)] public static long Small(int n, long x) { nothingFast(Marker); return n + x; }
        [MethodImpl(Own)]
        public static long Works(int n, long x) { nothingFast(Marker); return Compute(n, x); }
    }

    // In a try block the JIT does not inline the transition frame of a native call (on 64 bits): a
    // stub is called instead.
    private struct HandPinvokeInTry : IPair
    {
        [MethodImpl(Own)]
        public static long Small(int n, long x)
        {
            try { Nothing(Marker); return n + x; }
            catch (InvalidOperationException) { return 0; }
        }

        [MethodImpl(Own)]
        public static long Works(int n, long x)
        {
            try { Nothing(Marker); return Compute(n, x); }
            catch (InvalidOperationException) { return 0; }
        }
    }

    private struct HandCalliInTry : IPair
    {
        [MethodImpl(Own)]
        public static long Small(int n, long x)
        {
            try { nothing(Marker); return n + x; }
            catch (InvalidOperationException) { return 0; }
        }

        [MethodImpl(Own)]
        public static long Works(int n, long x)
        {
            try { nothing(Marker); return Compute(n, x); }
            catch (InvalidOperationException) { return 0; }
        }
    }

    // ---- measuring ------------------------------------------------------------------------------

    private delegate long Loop(int n);

    [MethodImpl(Own)]
    private static long Small<T>(int n) where T : struct, IPair
    {
        long x = 0;
        for (int i = 0; i < n; i++)
            x = T.Small(i, x);
        return x;
    }

    [MethodImpl(Own)]
    private static long Works<T>(int n) where T : struct, IPair
    {
        long x = 0;
        for (int i = 0; i < n; i++)
            x = T.Works(i, x);
        return x;
    }

    private static readonly List<(string Name, Loop Run)> all = [];

    private static void Add<T>() where T : struct, IPair
    {
        all.Add((typeof(T).Name + "_small", Small<T>));
        all.Add((typeof(T).Name + "_works", Works<T>));
    }

    private static void AddAll()
    {
        Add<Untouched>();
        Add<Count>();
        Add<Time>();
        Add<Trace>();
        Add<TraceTimes>();
        Add<Inject>();
        Add<Native>();
        Add<NativeNumber>();
        Add<NativeFast>();
        Add<NativeWrap>();
        Add<NativeInside>();
        Add<Managed>();
        Add<ManagedWrap>();
        Add<HandAdd>();
        Add<HandInterlocked>();
        Add<HandStopwatch>();
        Add<HandPinvoke>();
        Add<HandPinvokeFast>();
        Add<HandPinvokeInTry>();
        Add<HandCalli>();
        Add<HandCalliFast>();
        Add<HandCalliInTry>();
    }

    /// <summary>Returns for every method the median over the batches of all threads, which run
    /// concurrently, in ns per call.</summary>
    public static IEnumerable<(string, double)> Measure(int threads)
    {
        AddAll();
        var times = new double[all.Count][];
        for (int i = 0; i < times.Length; i++)
            times[i] = new double[threads * Batches];
        using var start = new Barrier(threads);
        var workers = new Thread[threads];
        for (int i = 0; i < threads; i++)
        {
            int at = i * Batches;
            workers[i] = new Thread(() => Run(start, times, at));
            workers[i].Start();
        }
        foreach (Thread worker in workers)
            worker.Join();
        for (int i = 0; i < times.Length; i++)
        {
            Array.Sort(times[i]);
            yield return (all[i].Name, times[i][times[i].Length / 2]);
        }
    }

    /// <summary>Measures the methods alternately, so that a slow phase of the machine affects all
    /// of them.</summary>
    private static void Run(Barrier start, double[][] times, int at)
    {
        for (int i = 0; i < WarmUp; i++)
            foreach ((_, Loop run) in all)
                _ = run(Turns);
        start.SignalAndWait();
        for (int batch = 0; batch < Batches; batch++)
        {
            for (int i = 0; i < all.Count; i++)
            {
                Loop run = all[i].Run;
                double began = Calls.ThreadNow();
                _ = run(Turns);
                times[i][at + batch] = (Calls.ThreadNow() - began) / Turns;
            }
        }
    }
}

/// <summary>Helper methods that rules call; they do nothing.</summary>
public static class Helper
{
    public static void Nothing()
    {
    }

    public static object? Start() => null;

    public static void Finish(object? state, object? result, object? exception)
    {
    }
}
