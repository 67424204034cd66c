// SPDX-License-Identifier: MIT
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Memory;

/// <summary>
/// What can be allocated, one method for each kind. Each allocates n objects of one type, and
/// returns what keeps them alive: an array with one element for each object, or less where it is
/// said. Nothing else that the method allocates has a type of this app.
/// </summary>
internal static class Kinds
{
    public const string Names = "small medium big node generic shared pair inner innergeneric bytes ints " +
        "matrix jagged string large largestrings pinnedheap pinned handle weak finalizable boxed dependent ring common fields";

    public static object? Allocate(string kind, int n) => kind switch
    {
        "small" => Small(n),
        "medium" => Medium(n),
        "big" => Big(n),
        "node" => Nodes(n),
        "generic" => Generic(n),
        "shared" => Shared(n),
        "pair" => Pairs(n),
        "inner" => Inner(n),
        "innergeneric" => InnerGeneric(n),
        "bytes" => Arrays<byte>(n, 1000),
        "ints" => Arrays<int>(n, 100),
        "matrix" => Matrices(n),
        "jagged" => Arrays<Small>(n, 10),
        "string" => Strings(n, 50),
        "large" => Arrays<byte>(n, 200_000),
        "largestrings" => Strings(n, 100_000),
        "pinnedheap" => PinnedHeap(n),
        "pinned" => Pinned(n),
        "handle" => Handles(n, GCHandleType.Normal),
        "weak" => Handles(n, GCHandleType.Weak),
        "finalizable" => Finalizables(n),
        "boxed" => Boxed(n),
        "dependent" => Dependents(n),
        "ring" => Rings(n),
        "common" => Common(n),
        "fields" => FieldKinds.Fields(n),
        _ => throw new ArgumentException($"no kind '{kind}'; there are: {Names}"),
    };

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static Small[] Small(int n)
    {
        var kept = new Small[n];
        for (int i = 0; i < n; i++)
            kept[i] = new Small();
        return kept;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static Medium[] Medium(int n)
    {
        var kept = new Medium[n];
        for (int i = 0; i < n; i++)
            kept[i] = new Medium();
        return kept;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static Big[] Big(int n)
    {
        var kept = new Big[n];
        for (int i = 0; i < n; i++)
            kept[i] = new Big();
        return kept;
    }

    /// <summary>Returns the first node of a list of n.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static Node? Nodes(int n)
    {
        Node? first = null;
        for (int i = 0; i < n; i++)
            first = new Node { Next = first };
        return first;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static Holder<int>[] Generic(int n)
    {
        var kept = new Holder<int>[n];
        for (int i = 0; i < n; i++)
            kept[i] = new Holder<int> { Value = i };
        return kept;
    }

    /// <summary>A type argument that is a class: its code is shared by all such types.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static Holder<string>[] Shared(int n)
    {
        var kept = new Holder<string>[n];
        for (int i = 0; i < n; i++)
            kept[i] = new Holder<string>();
        return kept;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static Pair<string, Holder<long[]>>[] Pairs(int n)
    {
        var kept = new Pair<string, Holder<long[]>>[n];
        for (int i = 0; i < n; i++)
            kept[i] = new Pair<string, Holder<long[]>>();
        return kept;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static Outer.Inner[] Inner(int n)
    {
        var kept = new Outer.Inner[n];
        for (int i = 0; i < n; i++)
            kept[i] = new Outer.Inner();
        return kept;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static Outer.Inner<double>[] InnerGeneric(int n)
    {
        var kept = new Outer.Inner<double>[n];
        for (int i = 0; i < n; i++)
            kept[i] = new Outer.Inner<double>();
        return kept;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static T[][] Arrays<T>(int n, int length)
    {
        var kept = new T[n][];
        for (int i = 0; i < n; i++)
            kept[i] = new T[length];
        return kept;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static short[][,] Matrices(int n)
    {
        var kept = new short[n][,];
        for (int i = 0; i < n; i++)
            kept[i] = new short[10, 21]; // 460 bytes, which take 464
        return kept;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static string[] Strings(int n, int length)
    {
        var kept = new string[n];
        for (int i = 0; i < n; i++)
            kept[i] = new string('x', length);
        return kept;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static byte[][] PinnedHeap(int n)
    {
        var kept = new byte[n][];
        for (int i = 0; i < n; i++)
            kept[i] = GC.AllocateUninitializedArray<byte>(1000, pinned: true);
        return kept;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static GCHandle[] Pinned(int n)
    {
        var kept = new GCHandle[n];
        for (int i = 0; i < n; i++)
            kept[i] = GCHandle.Alloc(new ushort[500], GCHandleType.Pinned);
        return kept;
    }

    /// <summary>Of weak handles' objects nothing keeps any.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static GCHandle[] Handles(int n, GCHandleType type)
    {
        var kept = new GCHandle[n];
        for (int i = 0; i < n; i++)
            kept[i] = GCHandle.Alloc(new Handled(), type);
        return kept;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static Finalizable[] Finalizables(int n)
    {
        var kept = new Finalizable[n];
        for (int i = 0; i < n; i++)
            kept[i] = new Finalizable();
        return kept;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static object[] Boxed(int n)
    {
        var kept = new object[n];
        for (int i = 0; i < n; i++)
            kept[i] = new Point { X = i };
        return kept;
    }

    /// <summary>n keys and n values: an array of the keys, and the table.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static object[] Dependents(int n)
    {
        var keys = new Key[n];
        var table = new ConditionalWeakTable<Key, Dependent>();
        for (int i = 0; i < n; i++)
        {
            keys[i] = new Key();
            table.Add(keys[i], new Dependent());
        }
        return [keys, table];
    }

    /// <summary>Returns one element of a ring of n.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static Ring? Rings(int n)
    {
        if (n == 0)
            return null;
        var first = new Ring();
        Ring last = first;
        for (int i = 1; i < n; i++)
        {
            last.Next = new Ring { Previous = last };
            last = last.Next;
        }
        last.Next = first;
        first.Previous = last;
        return first;
    }

    /// <summary>n objects, all of which refer to one array of 10 MB.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static Sharer[] Common(int n)
    {
        var kept = new Sharer[n];
        byte[] common = new byte[10_000_000];
        for (int i = 0; i < n; i++)
            kept[i] = new Sharer { Common = common };
        return kept;
    }
}
