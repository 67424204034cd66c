// SPDX-License-Identifier: MIT
using System.Runtime.CompilerServices;

namespace KindsLib;

/// <summary>Methods of another assembly, to be inlined into a different assembly, or loaded from
/// bytes.</summary>
public static class Elsewhere
{
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int Inlined(int n) => n + 2;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Called(int n) => Inlined(n) + 1;

    /// <summary>Called only in copies of this assembly that were loaded from bytes.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int FromBytes(int n) => n + 4;
}
