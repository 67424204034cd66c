// SPDX-License-Identifier: MIT
using System;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

namespace Guest;

/// <summary>Work with known results. Without the runtime's signals it would not end.</summary>
internal static class Work
{
    private sealed class Node
    {
        public readonly int Value = 1;
    }

    /// <summary>Does all kinds of work, n times; returns the number of wrong results.</summary>
    public static int All(int rounds)
    {
        int wrong = 0;
        for (int i = 0; i < rounds; i++)
        {
            wrong += Faults(20) == 20 ? 0 : 1;
            wrong += Divisions(5) == 5 ? 0 : 1;
            wrong += Throws(20) == 20 ? 0 : 1;
            wrong += Collect(3) == 3 ? 0 : 1;
            wrong += Threads(3) == 3 ? 0 : 1;
            wrong += Tasks(20) == 20 ? 0 : 1;
            wrong += Compute(1000) == 499500 ? 0 : 1;
        }
        return wrong;
    }

    /// <summary>NullReferenceExceptions: each begins as a SIGSEGV. Returns how many of n were caught.</summary>
    public static int Faults(int n)
    {
        int caught = 0;
        for (int i = 0; i < n; i++)
        {
            try
            {
                caught -= Read(null);
            }
            catch (NullReferenceException)
            {
                caught++;
            }
        }
        return caught;
    }

    /// <summary>Divisions by zero: each begins as a SIGFPE. Returns how many of n were caught.</summary>
    public static int Divisions(int n)
    {
        int caught = 0;
        for (int i = 0; i < n; i++)
        {
            try
            {
                caught -= Divide(i, 0);
            }
            catch (DivideByZeroException)
            {
                caught++;
            }
        }
        return caught;
    }

    /// <summary>Exceptions thrown by a statement, through a finally. Returns how many of n were caught.</summary>
    public static int Throws(int n)
    {
        int caught = 0;
        for (int i = 0; i < n; i++)
        {
            int finished = 0;
            try
            {
                Throw(i, ref finished);
            }
            catch (InvalidOperationException)
            {
                caught += finished;
            }
        }
        return caught;
    }

    /// <summary>
    /// Collections while a thread runs a loop without safepoints. Only the runtime's suspension
    /// signal stops that thread. Returns how many of n collections took place.
    /// </summary>
    public static int Collect(int n)
    {
        int[] state = new int[2]; // 0: the thread runs, 1: it should end
        var thread = new Thread(() => Spin(state));
        thread.Start();
        while (Volatile.Read(ref state[0]) == 0)
            Thread.Yield();
        int done = 0;
        for (int i = 0; i < n; i++)
        {
            int before = GC.CollectionCount(i % 3);
            GC.Collect(i % 3);
            done += GC.CollectionCount(i % 3) > before ? 1 : 0;
        }
        Volatile.Write(ref state[1], 1);
        thread.Join();
        return done;
    }

    /// <summary>Threads that allocate, cause a fault and end. Returns how many of n did.</summary>
    public static int Threads(int n)
    {
        int ended = 0;
        var threads = new Thread[n];
        for (int i = 0; i < n; i++)
        {
            threads[i] = new Thread(() =>
            {
                if (Faults(3) == 3 && new byte[5000].Length == 5000)
                    Interlocked.Increment(ref ended);
            });
            threads[i].Start();
        }
        foreach (Thread thread in threads)
            thread.Join();
        return ended;
    }

    /// <summary>Work items of the thread pool, awaited. Returns how many of n ended.</summary>
    public static int Tasks(int n)
    {
        var tasks = new Task<int>[n];
        for (int i = 0; i < n; i++)
            tasks[i] = Item(i);
        int ended = 0;
        foreach (int result in Task.WhenAll(tasks).GetAwaiter().GetResult())
            ended += result;
        return ended;
    }

    /// <summary>The sum of the numbers below n, by calls that are not inlined.</summary>
    public static int Compute(int n)
    {
        int sum = 0;
        for (int i = 0; i < n; i++)
            sum = Add(sum, i);
        return sum;
    }

    private static async Task<int> Item(int i)
    {
        await Task.Yield();
        return Compute(i) == i * (i - 1) / 2 ? 1 : 0;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int Add(int a, int b) => a + b;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int Read(Node? node) => node!.Value;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int Divide(int a, int b) => a / b;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Throw(int i, ref int finished)
    {
        try
        {
            throw new InvalidOperationException(i.ToString());
        }
        finally
        {
            finished++;
        }
    }

    // Fully optimized from the start: between two reads of `state` there are only arithmetic and a
    // jump.
    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
    private static int Spin(int[] state)
    {
        int x = 1;
        Volatile.Write(ref state[0], 1);
        do
        {
            for (int i = 0; i < 2_000_000; i++)
                x = x * 31 + i;
        }
        while (Volatile.Read(ref state[1]) == 0);
        return x;
    }
}
