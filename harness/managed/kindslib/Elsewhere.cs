// SPDX-License-Identifier: MIT
using System.Runtime.CompilerServices;

namespace KindsLib;

/// <summary>Another assembly's methods: to be inlined across its border, and to be loaded from bytes.</summary>
public static class Elsewhere
{
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int Inlined(int n) => n + 2;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Called(int n) => Inlined(n) + 1;

    /// <summary>Called by none but a copy of this assembly that was loaded from bytes.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int FromBytes(int n) => n + 4;
}
