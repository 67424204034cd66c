// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Contend;

internal sealed class Account;

internal sealed class Outer
{
    internal sealed class Inner;
}

internal sealed class Box<T>;

/// <summary>The locks that threads wait for, each entered in a method of its own.</summary>
internal static class Sites
{
    private static readonly Account account = new();
    private static readonly Outer outer = new();
    private static readonly Outer.Inner inner = new();
    private static readonly Dictionary<string, int[]> words = [];
    private static readonly Box<Account> box = new();
    private static readonly int[] numbers = new int[3];
    private static readonly Account[] accounts = new Account[3];

    public static IEnumerable<Means> All()
    {
        yield return new("EnterAccount", "Contend.Account", EnterAccount, () => Monitor.Exit(account));
        yield return new("EnterInner", "Contend.Outer+Inner", EnterInner, () => Monitor.Exit(inner));
        yield return new("EnterWords", "System.Collections.Generic.Dictionary<System.String,System.Int32[]>",
            EnterWords, () => Monitor.Exit(words));
        yield return new("EnterBox", "Contend.Box<Contend.Account>", EnterBox, () => Monitor.Exit(box));
        yield return new("EnterNumbers", "System.Int32[]", EnterNumbers, () => Monitor.Exit(numbers));
        yield return new("EnterAccounts", "Contend.Account[]", EnterAccounts,
            () => Monitor.Exit(accounts));
        yield return new("EnterType", "System.RuntimeType", EnterType,
            () => Monitor.Exit(typeof(Account)));
        yield return new("EnterSynchronized", "Contend.Outer", EnterSynchronized,
            () => Monitor.Exit(outer));
        if (Managed() is { } managed)
            yield return managed;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void EnterAccount() => Monitor.Enter(account);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void EnterInner() => Monitor.Enter(inner);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void EnterWords() => Monitor.Enter(words);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void EnterBox() => Monitor.Enter(box);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void EnterNumbers() => Monitor.Enter(numbers);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void EnterAccounts() => Monitor.Enter(accounts);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void EnterType() => Monitor.Enter(typeof(Account));

    /// <summary>With a time limit that is not reached.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void EnterSynchronized()
    {
        if (!Monitor.TryEnter(outer, 100_000))
            throw new TimeoutException();
    }

    /// <summary>The class System.Threading.Lock of .NET 9 and later, which the app, built for 8,
    /// has to find by name.</summary>
    public static Means? Lock() => Managed();

    private static Means? Managed()
    {
        Type? type = typeof(object).Assembly.GetType("System.Threading.Lock");
        if (type == null || !type.IsPublic)
            return null;
        object @lock = Activator.CreateInstance(type)!;
        var enter = type.GetMethod("Enter", Type.EmptyTypes)!.CreateDelegate<Action>(@lock);
        var exit = type.GetMethod("Exit", BindingFlags.Public | BindingFlags.Instance,
            Type.EmptyTypes)!.CreateDelegate<Action>(@lock);
        return new("EnterLock", "System.Threading.Lock", () => EnterLock(enter), exit);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void EnterLock(Action enter) => enter();
}
