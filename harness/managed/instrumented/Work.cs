// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading.Tasks;

namespace Instrumented;

/// <summary>Methods of every kind that tests put new IL into.</summary>
internal class Work
{
    private int sum;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Static(int n) => n + 1;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public int Instance(int n) => sum += n;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Answer() => 42;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static string Text() => "original";

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static long Loop(int n)
    {
        long sum = 0;
        for (int i = 0; i < n; i++)
            sum += i & 3;
        return sum;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static T Generic<T>(T value) => value;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Throws(int n)
    {
        try
        {
            if (n % 3 == 0)
                throw new InvalidOperationException("on request");
            return n;
        }
        finally
        {
            sink++;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Fib(int n) => n < 2 ? n : Fib(n - 1) + Fib(n - 2);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int Small(int n) => n * 2;

    /// <summary>Inlined into CallsTwice, which is fully optimized before new IL for this method is
    /// requested.</summary>
    public static int Twice(int n) => n * 2;

    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
    public static int CallsTwice(int n) => Twice(n) + 1;

    /// <summary>Inlined into Loads, and never compiled separately.</summary>
    public static int Thrice(int n) => n * 3;

    /// <summary>While the runtime compiles this method, it first considers inlining Thrice, then
    /// loads an assembly for the call of Escape, and inlines after that.</summary>
    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
    public static int Loads(int n)
    {
        n = Thrice(n);
        return System.Text.RegularExpressions.Regex.Escape("x") == "x" ? n : 0;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Void(ref int n)
    {
        if (n > 100)
            return;
        n++;
    }

    public static async Task<int> Async(int n)
    {
        await Task.Yield();
        return n;
    }

    public static IEnumerable<int> Items(int n)
    {
        for (int i = 0; i < n; i++)
            yield return i;
    }

    public struct Pair
    {
        public string Text;
        public int N;
    }

    /// <summary>All arguments contain the same number. Changes the argument that is passed by
    /// reference.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static T Told<T>(int n, string text, Pair pair, T value, ref string by, out Pair made)
    {
        made = new Pair { Text = "m" + n, N = n };
        by = "b" + n;
        if (n % 10 == 9)
            throw new InvalidOperationException("e" + n);
        return value;
    }

    private static int sink;

    /// <summary>A generic class within a class.</summary>
    public class Nested<T>
    {
        private readonly T value;

        public Nested(T value) => this.value = value;

        public T Value
        {
            [MethodImpl(MethodImplOptions.NoInlining)]
            get => value;
        }
    }
}
