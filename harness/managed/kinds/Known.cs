// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Reflection;

namespace Kinds;

/// <summary>The number of calls of each method, by its name in metadata.</summary>
internal static class Known
{
    private static readonly SortedDictionary<string, long> counts = new(StringComparer.Ordinal);

    public static void Add(string name, long n)
    {
        lock (counts)
        {
            counts.TryGetValue(name, out long had);
            counts[name] = had + n;
        }
    }

    public static void Add(MethodInfo method, long n) =>
        Add(method.DeclaringType!.FullName + "." + method.Name, n);

    public static void Check(bool fine, string what)
    {
        if (!fine)
            throw new InvalidOperationException("wrong: " + what);
    }

    public static void Print()
    {
        foreach ((string name, long n) in counts)
            Console.WriteLine($"kinds: known {n} {name}");
    }
}
