// SPDX-License-Identifier: MIT
using System;
using System.Runtime.CompilerServices;

namespace Kinds;

internal abstract class Shape
{
    public abstract T Echo<T>(T value);
}

internal sealed class Round : Shape
{
    public override T Echo<T>(T value) => value;
}

internal struct Box<T>
{
    private T value;

    public static Box<T> Make(T value) => new() { value = value };

    public readonly T Get() => value;
}

internal interface IMake<TSelf> where TSelf : IMake<TSelf>
{
    static abstract TSelf Make(int n);

    static virtual int Twice(int n) => 2 * n;

    int Value { get; }
}

internal readonly struct Made : IMake<Made>
{
    private Made(int n) => Value = n;

    public static Made Make(int n) => new(n);

    public int Value { get; }
}

internal interface IHello
{
    int Hello(int n) => n + Own();

    int Own();
}

internal sealed class Polite : IHello
{
    int IHello.Own() => 1;
}

internal sealed class PoliteToo : IHello
{
    public int Own() => 2;
}

internal record struct Point(int X, int Y);

internal ref struct Window
{
    private readonly Span<int> items;

    public Window(Span<int> items) => this.items = items;

    public readonly int Sum()
    {
        int sum = 0;
        foreach (int item in items)
            sum += item;
        return sum;
    }

    public readonly ref int First() => ref items[0];

    public void Dispose() => items[0]++;
}

internal readonly struct Money
{
    private readonly long cents;

    public Money(long cents) => this.cents = cents;

    public static Money operator +(Money a, Money b) => new(a.cents + b.cents);

    public static Money operator checked -(Money a) => new(checked(-a.cents));

    public static Money operator -(Money a) => new(-a.cents);

    public static implicit operator Money(int cents) => new(cents);

    public static explicit operator long(Money a) => a.cents;

    public static bool operator true(Money a) => a.cents != 0;

    public static bool operator false(Money a) => a.cents == 0;
}

internal sealed class Mortal
{
    public static int Gone;

    private readonly int n;

    public Mortal(int n) => this.n = n;

    ~Mortal() => Interlock(n);

    private static void Interlock(int n) => System.Threading.Interlocked.Add(ref Gone, n);
}

internal static class Once
{
    public static int Value;

    static Once() => Value = 7;
}

internal static class OncePer<T>
{
    public static readonly string Value;

    static OncePer() => Value = typeof(T).Name;
}

internal sealed class Holder
{
    private readonly int[] items = new int[4];

    public int Auto { get; init; }

    public int Custom
    {
        get => items[0];
        set => items[0] = value;
    }

    public ref int this[int n] => ref items[n];

    public event Action Changed
    {
        add => items[1]++;
        remove => items[1]--;
    }
}

internal static class Old
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Varargs(__arglist)
    {
        var rest = new ArgIterator(__arglist);
        return rest.GetRemainingCount();
    }
}
