// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;

namespace Hops;

/// <summary>Kinds of managed frames that a hop can go through, with their names in
/// metadata.</summary>
internal static class Shapes
{
    private delegate int Step(int hop, int max, nint order);

    private sealed record Shape(Step Pass, params string[] Frames); // frames youngest first

    private const int DynamicEvery = 5;

    private static readonly Step lambda =
        [MethodImpl(MethodImplOptions.NoInlining)] static (hop, max, order) =>
            Chain.Down(hop, max, order) + 1;

    private static readonly Step dynamicHop = MakeDynamicHop();

    // There are seven, a prime number: unless the number of apps is a multiple of it, each app gets
    // every kind.
    private static readonly Shape[] all =
    [
        new(PassStatic, "Hops.Shapes.PassStatic"),
        new(PassReference, "Hops.Box.Pass", "Hops.Shapes.PassReference"),
        new(PassLambda, $"{lambda.Method.DeclaringType!.FullName}.{lambda.Method.Name}",
            "Hops.Shapes.PassLambda"),
        new(PassInterface, "Hops.Stepper.Hops.IStep.Step", "Hops.Shapes.PassInterface"),
        new(PassNested, "Hops.Outer+Inner.Pass", "Hops.Shapes.PassNested"),
        new(PassValue, "Hops.Box.Pass", "Hops.Shapes.PassValue"),
        new(PassGenericNested, "Hops.Outer+Shelf.Pass", "Hops.Shapes.PassGenericNested"),
    ];

    private static readonly Shape dynamicShape =
        new(PassDynamic, "DynamicHop", "Hops.Shapes.PassDynamic");

    private static Shape Of(int hop) =>
        hop % DynamicEvery == 0 ? dynamicShape : all[(hop - 1) % all.Length];

    public static IEnumerable<string> FramesOf(int hop) => Of(hop).Frames;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Pass(int hop, int max, nint order) => Of(hop).Pass(hop, max, order) + 1;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int PassStatic(int hop, int max, nint order) => Chain.Down(hop, max, order) + 1;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int PassReference(int hop, int max, nint order)
    {
        string trail = "reference";
        var box = new Box<string>(hop, max, order);
        return box.Pass<object>("a value", [hop, max], ref trail) + trail.Length;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int PassValue(int hop, int max, nint order)
    {
        string trail = "value";
        var box = new Box<Guid>(hop, max, order);
        return box.Pass<decimal>(1.5m, [hop, max], ref trail) + trail.Length;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int PassLambda(int hop, int max, nint order) => lambda(hop, max, order) + 1;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int PassInterface(int hop, int max, nint order)
    {
        IStep step = new Stepper();
        return step.Step(hop, max, order) + 1;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int PassNested(int hop, int max, nint order) =>
        new Outer.Inner().Pass(hop, max, order) + 1;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int PassGenericNested(int hop, int max, nint order) =>
        Outer.Shelf<long>.Pass((hop, max), order) + 1;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int PassDynamic(int hop, int max, nint order) => dynamicHop(hop, max, order) + 1;

    private static Step MakeDynamicHop()
    {
        var method = new DynamicMethod("DynamicHop", typeof(int),
            [typeof(int), typeof(int), typeof(nint)], typeof(Chain).Module, skipVisibility: true);
        ILGenerator il = method.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldarg_1);
        il.Emit(OpCodes.Ldarg_2);
        il.Emit(OpCodes.Call, typeof(Chain).GetMethod(nameof(Chain.Down))!);
        il.Emit(OpCodes.Ldc_I4_1);
        il.Emit(OpCodes.Add);
        il.Emit(OpCodes.Ret);
        return method.CreateDelegate<Step>();
    }
}

internal interface IStep
{
    int Step(int hop, int max, nint order);
}

internal sealed class Stepper : IStep
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    int IStep.Step(int hop, int max, nint order) => Chain.Down(hop, max, order) + 1;
}

/// <summary>A generic method of a generic class: the frame's name has the type arguments.</summary>
internal sealed class Box<T>(int hop, int max, nint order)
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    public int Pass<TValue>(TValue value, int[] list, ref string trail)
    {
        trail += typeof(T).Name;
        return Chain.Down(hop, max, order) + list.Length + (value is null ? 0 : 1);
    }
}

internal static class Outer
{
    internal sealed class Inner
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        public int Pass(int hop, int max, nint order) => Chain.Down(hop, max, order) + 1;
    }

    internal static class Shelf<T>
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int Pass((int Hop, int Max) at, nint order) =>
            Chain.Down(at.Hop, at.Max, order) + typeof(T).Name.Length;
    }
}
