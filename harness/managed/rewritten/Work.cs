// SPDX-License-Identifier: MIT
using System.Runtime.CompilerServices;

namespace Rewritten;

/// <summary>Methods that profilers rewrite. Each returns its argument.</summary>
internal static class Work
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Value(int n) => n;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Other(int n) => n;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Generic<T>(int n) => n;

    /// <summary>Is inlined into <see cref="Outer"/>.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int Inner(int n) => n;

    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
    public static int Outer(int n) => Inner(n);
}
