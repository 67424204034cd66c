// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Threading;

namespace Calls;

/// <summary>Passes values in every kind of register and on the stack through hooked calls. A lost
/// value makes a sum wrong, which ends the program.</summary>
internal static unsafe class Shapes
{
    public static readonly Dictionary<string, long> Counts = new();

    private struct Small { public int A, B; }
    private struct Two { public long A, B; }
    private struct Mixed { public double A; public long B; }
    private struct Doubles { public double A, B; }
    private struct Big { public long A, B, C, D, E; }

    private static Small MakeSmall(int n) => new() { A = n, B = n + 1 };
    private static Two MakeTwo(long n) => new() { A = n, B = n * 3 };
    private static Mixed MakeMixed(double x, long n) => new() { A = x, B = n };
    private static Doubles MakeDoubles(double x) => new() { A = x, B = x / 2 };
    private static Big MakeBig(long n) => new() { A = n, B = n + 1, C = n + 2, D = n + 3, E = n + 4 };
    private static Vector128<int> MakeVector128(int n) => Vector128.Create(n, n + 1, n + 2, n + 3);
    private static Vector256<long> MakeVector256(long n) => Vector256.Create(n, n + 1, n + 2, n + 3);
    private static Vector256<long> Add(Vector256<long> a, Vector256<long> b) => a + b;
    private static Span<int> Slice(Span<int> all, int from) => all[from..];
    private static ref int Element(int[] all, int at) => ref all[at];
    private static decimal Money(decimal a, decimal b) => a * b;
    private static string Text(string a, object b) => a + b;
    private static float Single(float a, double b) => a * (float)b;

    private static double Twenty(int a, double b, long c, float d, short e, double f, ulong g, float h, byte i, double j,
        int k, double l, long m, float n, int o, double p, int q, float r, long s, double t) =>
        a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p + q + r + s + t;

    [UnmanagedCallersOnly]
    private static double FromNative(int a, double b, long c, float d) => a + b + c + d;

    private static void Check(bool good, string what)
    {
        if (!good)
            throw new InvalidOperationException("wrong value: " + what);
    }

    private static void Know(string name, long n) =>
        Counts["Calls.Shapes" + name] = Counts.GetValueOrDefault("Calls.Shapes" + name) + n;

    public static void Values(int rounds)
    {
        int[] array = { 1, 2, 3, 4 };
        for (int i = 0; i < rounds; i++)
        {
            Small small = MakeSmall(i);
            Check(small.A + small.B == 2 * i + 1, "small");
            Two two = MakeTwo(i);
            Check(two.A + two.B == 4 * i, "two integers");
            Mixed mixed = MakeMixed(i + 0.5, i);
            Check(mixed.A + mixed.B == 2 * i + 0.5, "a float and an integer");
            Doubles doubles = MakeDoubles(i * 2);
            Check(doubles.A + doubles.B == 3 * i, "two floats");
            Big big = MakeBig(i);
            Check(big.A + big.B + big.C + big.D + big.E == 5 * i + 10, "a hidden buffer");
            Check(Vector128.Sum(MakeVector128(i)) == 4 * i + 6, "128 bits");
            Check(Vector256.Sum(Add(MakeVector256(i), MakeVector256(2 * i))) == 12 * i + 12, "256 bits");
            Check(Slice(array, 1)[2] == 4, "a span");
            Element(array, 0) = i;
            Check(array[0] == i, "a reference");
            Check(Money(i, 0.5m) == i * 0.5m, "decimal");
            Check(Text("a", i & 7).Length == 2, "objects");
            Check(Single(2f, i) == 2f * i, "single");
            Check(Twenty(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20 + i) == 210 + i, "twenty");
            Check(((delegate* unmanaged<int, double, long, float, double>)&FromNative)(i, 0.5, 2, 0.25f) == i + 2.75,
                "from native");
        }
        foreach (string name in new[] { "MakeSmall", "MakeTwo", "MakeMixed", "MakeDoubles", "MakeBig", "MakeVector128",
            "Add", "Slice", "Element", "Money", "Text", "Single", "Twenty", "FromNative" })
            Know("." + name, rounds);
        Know(".MakeVector256", 2 * rounds);
        Know(".Check", 14 * rounds);
        Know(".Values", 1);
    }

    /// <summary>A long loop whose code is replaced while it runs: the method is entered in one body
    /// of code and left in another.</summary>
    public static long Long(int n)
    {
        long sum = 0;
        for (int i = 0; i < n; i++)
            sum += Once(i);
        return sum;
    }

    private static int Once(int i) => i & 1;

    private static class Initialized
    {
        public static readonly int Value = Start();
        static Initialized() { }
        private static int Start() => 7;
    }

    private static long Deep(int n, long a, long b)
    {
        Span<byte> much = stackalloc byte[256];
        much[n & 255] = 1;
        return n == 0 ? a : Deep(n - 1, a + b, b) + much[n & 255] - 1;
    }

    private sealed class Finalized
    {
        public static int Count;
        ~Finalized() => Interlocked.Increment(ref Count);
    }

    private static void Litter(int n)
    {
        for (int i = 0; i < n; i++)
            _ = new Finalized();
    }

    private interface IArea { long Area(); }
    private sealed class Square : IArea { public long Area() => 4; }
    private struct Point : IArea { public readonly long Area() => 0; }

    private static long Areas<T>(T[] all) where T : IArea => all.Sum(a => a.Area());

    public static void Kinds(int n)
    {
        Check(Long(100 * n) == 50L * n, "a loop");
        Know(".Long", 1);
        Know(".Once", 100 * n);
        Check(Initialized.Value == 7, "a static field");
        Know("+Initialized..cctor", 1);
        Know("+Initialized.Start", 1);
        Check(Deep(5000, 0, 2) == 10000, "recursion");
        Know(".Deep", 5001);
        Litter(n);
        for (int i = 0; i < 100 && Volatile.Read(ref Finalized.Count) < n; i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
        Know(".Litter", 1);
        Know("+Finalized.Finalize", Finalized.Count);
        Check(Areas(new IArea[] { new Square(), new Square() }) + Areas(new Point[n]) == 8, "interfaces");
        Know(".Areas", 2);
        Know("+Square.Area", 2);
        Know("+Point.Area", n);
        Func<int, int> twice = x => 2 * x;
        int sum = 0;
        for (int i = 0; i < n; i++)
            sum += twice(i);
        Check(sum == n * (n - 1), "a lambda");
        Know(".Check", 5);
        Know(".Kinds", 1);
    }
}
