// SPDX-License-Identifier: MIT
using System.Threading;

namespace Memory;

/// <summary>24 bytes: header, type and two numbers.</summary>
internal sealed class Small
{
    public int A, B;
}

/// <summary>32 bytes, half of them unlike Small's.</summary>
internal sealed class Medium
{
    public long A, B;
}

/// <summary>2,016 bytes.</summary>
internal sealed class Big
{
    public Block Block;
}

[System.Runtime.CompilerServices.InlineArray(250)]
internal struct Block
{
    public long First;
}

/// <summary>24 bytes: one link of a list.</summary>
internal sealed class Node
{
    public Node? Next;
}

/// <summary>A type with one type argument.</summary>
internal sealed class Holder<T>
{
    public T? Value;
}

/// <summary>A type with two type arguments.</summary>
internal sealed class Pair<TFirst, TSecond>
{
    public TFirst? First;
    public TSecond? Second;
}

internal static class Outer
{
    internal sealed class Inner
    {
        public long Value;
    }

    internal sealed class Inner<T>
    {
        public T? Value;
    }
}

/// <summary>A struct, which is an object only when it is boxed.</summary>
internal struct Point
{
    public int X, Y;
}

internal sealed class Finalizable
{
    public static int Finalized;

    public long Value;

    ~Finalizable() => Interlocked.Increment(ref Finalized);
}

/// <summary>Kept by a handle only.</summary>
internal sealed class Handled
{
    public long Value;
}

/// <summary>The keys and values of a ConditionalWeakTable.</summary>
internal sealed class Key
{
    public long Value;
}

internal sealed class Dependent
{
    public long Value;
}

/// <summary>Kept by a static field of its own.</summary>
internal sealed class Single
{
    public long Value;
}

/// <summary>Kept by a thread-static field of a thread that waits.</summary>
internal sealed class PerThread
{
    public long Value;
}

/// <summary>Kept by a local variable of a thread that waits.</summary>
internal sealed class OnStack
{
    public long Value;
}

/// <summary>Elements of a ring, each of which refers to both neighbours.</summary>
internal sealed class Ring
{
    public Ring? Next, Previous;
}

/// <summary>Refers to an array that others of the type refer to, too.</summary>
internal sealed class Sharer
{
    public byte[]? Common;
}

/// <summary>A value that refers to an object, for a static field.</summary>
internal struct Holding
{
    public Held? It;
}

internal sealed class Held
{
}
