// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Runtime;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

/// <summary>
/// Forces collections in a known order, and writes what the runtime itself says of each.
/// Arguments: "rounds=N" (1), "objects=N" to keep alive (20000), "out=FILE": one JSON object in each
/// line of it. The first line has totals: the number of the last collection before those that are
/// listed, and the runtime's total pause time from there to the end.
/// </summary>
internal static class Program
{
    private const int Finalizable = 7; // objects that each collection of generation 2 finds dead

    private static readonly List<object> kept = new List<object>();
    private static int finalized;

    private sealed class Ended
    {
        ~Ended() => Interlocked.Increment(ref finalized);
    }

    private sealed class Node
    {
        public Node? Next;
        public readonly byte[] Data = new byte[40];
    }

    /// <summary>A collection to force: what the runtime is asked for.</summary>
    private sealed record Kind(string Name, int Generation, GCCollectionMode Mode, bool Blocking, bool Compacting);

    private static readonly Kind[] kinds =
    {
        new Kind("induced", 0, GCCollectionMode.Forced, true, false),
        new Kind("induced", 1, GCCollectionMode.Forced, true, false),
        new Kind("induced", 2, GCCollectionMode.Forced, true, false),
        new Kind("induced, compacting", 2, GCCollectionMode.Forced, true, true),
        new Kind("induced", 0, GCCollectionMode.Forced, true, false),
        new Kind("induced, aggressive", 2, GCCollectionMode.Aggressive, true, true),
        new Kind("induced, optional", 2, GCCollectionMode.Forced, false, false),
        new Kind("induced", 1, GCCollectionMode.Forced, true, false),
    };

    private static int Main(string[] args)
    {
        int rounds = int.Parse(Option(args, "rounds", "1"));
        int objects = int.Parse(Option(args, "objects", "20000"));
        var lines = new List<string>();
        Keep(objects);
        var pinned = new GCHandle[5];
        for (int i = 0; i < pinned.Length; i++)
            pinned[i] = GCHandle.Alloc(new byte[100], GCHandleType.Pinned);
        Settle();
        long before = Latest().Index;
        TimeSpan paused = GC.GetTotalPauseDuration();
        for (int round = 0; round < rounds; round++)
            foreach (Kind kind in kinds)
                lines.Add(One(kind));
        TimeSpan sum = GC.GetTotalPauseDuration() - paused;
        lines.Insert(0, Json(("before", before), ("pause_ns", Nanoseconds(sum)), ("finalized", finalized),
            ("server", GCSettings.IsServerGC ? 1 : 0), ("concurrent", GCSettings.LatencyMode == GCLatencyMode.Interactive ? 1 : 0),
            ("last", Latest().Index)));
        string file = Option(args, "out", "");
        if (file.Length > 0)
            File.WriteAllLines(file, lines);
        foreach (GCHandle handle in pinned)
            handle.Free();
        GC.KeepAlive(kept);
        Console.WriteLine($"collections: {lines.Count - 1}");
        return 0;
    }

    private static string Option(string[] args, string name, string otherwise)
    {
        string? found = args.FirstOrDefault(arg => arg.StartsWith(name + "=", StringComparison.Ordinal));
        return found == null ? otherwise : found.Substring(name.Length + 1);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Keep(int objects)
    {
        Node? first = null;
        for (int i = 0; i < objects; i++)
            first = new Node { Next = first };
        kept.Add(first!);
        kept.Add(new byte[200_000]); // large
        kept.Add(GC.AllocateArray<byte>(5000, pinned: true));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Drop()
    {
        for (int i = 0; i < Finalizable; i++)
            GC.KeepAlive(new Ended());
        var garbage = new byte[1000][];
        for (int i = 0; i < garbage.Length; i++)
            garbage[i] = new byte[100];
        GC.KeepAlive(garbage);
    }

    private static void Settle()
    {
        GC.Collect(2, GCCollectionMode.Forced, true, true);
        GC.WaitForPendingFinalizers();
        GC.Collect(2, GCCollectionMode.Forced, true, true);
    }

    private static GCMemoryInfo Latest() => GC.GetGCMemoryInfo(GCKind.Any);

    private static string One(Kind kind)
    {
        Drop();
        long before = Latest().Index;
        GC.Collect(kind.Generation, kind.Mode, kind.Blocking, kind.Compacting);
        while (Latest().Index == before) // a background collection that is not over
            Thread.Sleep(1);
        GCMemoryInfo info = Latest();
        string line = Describe(kind, info);
        GC.WaitForPendingFinalizers();
        return line;
    }

    private static string Describe(Kind kind, GCMemoryInfo info)
    {
        var generations = new List<long>[4];
        for (int i = 0; i < generations.Length; i++)
            generations[i] = new List<long>();
        foreach (GCGenerationInfo g in info.GenerationInfo)
        {
            generations[0].Add(g.SizeBeforeBytes);
            generations[1].Add(g.FragmentationBeforeBytes);
            generations[2].Add(g.SizeAfterBytes);
            generations[3].Add(g.FragmentationAfterBytes);
        }
        long pause = 0;
        foreach (TimeSpan span in info.PauseDurations)
            pause += Nanoseconds(span);
        return Json(("number", info.Index), ("generation", info.Generation), ("asked", kind.Generation),
            ("reason", kind.Name),
            ("concurrent", info.Concurrent ? 1 : 0), ("compacted", info.Compacted ? 1 : 0),
            ("promoted", info.PromotedBytes), ("pinned", info.PinnedObjectsCount),
            ("finalizable", info.FinalizationPendingCount), ("heap", info.HeapSizeBytes),
            ("fragmented", info.FragmentedBytes), ("pause_ns", pause),
            ("before", generations[0]), ("free_before", generations[1]), ("after", generations[2]),
            ("fragmentation", generations[3]));
    }

    private static long Nanoseconds(TimeSpan span) => span.Ticks * 100;

    private static string Json(params (string Name, object Value)[] members)
    {
        return "{" + string.Join(", ", members.Select(m => $"\"{m.Name}\": {Text(m.Value)}")) + "}";
    }

    private static string Text(object value) => value switch
    {
        string text => "\"" + text + "\"",
        List<long> list => "[" + string.Join(", ", list) + "]",
        _ => Convert.ToString(value, CultureInfo.InvariantCulture)!,
    };
}
