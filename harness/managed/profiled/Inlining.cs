// SPDX-License-Identifier: MIT
using System.Runtime.CompilerServices;

namespace Profiled;

/// <summary>A caller whose three callees the JIT inlines unless a profiler says no.</summary>
internal static class Inlining
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Caller(int n)
    {
        Allowed(n);
        Refused(n);
        Unanswered(n);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void Allowed(int n) => Counts.Sum += n < 0 ? 2 : 1;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void Refused(int n) => Counts.Sum += n < 0 ? 3 : 1;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void Unanswered(int n) => Counts.Sum += n < 0 ? 4 : 1;
}
