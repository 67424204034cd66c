// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

namespace Bench;

/// <summary>
/// Fixed amounts of work that take seconds. Measures the times of the whole process after the
/// warm-up, including the threads of the runtime and of a profiler.
/// </summary>
internal static class Load
{
    private const int WarmUp = 10; // n / 10 units are done before the clocks are read

    private static int sink;

    [StructLayout(LayoutKind.Sequential)]
    private unsafe struct Usage
    {
        public long UserSeconds, UserMicroseconds, SystemSeconds, SystemMicroseconds;
        public fixed long Others[14];
    }

    [DllImport("libc")]
    private static extern int getrusage(int who, out Usage usage);

    /// <summary>Times in ms: CPU in user code, CPU in the kernel, wall.</summary>
    internal readonly record struct Times(double User, double System, double Wall)
    {
        public static Times Now()
        {
            _ = getrusage(0, out Usage used);
            return new Times(used.UserSeconds * 1e3 + used.UserMicroseconds / 1e3,
                used.SystemSeconds * 1e3 + used.SystemMicroseconds / 1e3,
                Stopwatch.GetElapsedTime(0).TotalMilliseconds);
        }

        public static Times operator -(Times a, Times b) =>
            new(a.User - b.User, a.System - b.System, a.Wall - b.Wall);
    }

    public static Times Compute(int n) => Measure(new Computing().Unit, n);

    public static Times Allocate(int n) => Measure(new Allocating().Unit, n);

    public static Times Sleep(int milliseconds) => 
        Measure(ms => Thread.Sleep(ms), milliseconds, WarmUp);

    /// <summary>Computes for a second with this many frames on the stack.</summary>
    public static Times Deep(int frames) => Measure(ms => sink += Down(frames, ms), 1000, WarmUp);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int Down(int frames, int milliseconds) =>
        1 + (frames > 1 ? Down(frames - 1, milliseconds) : Spin(milliseconds));

    private static int Spin(int milliseconds)
    {
        var watch = Stopwatch.StartNew();
        int x = 1;
        while (watch.ElapsedMilliseconds < milliseconds)
        {
            for (int i = 0; i < 10_000; i++)
                x = x * 31 + i;
        }
        return x;
    }

    private static Times Measure(Func<int, int> unit, int n) =>
        Measure(rounds =>
        {
            for (int i = 0; i < rounds; i++)
                sink += unit(i);
        }, n, WarmUp);

    private static Times Measure(Action<int> work, int n, int warmUp)
    {
        work(n / warmUp);
        Thread.Sleep(100); // the runtime recompiles methods in the background
        work(n / warmUp);
        Times start = Times.Now();
        work(n);
        return Times.Now() - start;
    }

    /// <summary>Sorts, looks up, calls through interfaces, multiplies; does not allocate.</summary>
    private sealed class Computing
    {
        private const int Size = 4096, Side = 40;

        private readonly int[] numbers = new int[Size];
        private readonly Dictionary<int, int> places = new(Size);
        private readonly double[] a = new double[Side * Side], b = new double[Side * Side];
        private readonly INode tree = Tree(10, 1);

        private interface INode
        {
            int Sum(int factor);
        }

        private sealed class Leaf(int value) : INode
        {
            public int Sum(int factor) => value * factor;
        }

        private sealed class Inner(INode left, INode right) : INode
        {
            public int Sum(int factor) => left.Sum(factor) + right.Sum(factor + 1);
        }

        private static INode Tree(int depth, int value) => depth == 0
            ? new Leaf(value)
            : new Inner(Tree(depth - 1, 2 * value), Tree(depth - 1, 2 * value + 1));

        public int Unit(int seed)
        {
            uint x = (uint)seed * 2654435761u + 1;
            for (int i = 0; i < Size; i++)
            {
                x = x * 1664525 + 1013904223;
                numbers[i] = (int)(x >> 8);
            }
            Array.Sort(numbers, (p, q) => p.CompareTo(q));
            places.Clear();
            foreach (int number in numbers)
                places[number] = seed;
            int found = 0;
            foreach (int number in numbers)
                found += places.ContainsKey(number + 1) ? 1 : 0;
            for (int i = 0; i < 8; i++)
                found += tree.Sum(seed + i);
            return found + Multiply(seed);
        }

        private int Multiply(int seed)
        {
            a[0] = seed;
            for (int i = 0; i < Side; i++)
            {
                for (int j = 0; j < Side; j++)
                {
                    double sum = 0;
                    for (int k = 0; k < Side; k++)
                        sum += a[i * Side + k] * a[k * Side + j];
                    b[i * Side + j] = sum;
                }
            }
            return (int)b[Side] & 1;
        }
    }

    /// <summary>Allocates trees with a short life, strings, and a few objects with a longer
    /// life.</summary>
    private sealed class Allocating
    {
        private readonly Tree?[] kept = new Tree?[64];
        private readonly List<string> words = [];

        private sealed class Tree(Tree? left, Tree? right)
        {
            public static Tree Make(int depth) =>
                depth == 0 ? new Tree(null, null) : new Tree(Make(depth - 1), Make(depth - 1));

            public int Count() => left == null ? 1 : 1 + left.Count() + right!.Count();
        }

        public int Unit(int seed)
        {
            int count = 0;
            for (int i = 0; i < 4; i++)
                count += Tree.Make(10).Count();
            kept[seed % kept.Length] = Tree.Make(8);
            words.Clear();
            for (int i = 0; i < 500; i++)
                words.Add("word " + (seed + i));
            return count + string.Join(' ', words).Length;
        }
    }
}
