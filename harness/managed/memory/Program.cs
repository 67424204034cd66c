// SPDX-License-Identifier: MIT
using System;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Threading;

namespace Memory;

/// <summary>
/// Allocates and keeps known numbers of objects of known types. Each word of the arguments is a
/// step, and they are done in their order:
///   keep:KIND=N    allocates N objects of a kind (see Kinds) and keeps them until drop
///   drop:KIND=N    allocates N objects of a kind and keeps none
///   static         keeps one object (Single) in a static field
///   threads=N      starts N threads, each with an object in a thread-static field and a local one
///   drop           drops everything that was kept
///   collect=GEN    induces a blocking collection of a generation, and waits for finalizers
///   timed=GEN      induces a blocking collection of a generation, and prints how long it took, in ms
///   watch=FILE     waits until a file exists, and prints the longest time that the thread stood still, in ms
///   words=N, mix=N, spread=N, alternate=N, uneven=N, rhythm=N    work, see Work
///   seed=N         a number above 0: another random order for mix and spread
///   on=N           the steps that follow are done on N threads at once
///   fork=N         allocates one Small and forks; the child allocates N more and ends
///   ready=FILE     creates a file; until=FILE waits until a file exists; sleep=MS waits
/// Exit codes: 0, 2 wrong arguments, 3 a forked child failed.
/// </summary>
internal static class Program
{
    private static int threads = 1;
    private static uint seed = 12345;

    private static int Main(string[] args)
    {
        foreach (string word in args)
        {
            int at = word.IndexOf('=');
            string name = at < 0 ? word : word[..at], value = at < 0 ? "" : word[(at + 1)..];
            try
            {
                Step(name, value);
            }
            catch (Exception e) when (e is ArgumentException or FormatException)
            {
                Console.Error.WriteLine($"memory: wrong word '{word}': {e.Message}");
                return 2;
            }
        }
        Console.WriteLine($"memory: .NET {Environment.Version}: {args.Length} steps done");
        GC.KeepAlive(Roots.Kept);
        return 0;
    }

    private static void Step(string name, string value)
    {
        if (name.StartsWith("keep:", StringComparison.Ordinal))
            Roots.Keep(Kinds.Allocate(name[5..], int.Parse(value)));
        else if (name.StartsWith("drop:", StringComparison.Ordinal))
            Drop(name[5..], int.Parse(value));
        else
            OtherStep(name, value);
    }

    private static void Drop(string kind, int n)
    {
        const int Piece = 1000; // so that not all objects are alive at once
        if (threads > 1)
            Work.OnThreads(threads, () => DropPieces(kind, n, Piece));
        else
            DropPieces(kind, n, Piece);
    }

    private static void DropPieces(string kind, int n, int piece)
    {
        for (; n > 0; n -= piece)
            Kinds.Allocate(kind, Math.Min(n, piece));
    }

    private static void OtherStep(string name, string value)
    {
        switch (name)
        {
            case "static": Roots.KeepStatic(); break;
            case "threads": Roots.KeepOnThreads(int.Parse(value)); break;
            case "drop": Roots.Drop(); break;
            case "collect": Collect(int.Parse(value)); break;
            case "timed": Timed(int.Parse(value)); break;
            case "watch": Watch(value); break;
            case "on": threads = int.Parse(value); break;
            case "words": Words(int.Parse(value)); break;
            case "mix": Count(name, seed => Work.Mix(int.Parse(value), seed)); break;
            case "spread": Count(name, seed => Work.Spread(int.Parse(value), seed)); break;
            case "seed": seed = uint.Parse(value); break;
            case "alternate": Work.OnThreads(threads, () => Work.Alternate(int.Parse(value))); break;
            case "uneven": Work.OnThreads(threads, () => Work.Uneven(int.Parse(value))); break;
            case "rhythm": Work.OnThreads(threads, () => Work.Rhythm(int.Parse(value))); break;
            case "ready": File.WriteAllText(value, ""); break;
            case "sleep": Thread.Sleep(int.Parse(value)); break;
            case "until": Until(value); break;
            case "fork": Fork(int.Parse(value)); break;
            default: throw new ArgumentException("there is no such step");
        }
    }

    private static void Collect(int generation)
    {
        GC.Collect(generation, GCCollectionMode.Forced, blocking: true);
        GC.WaitForPendingFinalizers();
    }

    private static void Timed(int generation)
    {
        long start = Stopwatch.GetTimestamp();
        GC.Collect(generation, GCCollectionMode.Forced, blocking: true);
        Console.WriteLine(FormattableString.Invariant($"bench: alone {Stopwatch.GetElapsedTime(start).TotalMilliseconds:F1}"));
    }

    private static void Watch(string file)
    {
        long longest = 0, last = Stopwatch.GetTimestamp();
        for (long looked = 0; last - looked < Stopwatch.Frequency / 100 || !File.Exists(file);)
        {
            if (last - looked >= Stopwatch.Frequency / 100)
                looked = last;
            long now = Stopwatch.GetTimestamp();
            longest = Math.Max(longest, now - last);
            last = now;
        }
        Console.WriteLine(FormattableString.Invariant($"bench: pause {1000.0 * longest / Stopwatch.Frequency:F1}"));
    }

    /// <summary>Prints the CPU time that the whole process used meanwhile, in ms, and the bytes that
    /// were allocated.</summary>
    private static void Words(int n)
    {
        using var process = Process.GetCurrentProcess();
        TimeSpan before = process.TotalProcessorTime;
        long allocated = GC.GetTotalAllocatedBytes();
        Work.OnThreads(threads, () => Work.Words(n));
        process.Refresh();
        double ms = (process.TotalProcessorTime - before).TotalMilliseconds;
        allocated = GC.GetTotalAllocatedBytes() - allocated;
        Console.WriteLine($"memory: .NET {Environment.Version}: words={n}: {ms:F0} ms {allocated} bytes");
        Console.WriteLine($"bench: allocated_mb {allocated / 1e6:F1}");
    }

    private static void Count(string name, Func<uint, int[]> work)
    {
        int[] made = [];
        Work.OnThreads(threads, () => made = work(seed));
        string counts = string.Join(" ", made.Select(n => (long)n * threads));
        Console.WriteLine($"memory: .NET {Environment.Version}: {name}: {counts}");
    }

    /// <summary>Everything that the child runs is compiled before the fork: a compilation may wait for
    /// threads that the child does not have.</summary>
    private static void Fork(int n)
    {
        foreach (string name in new[] { nameof(ForkProcess), nameof(ExitProcess), nameof(WaitFor) })
            Marshal.Prelink(typeof(Program).GetMethod(name, BindingFlags.NonPublic | BindingFlags.Static)!);
        Kinds.Allocate("small", 1);
        int child = ForkProcess();
        if (child == 0)
        {
            Kinds.Allocate("small", n);
            ExitProcess(7);
        }
        int ended = WaitFor(child, out int status, 0);
        if (ended == child && status == 7 << 8)
            return;
        Console.Error.WriteLine($"memory: waiting for the forked child {child} gave {ended}, status {status}");
        Environment.Exit(3);
    }

    [DllImport("libc.so.6", EntryPoint = "fork")]
    private static extern int ForkProcess();

    [DllImport("libc.so.6", EntryPoint = "_exit")]
    private static extern void ExitProcess(int code);

    [DllImport("libc.so.6", EntryPoint = "waitpid")]
    private static extern int WaitFor(int process, out int status, int options);

    private static void Until(string file)
    {
        while (!File.Exists(file))
            Thread.Sleep(10);
    }
}
