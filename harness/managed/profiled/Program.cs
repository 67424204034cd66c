// SPDX-License-Identifier: MIT
using System;
using System.IO;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

namespace Profiled;

/// <summary>
/// Work whose amounts profilers of tests count exactly: each kind is done a known number of times, on one thread after
/// the other. Run it with DOTNET_TieredCompilation=0 and DOTNET_gcConcurrent=0.
/// Arguments: rounds=N repeats the work; force=N waits at the end until N collections more than those of the program
/// have been made (by profilers); until=FILE goes on with rounds until that file exists.
/// </summary>
internal static class Program
{
    private static object? kept;

    private static int Main(string[] args)
    {
        int rounds = Number(args, "rounds=", 1), force = Number(args, "force=", 0);
        string until = Text(args, "until=");
        int done = 0;
        while (done < rounds || (until != "" && !File.Exists(until)))
        {
            Round();
            done++;
        }
        for (int wait = 0; GC.CollectionCount(2) < 2 * done + force; wait++)
        {
            if (wait == 60000)
                return 1;
            Thread.Sleep(1);
        }
        return Counts.Sum == done * Counts.PerRound ? 0 : 2;
    }

    private static int Number(string[] args, string name, int otherwise) =>
        Text(args, name) is { Length: > 0 } text ? int.Parse(text) : otherwise;

    private static string Text(string[] args, string name)
    {
        foreach (string arg in args)
            if (arg.StartsWith(name, StringComparison.Ordinal))
                return arg[name.Length..];
        return "";
    }

    private static void Round()
    {
        Allocate();
        Faults.All();
        for (int i = 0; i < 5; i++)
            Threads.RunOne(i);
        for (int i = 0; i < 30; i++)
            Inlining.Caller(i);
        Source.WriteAll();
        Handles();
        Collect();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Allocate()
    {
        var things = new Thing[100];
        for (int i = 0; i < things.Length; i++)
            things[i] = new Thing { Next = i > 0 ? things[i - 1] : null };
        for (int i = 0; i < 5; i++)
            kept = new Part[10];
        kept = things;
        Counts.Sum += 1;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Handles()
    {
        var handles = new GCHandle[10];
        for (int i = 0; i < handles.Length; i++)
            handles[i] = GCHandle.Alloc(kept);
        foreach (GCHandle handle in handles)
            handle.Free();
        Counts.Sum += 1;
    }

    /// <summary>Seven collections: three of generation 0, two of generation 1, two of generation 2.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Collect()
    {
        foreach (int generation in new[] { 0, 0, 0, 1, 1, 2, 2 })
            GC.Collect(generation, GCCollectionMode.Forced, true);
        Counts.Sum += 1;
    }
}

/// <summary>An object that profilers count.</summary>
internal sealed class Thing
{
    public Thing? Next;
}

/// <summary>Elements of arrays that profilers count.</summary>
internal sealed class Part
{
}

/// <summary>What the program has done, as a check that no profiler changes it.</summary>
internal static class Counts
{
    public const int PerRound = 3 + 10 + 5 + 30 * 3;
    public static int Sum;
}
