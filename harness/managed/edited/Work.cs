// SPDX-License-Identifier: MIT
using System;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

namespace Edited;

/// <summary>Methods that are called repeatedly while their IL is replaced. Each returns n +
/// 1.</summary>
internal static class Work
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Plain(int n) => n + 1;

    /// <summary>Inlined into every caller, until it is instrumented.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int Small(int n) => n + 1;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Generic<T>(T value, int n) => value == null ? 0 : n + 1;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Recursive(int n) => n <= 0 ? n + 1 : Recursive(n - 1) + 1;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Throws(int n)
    {
        try
        {
            if (n % 2 == 0)
                throw new InvalidOperationException("on request");
            return n + 1;
        }
        finally
        {
            Thread.MemoryBarrier();
        }
    }

    /// <summary>Long enough for the runtime to replace its code while it loops.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Loop(int n)
    {
        int sum = 0;
        for (int i = 0; i < 3000; i++)
            sum += i & 1;
        return sum == 1500 ? n + 1 : 0;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Delegated(int n) => n + 1;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Traced(int n) => n + 1;

    /// <summary>Loops for n ms.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Sits(int n)
    {
        var clock = Stopwatch.StartNew();
        while (clock.ElapsedMilliseconds < n)
        {
            Thread.Sleep(1);
            Thread.SpinWait(20);
        }
        return n + 1;
    }

    public static async Task<int> Async(int n)
    {
        await Task.Yield();
        return n + 1;
    }
}

internal interface IShape
{
    int Get(int n);
}

internal abstract class Shape : IShape
{
    public abstract int Get(int n);
}

/// <summary>Called through its base class and through its interface.</summary>
internal sealed class Square : Shape
{
    public override int Get(int n) => n + 1;
}

/// <summary>A class whose method inlines Small(). Each instantiation is compiled at its first call,
/// which may be at any time during an edit.</summary>
internal static class Caller<TA, TB, TC>
{
    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
    public static int Call(int n) => Work.Small(n);
}
