// SPDX-License-Identifier: MIT
namespace Vectors;

/// <summary>The computations of Passed and Tails with integers only.</summary>
internal static class Plain
{
    private static long Lane(int seed, int lane) => seed * 1000L + lane * 37 + 11;

    private static long Both(int seed, int lane) => Lane(seed, lane) + Lane(seed + 1, lane);

    private static long Lanes(int seed, int n)
    {
        long sum = 0;
        for (int i = 0; i < n; i++)
            sum += Lane(seed, i) * (i + 1);
        return sum;
    }

    public static long Turned(int seed) => Both(seed, 1) + Both(seed, 0) * 2;
    public static long TurnedWide(int seed) => Both(seed, 2) + Both(seed, 3) * 2 + Both(seed, 0) * 3 + Both(seed, 1) * 4;
    public static long Passed(int seed) => Lanes(seed, 2) + Lanes(seed + 1, 2);
    public static long Wide(int seed) => Lanes(seed, 4) + Lanes(seed + 1, 4);
    public static long Widest(int seed) => Lanes(seed, 8) + Lanes(seed + 1, 8);
    public static long Mixed(int seed) => Passed(seed) + seed * 3L + 5;

    public static long Numerics(int seed) => 2L * (seed + (seed + 1) * 2 + (seed + 2) * 3 + (seed + 3) * 4) + seed;

    public static long Tail(int seed, int n)
    {
        long a0 = Lane(seed, 0), a1 = Lane(seed, 1), b0 = Lane(seed + 1, 0), b1 = Lane(seed + 1, 1);
        for (; n > 0; n--)
            (a0, a1, b0, b1) = (b0, b1, a0 + b0, a1 + b1);
        return a0 + a1 * 2 + b0 + b1 * 2;
    }

    public static long WideTail(int seed, int n)
    {
        long[] a = new long[4], b = new long[4];
        for (int i = 0; i < 4; i++)
            (a[i], b[i]) = (Lane(seed, i), Lane(seed + 1, i));
        for (; n > 0; n--)
        {
            for (int i = 0; i < 4; i++)
                (a[i], b[i]) = (b[i], a[i] + b[i]);
        }
        long sum = 0;
        for (int i = 0; i < 4; i++)
            sum += (a[i] + b[i]) * (i + 1);
        return sum;
    }

    public static long Copied(int seed)
    {
        long sum = 0;
        for (int i = 0; i < 8; i++)
            sum += Lane(seed, i) * (i + 1);
        return sum;
    }
}
