// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;

namespace Kinds;

/// <summary>Methods whose bodies the compiler generates or transforms.</summary>
internal static class Bodies
{
    public static Func<int, int> Lambda() => n => n + 1;

    public static Func<int, int> Closure(int by) => n => n + by;

    public static Delegate Local(int n, out int result)
    {
        result = Inner(n);
        return (Func<int, int>)Inner;

        static int Inner(int n) => n < 1 ? 0 : 1 + Inner(n - 1);
    }

    public static async IAsyncEnumerable<int> Stream(int n)
    {
        for (int i = 0; i < n; i++)
        {
            await Task.Yield();
            yield return i;
        }
    }

    public static async ValueTask<int> Value(int n)
    {
        if (n < 0)
            await Task.Yield();
        return n;
    }

    public static async ValueTask<int> Waits(int n)
    {
        await Task.Yield();
        return n;
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public static async ValueTask<int> Pooled(int n)
    {
        await Task.Yield();
        return n;
    }

    public static int Disposed;

    public static IEnumerable<int> Items(int n)
    {
        try
        {
            for (int i = 0; i < n; i++)
                yield return i;
        }
        finally
        {
            Disposed++;
        }
    }

    public static bool Fits(Exception e, int n) => e.Message == "odd" && n > 0;

    public static int Filtered(int n)
    {
        try
        {
            try
            {
                throw new InvalidOperationException(n % 2 == 0 ? "even" : "odd");
            }
            catch (InvalidOperationException e) when (Fits(e, n))
            {
                return 1;
            }
            finally
            {
                n++;
            }
        }
        catch (InvalidOperationException e) when (e.Message == "even")
        {
            return 2;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static unsafe int Stack(int n)
    {
        int* items = stackalloc int[n];
        Span<byte> more = stackalloc byte[n * 4];
        for (int i = 0; i < n; i++)
            items[i] = more[i] + i;
        return items[n - 1];
    }

    [SkipLocalsInit]
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static unsafe int Pinned(int[] items)
    {
        fixed (int* at = items)
            return at[0];
    }

    [UnmanagedCallersOnly]
    public static int Native(int n) => n + 1;

    [UnmanagedCallersOnly(CallConvs = new[] { typeof(CallConvCdecl) })]
    public static int NativeCdecl(int n) => n + 2;

    public static int Pointed(int n) => n + 3;

    [MethodImpl(MethodImplOptions.Synchronized)]
    public static int Synchronized(int n) => n + 1;

    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    public static int Optimized(int n) => n + 1;

    [MethodImpl(MethodImplOptions.NoOptimization)]
    public static int Unoptimized(int n) => n + 1;

    public static int Switch(string text) => text switch
    {
        "a" => 1,
        "b" => 2,
        _ => throw new ArgumentException(text),
    };

    public static ref int Ref(ref int n) => ref n;

    public static T Constrained<T>(T value) where T : IComparable<T> => value.CompareTo(value) == 0 ? value : default!;

    public static int Locked(object on, int n)
    {
        lock (on)
            return n + 1;
    }
}
