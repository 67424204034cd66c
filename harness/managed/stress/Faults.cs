// SPDX-License-Identifier: MIT
using System;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Stress;

/// <summary>Exceptions that begin as a processor fault: SIGSEGV and SIGFPE.</summary>
internal static class Faults
{
    public const int Threads = 3;

    private const int Depth = 20;

    private sealed class Node
    {
        public readonly int Value = 1;

        [MethodImpl(MethodImplOptions.NoInlining)]
        public int Get() => Value;
    }

    /// <summary>Returns how many of n attempts ended with the expected exception.</summary>
    public static int NullReferences(int n)
    {
        int caught = 0;
        for (int i = 0; i < n; i++)
        {
            caught += (i % 5) switch
            {
                0 => Plain(),
                1 => Call(),
                2 => Deep(Depth),
                3 => InFinallyInCatch(),
                _ => OnPool(),
            };
        }
        return caught;
    }

    public static int DivisionsByZero(int n)
    {
        int caught = 0;
        for (int i = 0; i < n; i++)
        {
            try
            {
                _ = (i & 1) == 0 ? Divide(i + 1, 0) : Remainder(i + 1L, 0L);
            }
            catch (DivideByZeroException)
            {
                caught++;
            }
        }
        return caught;
    }

    private static int Plain()
    {
        try
        {
            return Read(null);
        }
        catch (NullReferenceException)
        {
            return 1;
        }
    }

    private static int Call()
    {
        try
        {
            return CallOn(null);
        }
        catch (NullReferenceException)
        {
            return 1;
        }
    }

    /// <summary>A fault many frames away from its catch block, with a finally block in each
    /// frame.</summary>
    private static int Deep(int depth)
    {
        int unwound = 0;
        try
        {
            return Descend(depth, ref unwound);
        }
        catch (NullReferenceException)
        {
            return unwound == depth ? 1 : 0;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int Descend(int depth, ref int unwound)
    {
        if (depth == 0)
            return Read(null);
        try
        {
            return Descend(depth - 1, ref unwound) + 1;
        }
        finally
        {
            unwound++;
        }
    }

    /// <summary>A fault while another exception is being handled.</summary>
    private static int InFinallyInCatch()
    {
        int caught = 0;
        try
        {
            throw new InvalidOperationException();
        }
        catch (InvalidOperationException)
        {
            try
            {
                GC.KeepAlive(caught);
            }
            finally
            {
                caught = Plain();
            }
        }
        return caught;
    }

    private static int OnPool()
    {
        int caught = 0;
        using var done = new ManualResetEventSlim();
        ThreadPool.UnsafeQueueUserWorkItem(_ =>
        {
            caught = Plain();
            done.Set();
        }, null);
        done.Wait();
        return caught;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int Read(Node? node) => node!.Value;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int CallOn(Node? node) => node!.Get();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static long Divide(int a, int b) => a / b;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static long Remainder(long a, long b) => a % b;
}
