// SPDX-License-Identifier: MIT
using System;
using System.Runtime.CompilerServices;

namespace Profiled;

/// <summary>Ten exceptions: seven are caught by their caller, three pass a finally block and a filter.</summary>
internal static class Faults
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void All()
    {
        for (int i = 0; i < 7; i++)
            try { Throw(); } catch (InvalidOperationException) { Counts.Sum++; }
        for (int i = 0; i < 3; i++)
            try { Through(); } catch (InvalidOperationException) when (IsKnown()) { }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Throw() => throw new InvalidOperationException("known");

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Through()
    {
        try { Throw(); } finally { Counts.Sum++; }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static bool IsKnown() => true;
}
