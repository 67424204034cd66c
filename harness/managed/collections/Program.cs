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
/// Arguments: "rounds=N" (1), "objects=N" to keep alive (20000), "wide=N": keep an array of N empty
/// references, which makes collections long, "out=FILE": one JSON object in each line of it. The first
/// line has totals: the number of the last collection before those that are listed, and the runtime's
/// total pause time from there to the end. "force=N": call sxsprof_force_gc(N) of the profiler once; with
/// "meet=PREFIX:N", N apps do so at the same time, and each tells how many collections there were in its
/// own runtime. "churn=N": before that, allocate during N background collections; then the totals are of
/// all collections.
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
        kept.Add(new object?[int.Parse(Option(args, "wide", "0"))]);
        var pinned = new GCHandle[5];
        for (int i = 0; i < pinned.Length; i++)
            pinned[i] = GCHandle.Alloc(new byte[100], GCHandleType.Pinned);
        Settle();
        (int forced, int here) = Force(Option(args, "force", ""), Option(args, "meet", ""));
        long before = Latest().Index;
        TimeSpan paused = GC.GetTotalPauseDuration();
        int churns = int.Parse(Option(args, "churn", "0"));
        if (churns > 0)
            paused = TimeSpan.Zero; // all collections count
        for (int i = 0; i < churns; i++)
            Churn();
        for (int round = 0; round < rounds; round++)
            foreach (Kind kind in kinds)
                lines.Add(One(kind));
        TimeSpan sum = GC.GetTotalPauseDuration() - paused;
        lines.Insert(0, Json(("before", before), ("pause_ns", Nanoseconds(sum)), ("finalized", finalized),
            ("server", GCSettings.IsServerGC ? 1 : 0), ("concurrent", GCSettings.LatencyMode == GCLatencyMode.Interactive ? 1 : 0),
            ("last", Latest().Index), ("forced", forced), ("forced_here", here), ("version", Environment.Version.ToString())));
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

    /// <summary>Waits until n apps have come to this place of the program.</summary>
    private static void Meet(string where, string phase)
    {
        if (where.Length == 0)
            return;
        int colon = where.LastIndexOf(':');
        string prefix = where.Substring(0, colon) + "." + phase + ".";
        File.WriteAllText(prefix + Environment.Version, "");
        while (Directory.GetFiles(Path.GetDirectoryName(prefix)!, Path.GetFileName(prefix) + "*").Length < int.Parse(where.Substring(colon + 1)))
            Thread.Sleep(5);
    }

    private static unsafe (int Result, int Here) Force(string runtime, string meet)
    {
        if (runtime.Length == 0)
            return (0, 0);
        nint library = NativeLibrary.Load(Environment.GetEnvironmentVariable("CORECLR_PROFILER_PATH")!);
        var force = (delegate* unmanaged<uint, int>)NativeLibrary.GetExport(library, "sxsprof_force_gc");
        Meet(meet, "ready");
        int before = GC.CollectionCount(2);
        Meet(meet, "counted");
        int result = force(uint.Parse(runtime));
        Meet(meet, "forced");
        return (result, GC.CollectionCount(2) - before);
    }

    /// <summary>Allocates, so that collections are necessary, while one of the background is in progress.</summary>
    private static void Churn()
    {
        long before = GC.GetGCMemoryInfo(GCKind.Background).Index;
        var some = new object[5000];
        GC.Collect(2, GCCollectionMode.Forced, false, false);
        for (int i = 0; GC.GetGCMemoryInfo(GCKind.Background).Index == before && i < 50_000_000; i++)
            some[i % some.Length] = new byte[500];
        GC.KeepAlive(some);
    }

    private static GCMemoryInfo Latest() => GC.GetGCMemoryInfo(GCKind.Any);

    private static string One(Kind kind)
    {
        Drop();
        long before = Latest().Index;
        GC.Collect(kind.Generation, kind.Mode, kind.Blocking, kind.Compacting);
        // A background collection may not be over. While it ends, the runtime says for a moment what the last
        // one of the background was, which may be none (0).
        GCMemoryInfo info = Latest();
        for (; info.Index <= before; info = Latest())
            Thread.Sleep(1);
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
