// SPDX-License-Identifier: MIT
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics;

namespace Vectors;

/// <summary>Vectors as arguments and results of calls that are not inlined.</summary>
internal static class Passed
{
    private static long Lane(int seed, int lane) => seed * 1000L + lane * 37 + 11;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static Vector128<long> Make(int seed) => Vector128.Create(Lane(seed, 0), Lane(seed, 1));

    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
    private static Vector128<long> Add(Vector128<long> a, Vector128<long> b) => a + b;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static long Sum(Vector128<long> v) => v.GetElement(0) + v.GetElement(1) * 2;

    public static long Two(int seed) => Sum(Add(Make(seed), Make(seed + 1)));

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static T Same<T, TMark>(T value) => value;

    public static long Generic<TMark>(int seed) =>
        Sum(Add(Same<Vector128<long>, TMark>(Make(seed)), Same<Vector128<long>, TMark>(Make(seed + 1))));

    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
    private static long Blend(double d, Vector128<long> a, float f, Vector128<long> b, long n) =>
        Sum(a + b) + (long)d + (long)f + n;

    public static long Mixed(int seed) => Blend(seed, Make(seed), seed, Make(seed + 1), seed + 5);

    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
    private static Vector4 Twice(Vector4 v, Vector2 half) => v + new Vector4(half, half.X + 2, half.Y + 2);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static float Dot(Vector4 v, Vector4 weights) => Vector4.Dot(v, weights);

    public static long Numerics(int seed)
    {
        Vector4 v = Twice(new Vector4(seed, seed + 1, seed + 2, seed + 3), new Vector2(seed, seed + 1));
        return (long)Dot(v, new Vector4(1, 2, 3, 4)) + seed;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static Vector256<long> MakeWide(int seed) =>
        Vector256.Create(Lane(seed, 0), Lane(seed, 1), Lane(seed, 2), Lane(seed, 3));

    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
    private static Vector256<long> AddWide(Vector256<long> a, Vector256<long> b) => a + b;

    public static long Wide(int seed)
    {
        Vector256<long> v = AddWide(MakeWide(seed), MakeWide(seed + 1));
        return Sum(v.GetLower()) + v.GetElement(2) * 3 + v.GetElement(3) * 4;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static Vector512<long> MakeWidest(int seed) =>
        Vector512.Create(MakeWide(seed), Vector256.Create(Lane(seed, 4), Lane(seed, 5), Lane(seed, 6), Lane(seed, 7)));

    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
    private static Vector512<long> AddWidest(Vector512<long> a, Vector512<long> b) => a + b;

    public static long Widest(int seed)
    {
        Vector512<long> v = AddWidest(MakeWidest(seed), MakeWidest(seed + 1));
        long sum = 0;
        for (int i = 0; i < 8; i++)
            sum += v.GetElement(i) * (i + 1);
        return sum;
    }
}
