// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;

namespace Objects;

internal enum Color : byte { Red = 1, Green = 2 }

[Flags]
internal enum Access { None = 0, Read = 1, Write = 2 }

internal struct Point
{
    public int X, Y;
}

internal struct Named
{
    public string? Name;
    public Point At;
    public Color Color;
}

internal class Base
{
    private readonly int hidden = 11;
    protected string inherited = "from the base";
}

/// <summary>Fields of every kind.</summary>
internal sealed class Everything : Base
{
    public bool Yes = true;
    public char Letter = 'x';
    public sbyte Small = -8;
    public byte Byte = 200;
    public short Short = -16000;
    public ushort UShort = 60000;
    public int Int = -2000000000;
    public uint UInt = 4000000000;
    public long Long = -9000000000000000000;
    public ulong ULong = 18000000000000000000;
    public float Single = 1.5f;
    public double Double = -2.25;
    public nint Native = 0x1234;
    public decimal Decimal = 12.50m;
    public Color Color = Color.Green;
    public Color NoName = (Color)77;
    public Access Access = Access.Read | Access.Write;
    public int? Has = 3;
    public int? HasNot;
    public Point? Where = new Point { X = 1, Y = 2 };
    public Named Named = new() { Name = "inner", At = new Point { X = 3, Y = 4 }, Color = Color.Red };
    public string Text = "a \"text\"\n";
    public string? Nothing;
    public string Long300 = new('z', 300);
    public object Boxed = 99;
    public object BoxedPoint = new Point { X = 5, Y = 6 };
    public int[] Numbers = [1, 2, 3];
    public string[] Texts = ["one", "two"];
    public Point[] Points = [new Point { X = 7, Y = 8 }];
    public int[,] Matrix = new int[2, 2] { { 1, 2 }, { 3, 4 } };
    public List<string> List = ["in the list"];
    public Node Ring;
    public int Property { get; set; } = 55;
    public unsafe int* Pointer = (int*)0x1000;

    public Everything()
    {
        Ring = new Node();
        Ring.Next = Ring;
    }
}

internal sealed class Node
{
    public Node? Next;
}

internal static class Generic<T>
{
    public static T? Value;
}

internal static class Statics
{
    public const int Constant = 1;
    public static int Number;
    public static string? Text;
    public static Point Point;
    public static Named Named;
    public static int? Maybe;
    public static Everything? Everything;
    public static object? BoxedInt;
    public static object? BoxedPoint;
    public static object? BoxedColor;
    public static int[]? Array;
    public static int[]? Many;
    public static object?[]? Mixed;
    public static string[,]? Matrix;
    public static Color Color;
    public static Node? Null;
    public static int Property { get; set; }

    /// <summary>Its bytes lie in the file of the assembly.</summary>
    public static ReadOnlySpan<int> Rva => [10, 20, 30];

    public static class Inner
    {
        public static int Deep = 6;
    }

    public static void Fill()
    {
        Number = 42;
        Text = "static text";
        Point = new Point { X = 1, Y = -1 };
        Named = new Named { Name = "static", At = new Point { X = 9, Y = 8 }, Color = Color.Green };
        Maybe = 17;
        Everything = new Everything();
        BoxedInt = 1234;
        BoxedPoint = new Point { X = 21, Y = 22 };
        BoxedColor = Color.Red;
        Array = [4, 5];
        Many = new int[1000];
        Many[31] = 31;
        Mixed = ["first", null, 2, new Node()];
        Matrix = new string[1, 2] { { "a", "b" } };
        Color = Color.Green;
        Property = 66;
        Inner.Deep += Rva[0] - 10;
    }
}

internal static class Threads
{
    [ThreadStatic]
    public static int Number;

    [ThreadStatic]
    public static string? Text;
}

/// <summary>Used in the assembly that can be unloaded only.</summary>
public static class Unloadable
{
    public static int Number;
    public static string? Text;
    internal static Point Point;

    public static void Fill()
    {
        Number = 43;
        Text = "can be unloaded";
        Point = new Point { X = 31, Y = 32 };
    }
}
