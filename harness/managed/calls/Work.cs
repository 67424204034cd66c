// SPDX-License-Identifier: MIT
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Threading.Tasks;

namespace Calls;

/// <summary>Methods whose calls can be counted by formula.</summary>
internal static class Work
{
    public static int Fib(int n) => n < 2 ? n : Fib(n - 1) + Fib(n - 2);

    public static long FibCalls(int n)
    {
        long a = 1, b = 1; // calls of Fib(0), Fib(1)
        for (int i = 1; i < n; i++)
            (a, b) = (b, a + b + 1);
        return n == 0 ? 0 : b;
    }

    public static bool Even(int n) => n == 0 || Odd(n - 1);

    public static bool Odd(int n) => n != 0 && Even(n - 1);

    public static IEnumerable<int> Count(int n)
    {
        if (n == 0)
            yield break;
        for (int i = 0; i < n; i++)
            yield return i;
    }

    /// <summary>Each Task.Yield ends one call of MoveNext and begins another.</summary>
    public static async Task Yields(int n)
    {
        for (int i = 0; i < n; i++)
            await Task.Yield();
    }

    public static int Generic<T>(T value) => value!.GetHashCode() & 1;
}

/// <summary>Calls from runtime to runtime through the bridge.</summary>
internal static class Hop
{
    [UnmanagedCallersOnly]
    public static void Enter(int depth, int max, nint arg) => Arrive(depth - 1, max);

    public static void Arrive(int depth, int max)
    {
        if (depth < max)
            Sxs.Bridge.Hop(depth + 1, max, 0);
    }
}
