// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

#pragma warning disable CS0414 // what is only kept alive is never read
namespace Memory;

internal sealed class Leaf
{
    public long Value;
}

internal abstract class FieldsBase
{
    private object? _first;
    protected long _number;
    protected object? _second;

    protected FieldsBase(int i)
    {
        _number = i;
        if (i % 2 == 0)
            _first = new Leaf();
        _second = i % 3 == 1 ? _first : new Leaf();
    }
}

internal struct Inner
{
    public int Number;
    public Leaf? A;
    public Leaf? B;
}

internal struct Around<T>
{
    public byte Flag;
    public Inner In;
    public T? Item;
    public KeyValuePair<T, int> Pair;
}

[StructLayout(LayoutKind.Explicit)]
internal struct Overlapping
{
    [FieldOffset(0)] public Leaf? One;
    [FieldOffset(0)] public object? Other;
    [FieldOffset(8)] public long Number;
}

[InlineArray(5)]
internal struct Five
{
    public Leaf? Element;
}

/// <summary>Has references of every kind: inherited, in structs of structs, of generic types, in arrays.</summary>
internal sealed class Fields : FieldsBase
{
    private object? _first; // one of that name is inherited
    private Inner _inner;
    private Around<string> _text;
    private Around<Leaf> _leaf;
    private Around<Inner> _inners;
    private Inner? _maybe;
    private (Leaf, long, Leaf?) _tuple;
    private Overlapping _overlapping;
    private Five _five;
    private object? _boxed;
    private Inner[]? _structs;
    private Around<Leaf>[]? _wide;
    private Leaf?[]? _leaves;
    private Leaf?[,]? _square;
    private Inner[,]? _structSquare;
    private Dictionary<string, Leaf>? _byName;
    private Action? _action;

    public Leaf? Property { get; set; }

    private static Inner New(int i) => new() { A = i % 2 == 0 ? new Leaf() : null, B = i % 3 == 0 ? new Leaf() : null };

    public Fields(int i) : base(i)
    {
        _first = i % 5 == 0 ? new Leaf() : null;
        _inner = New(i);
        _text = new() { In = New(i + 1), Item = "text", Pair = new(i % 2 == 0 ? "a" : "b", 1) };
        _leaf = new() { In = New(i + 2), Item = i % 2 == 1 ? new Leaf() : null, Pair = new(new Leaf(), 2) };
        _inners = new() { Item = New(i), Pair = new(New(i + 1), 3) };
        _maybe = i % 2 == 0 ? New(i) : null;
        _tuple = (new Leaf(), i, i % 3 == 0 ? new Leaf() : null);
        _overlapping.One = new Leaf();
        _five[i % 5] = new Leaf();
        _boxed = New(0);
        _structs = new Inner[7];
        _wide = new Around<Leaf>[3];
        _leaves = new Leaf?[9];
        _square = new Leaf?[3, 4];
        _structSquare = new Inner[2, 2];
        for (int k = 0; k < 9; k += 1 + i % 4)
        {
            _leaves[k] = new Leaf();
            _structs[k % 7] = New(k);
            _wide[k % 3] = new() { In = New(k), Item = new Leaf() };
            _square[k % 3, k % 4] = new Leaf();
            _structSquare[k % 2, k / 2 % 2] = New(k);
        }
        _byName = new();
        for (int k = 0; k < i % 40; k++)
            _byName[k.ToString()] = new Leaf();
        _action = i % 2 == 0 ? () => _number++ : null;
        Property = i % 7 == 6 ? null : new Leaf();
    }
}

/// <summary>Has more references than a mask of 64 bits can describe.</summary>
internal sealed class Wide
{
    [InlineArray(100)]
    private struct Many
    {
        public Leaf? Element;
    }

    private Many _many;
    private Leaf? _last = new();

    public Wide(int i)
    {
        for (int k = i % 3; k < 100; k += 1 + i % 7)
            _many[k] = new Leaf();
    }
}

internal static class FieldKinds
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object Fields(int n)
    {
        var kept = new List<object>();
        for (int i = 0; i < n; i++)
            kept.Add(new Fields(i));
        for (int i = 0; i < n; i++)
            kept.Add(new Wide(i));
        foreach (int step in new[] { 1, 2, 997 }) // full, and with null elements
        {
            var large = new Leaf?[20_000];
            var structs = new Inner[10_000];
            for (int i = step - 1; i < large.Length; i += step)
                large[i] = new Leaf();
            for (int i = 0; i < structs.Length; i += step)
                structs[i] = new Inner { A = i % 4 == 0 ? new Leaf() : null, B = new Leaf() };
            kept.Add(large);
            kept.Add(structs);
        }
        return kept;
    }
}
