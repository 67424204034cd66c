// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Calls;

/// <summary>Methods whose calls a profiler with hooks cannot count, or only in part.</summary>
internal static class Unseen
{
    public static readonly Dictionary<string, long> Counts = new();

    private abstract class Shape
    {
        public abstract int Sides();
    }

    private sealed class Triangle : Shape
    {
        public override int Sides() => 3;
    }

    private delegate int Twice(int n);

    private static class Untouched<T>
    {
        public static T Same(T value) => value;
    }

    public static int NeverCalled() => 1;

    public static T NeverMade<T>(T value) => value;

    public static T Made<T>(T value) => value;

    [DllImport("libc", EntryPoint = "strlen")]
    private static extern nint Length([MarshalAs(UnmanagedType.LPUTF8Str)] string text);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static int Small(int n) => n + 1;

    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    private static long Loop(int n)
    {
        long sum = 0;
        for (int i = 0; i < n; i++)
            sum += Small(i);
        return sum;
    }

    private static Func<int, int> MakeDynamic()
    {
        var method = new DynamicMethod("UnseenDynamic", typeof(int), new[] { typeof(int) });
        ILGenerator il = method.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldc_I4_1);
        il.Emit(OpCodes.Add);
        il.Emit(OpCodes.Ret);
        return method.CreateDelegate<Func<int, int>>();
    }

    public static void Run(int n)
    {
        Shape shape = new Triangle();
        Twice twice = x => 2 * x;
        Func<int, int> made = MakeDynamic();
        long sum = Loop(n);
        for (int i = 0; i < n; i++)
            sum += shape.Sides() + twice(1) + made(0) + Made(1) - 7;
        if (sum != (long)n * (n + 1) / 2 || Length("seven..") != 7)
            throw new InvalidOperationException("wrong sum");
        foreach ((string name, long count) in new[] { ("Small", (long)n), ("Loop", 1), ("Made", n),
            ("MakeDynamic", 1), ("Run", 1) })
            Counts["Calls.Unseen." + name] = count;
        Counts["Calls.Unseen+Triangle.Sides"] = n;
    }
}
