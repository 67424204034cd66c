// SPDX-License-Identifier: MIT
using System;
using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics;

namespace Vectors;

/// <summary>Vectors that are alive at a tail call, where the tailcall hook runs.</summary>
internal static class Tails
{
    /* NoInlining is not used, because such methods make no tail calls; hooks prevent inlining
     * here. */
    private const MethodImplOptions Optimized = MethodImplOptions.AggressiveOptimization;

    private static long Lane(int seed, int lane) => seed * 1000L + lane * 37 + 11;

    private static Vector128<long> Make(int seed) => Vector128.Create(Lane(seed, 0), Lane(seed, 1));

    private static Vector256<long> MakeWide(int seed) =>
        Vector256.Create(Lane(seed, 0), Lane(seed, 1), Lane(seed, 2), Lane(seed, 3));

    [MethodImpl(Optimized)]
    private static long End(Vector128<long> v) => v.GetElement(0) + v.GetElement(1) * 2;

    [MethodImpl(Optimized)]
    private static long Even(Vector128<long> a, Vector128<long> b, int n) => n == 0 ? End(a + b) : Odd(b, a + b, n - 1);

    [MethodImpl(Optimized)]
    private static long Odd(Vector128<long> a, Vector128<long> b, int n) => n == 0 ? End(a + b) : Even(b, a + b, n - 1);

    public static long Two(int seed, int n) => Even(Make(seed), Make(seed + 1), n);

    [MethodImpl(Optimized)]
    private static long EndWide(Vector256<long> v) =>
        v.GetElement(0) + v.GetElement(1) * 2 + v.GetElement(2) * 3 + v.GetElement(3) * 4;

    [MethodImpl(Optimized)]
    private static long EvenWide(Vector256<long> a, Vector256<long> b, int n) =>
        n == 0 ? EndWide(a + b) : OddWide(b, a + b, n - 1);

    [MethodImpl(Optimized)]
    private static long OddWide(Vector256<long> a, Vector256<long> b, int n) =>
        n == 0 ? EndWide(a + b) : EvenWide(b, a + b, n - 1);

    public static long Wide(int seed, int n) => EvenWide(MakeWide(seed), MakeWide(seed + 1), n);

    private struct Pair
    {
        public Vector128<long> A, B;
    }

    [MethodImpl(Optimized)]
    private static long EndStored(ref Pair p) => End(p.A + p.B);

    [MethodImpl(Optimized)]
    private static long Step(ref Pair p, int n)
    {
        Vector128<long> sum = p.A + p.B;
        p.A = p.B;
        p.B = sum;
        return n == 1 ? EndStored(ref p) : Next(ref p, n - 1);
    }

    [MethodImpl(Optimized)]
    private static long Next(ref Pair p, int n) => Step(ref p, n);

    public static long Stored(int seed, int n)
    {
        Pair p = new() { A = Make(seed), B = Make(seed + 1) };
        return Step(ref p, n);
    }

    [MethodImpl(Optimized)]
    private static Vector128<long> Turned(Vector128<long> v) => Vector128.Create(v.GetElement(1), v.GetElement(0));

    /// <summary>The sum is computed before the hook and passed on after it.</summary>
    [MethodImpl(Optimized)]
    private static Vector128<long> Added(Vector128<long> a, Vector128<long> b) => Turned(a + b);

    public static long Passed(int seed) => End(Added(Make(seed), Make(seed + 1)));

    [MethodImpl(Optimized)]
    private static Vector256<long> TurnedWide(Vector256<long> v) => Vector256.Create(v.GetUpper(), v.GetLower());

    [MethodImpl(Optimized)]
    private static Vector256<long> AddedWide(Vector256<long> a, Vector256<long> b) => TurnedWide(a + b);

    public static long PassedWide(int seed) => EndWide(AddedWide(MakeWide(seed), MakeWide(seed + 1)));

    private struct Block
    {
        public long A, B, C, D, E, F, G, H;
    }

    [MethodImpl(Optimized)]
    private static long EndCopied(Block b) =>
        b.A + b.B * 2 + b.C * 3 + b.D * 4 + b.E * 5 + b.F * 6 + b.G * 7 + b.H * 8;

    [MethodImpl(Optimized)]
    private static long Copy(Block b, ref Block from)
    {
        Block copy = from;
        return EndCopied(copy);
    }

    public static long Copied(int seed)
    {
        Block from = new()
        {
            A = Lane(seed, 0), B = Lane(seed, 1), C = Lane(seed, 2), D = Lane(seed, 3),
            E = Lane(seed, 4), F = Lane(seed, 5), G = Lane(seed, 6), H = Lane(seed, 7),
        };
        return Copy(default, ref from);
    }
}
