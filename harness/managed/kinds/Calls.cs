// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Threading.Tasks;
using KindsLib;

namespace Kinds;

/// <summary>Calls every method of Types.cs and Bodies.cs.</summary>
internal static class Calls
{
    public static void Run(int n)
    {
        for (int i = 0; i < n; i++)
        {
            Generics(i);
            Interfaces(i);
            Structs(i);
            Members(i);
            Closures(i);
            Async(i).GetAwaiter().GetResult();
            Blocks(i);
            Pointers(i);
            Attributed(i);
        }
        Finalizers(n);
        Constructors();
    }

    private static void Generics(int i)
    {
        Shape shape = new Round();
        Known.Check(shape.Echo(i) == i && shape.Echo("a") == "a" && shape.Echo(1.5) == 1.5, "Echo");
        Known.Add("Kinds.Round.Echo", 3);
        Known.Check(Box<int>.Make(i).Get() == i && Box<string>.Make("b").Get() == "b", "Box");
        Known.Add("Kinds.Box`1.Make", 2);
        Known.Add("Kinds.Box`1.Get", 2);
        Known.Check(Bodies.Constrained(i) == i && Bodies.Constrained("c") == "c", "Constrained");
        Known.Add("Kinds.Bodies.Constrained", 2);
    }

    private static int MakeOne<T>(int n) where T : IMake<T> => T.Make(n).Value + T.Twice(n);

    private static void Interfaces(int i)
    {
        Known.Check(MakeOne<Made>(i) == 3 * i, "MakeOne");
        foreach (string name in new[] { "Calls.MakeOne", "Made.Make", "Made.get_Value", "Made..ctor", "IMake`1.Twice" })
            Known.Add("Kinds." + name, 1);
        IHello one = new Polite(), two = new PoliteToo();
        Known.Check(one.Hello(i) == i + 1 && two.Hello(i) == i + 2, "Hello");
        Known.Add("Kinds.IHello.Hello", 2);
        Known.Add("Kinds.Polite.Kinds.IHello.Own", 1);
        Known.Add("Kinds.PoliteToo.Own", 1);
    }

    private static void Structs(int i)
    {
        var a = new Point(i, 2);
        var b = new Point(i, 2);
        Known.Check(a == b && a.X == i && a.ToString() == $"Point {{ X = {i}, Y = 2 }}", "Point");
        Known.Add("Kinds.Point.op_Equality", 1);
        Known.Add("Kinds.Point.Equals", 1);
        Known.Add("Kinds.Point.get_X", 2); // PrintMembers makes one of the two calls
        Known.Add("Kinds.Point.PrintMembers", 1);
        Known.Add("Kinds.Point..ctor", 2);
        Span<int> items = stackalloc int[3] { i, 1, 2 };
        using (var window = new Window(items))
            Known.Check(window.Sum() == i + 3 && ++window.First() == i + 1, "Window");
        Known.Check(items[0] == i + 2, "Dispose");
        foreach (string name in new[] { ".ctor", "Sum", "First", "Dispose" })
            Known.Add("Kinds.Window." + name, 1);
        Money money = (Money)i + 5;
        Known.Check((long)checked(-money) == -i - 5 && (long)-money == -i - 5, "Money");
        Known.Check(money ? true : false, "true");
        Known.Add("Kinds.Money.op_Implicit", 2);
        Known.Add("Kinds.Money.op_Explicit", 2);
        foreach (string name in new[] { "op_Addition", "op_CheckedUnaryNegation", "op_UnaryNegation", "op_True" })
            Known.Add("Kinds.Money." + name, 1);
    }

    private static void Members(int i)
    {
        var holder = new Holder { Auto = i, Custom = i };
        Action none = static () => { };
        holder.Changed += none;
        holder.Changed -= none;
        holder[2] = 5;
        Known.Check(holder.Auto + holder.Custom + holder[2] == 2 * i + 5, "Holder");
        foreach (string name in new[] { ".ctor", "get_Auto", "set_Auto", "get_Custom", "set_Custom", "add_Changed", "remove_Changed" })
            Known.Add("Kinds.Holder." + name, 1);
        Known.Add("Kinds.Holder.get_Item", 2);
    }

    private static void Closures(int i)
    {
        Func<int, int> lambda = Bodies.Lambda(), closure = Bodies.Closure(3);
        Known.Check(lambda(i) == i + 1 && closure(i) == i + 3, "Lambda");
        Known.Add(lambda.Method, 1);
        Known.Add(closure.Method, 1);
        Delegate local = Bodies.Local(4, out int result);
        Known.Check(result == 4, "Local");
        Known.Add(local.Method, 5);
    }

    private static void KnowMachine(string method, string called, long n)
    {
        var made = typeof(Bodies).GetMethod(method)!.GetCustomAttribute<StateMachineAttribute>()!;
        Known.Add(made.StateMachineType.FullName + "." + called, n);
    }

    private static async Task Async(int i)
    {
        int sum = 0;
        await foreach (int item in Bodies.Stream(3).ConfigureAwait(false))
            sum += item;
        Known.Check(sum == 3, "Stream");
        KnowMachine("Stream", "MoveNext", 7); // 3 awaits, 3 values, the end
        Known.Check(await Bodies.Value(i) == i && await Bodies.Waits(i) == i && await Bodies.Pooled(i) == i, "Value");
        KnowMachine("Value", "MoveNext", 1);
        KnowMachine("Waits", "MoveNext", 2);
        KnowMachine("Pooled", "MoveNext", 2);
        foreach (string name in new[] { "Stream", "Value", "Waits", "Pooled" })
            Known.Add("Kinds.Bodies." + name, 1);
        int before = Bodies.Disposed;
        foreach (int item in Bodies.Items(10))
            if (item == 2)
                break;
        Known.Check(Bodies.Disposed == before + 1, "Items");
        Known.Add("Kinds.Bodies.Items", 1);
        KnowMachine("Items", "MoveNext", 3);
        KnowMachine("Items", "System.IDisposable.Dispose", 1);
        KnowMachine("Items", "<>m__Finally1", 1);
    }

    private static void Blocks(int i)
    {
        Known.Check(Bodies.Filtered(i) == (i % 2 == 0 ? 2 : 1), "Filtered");
        Known.Add("Kinds.Bodies.Filtered", 1);
        Known.Add("Kinds.Bodies.Fits", 1);
        Known.Check(Bodies.Stack(i % 100 + 1) == i % 100, "Stack");
        Known.Add("Kinds.Bodies.Stack", 1);
        Known.Check(Bodies.Pinned(new[] { i }) == i, "Pinned");
        Known.Add("Kinds.Bodies.Pinned", 1);
        Known.Check(Bodies.Switch("b") == 2, "Switch");
        bool threw = false;
        try
        {
            Bodies.Switch("c");
        }
        catch (ArgumentException)
        {
            threw = true;
        }
        Known.Check(threw, "Switch throws");
        Known.Add("Kinds.Bodies.Switch", 2);
    }

    private static unsafe void Pointers(int i)
    {
        delegate* unmanaged<int, int> native = &Bodies.Native;
        delegate* unmanaged[Cdecl]<int, int> cdecl = &Bodies.NativeCdecl;
        delegate*<int, int> pointed = &Bodies.Pointed;
        Known.Check(native(i) == i + 1 && cdecl(i) == i + 2 && pointed(i) == i + 3, "Native");
        foreach (string name in new[] { "Native", "NativeCdecl", "Pointed" })
            Known.Add("Kinds.Bodies." + name, 1);
        int n = i;
        Bodies.Ref(ref n)++;
        Known.Check(n == i + 1, "Ref");
        Known.Add("Kinds.Bodies.Ref", 1);
    }

    private static void Attributed(int i)
    {
        Known.Check(Bodies.Synchronized(i) + Bodies.Optimized(i) + Bodies.Unoptimized(i) == 3 * i + 3, "Attributed");
        Known.Check(Bodies.Locked(typeof(Calls), i) == i + 1, "Locked");
        foreach (string name in new[] { "Synchronized", "Optimized", "Unoptimized", "Locked" })
            Known.Add("Kinds.Bodies." + name, 1);
        Known.Check(Elsewhere.Inlined(i) + Elsewhere.Called(i) == 2 * i + 5, "Elsewhere");
        Known.Add("KindsLib.Elsewhere.Inlined", 2);
        Known.Add("KindsLib.Elsewhere.Called", 1);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void MakeMortals(int n)
    {
        for (int i = 0; i < n; i++)
            _ = new Mortal(1);
    }

    private static void Finalizers(int n)
    {
        MakeMortals(n);
        for (int i = 0; i < 100 && Mortal.Gone < n; i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
        Known.Add("Kinds.Mortal..ctor", n);
        Known.Add("Kinds.Mortal.Finalize", Mortal.Gone);
    }

    private static void Constructors()
    {
        Known.Check(Once.Value == 7 && OncePer<int>.Value == "Int32" && OncePer<string>.Value == "String" &&
                    OncePer<object>.Value == "Object", "Once");
        Known.Add("Kinds.Once..cctor", 1);
        Known.Add("Kinds.OncePer`1..cctor", 3);
    }
}
