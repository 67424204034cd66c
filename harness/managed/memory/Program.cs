// SPDX-License-Identifier: MIT
using System;
using System.IO;
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
///   words=N, mix=N, alternate=N, uneven=N    work, see Work
///   on=N           the steps that follow are done on N threads at once
///   ready=FILE     creates a file; until=FILE waits until a file exists; sleep=MS waits
/// Exit codes: 0, 2 wrong arguments.
/// </summary>
internal static class Program
{
    private static int threads = 1;

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
            case "on": threads = int.Parse(value); break;
            case "words": Words(int.Parse(value)); break;
            case "mix": Mix(int.Parse(value)); break;
            case "alternate": Work.OnThreads(threads, () => Work.Alternate(int.Parse(value))); break;
            case "uneven": Work.OnThreads(threads, () => Work.Uneven(int.Parse(value))); break;
            case "ready": File.WriteAllText(value, ""); break;
            case "sleep": Thread.Sleep(int.Parse(value)); break;
            case "until": Until(value); break;
            default: throw new ArgumentException("there is no such step");
        }
    }

    private static void Collect(int generation)
    {
        GC.Collect(generation, GCCollectionMode.Forced, blocking: true);
        GC.WaitForPendingFinalizers();
    }

    private static void Words(int n)
    {
        double ms = 0;
        Work.OnThreads(threads, () => ms = Work.Words(n));
        Console.WriteLine($"memory: .NET {Environment.Version}: words={n}: {ms:F1} ms");
    }

    private static void Mix(int n)
    {
        (int Small, int Medium, int Big) made = default;
        Work.OnThreads(threads, () => made = Work.Mix(n));
        Console.WriteLine($"memory: .NET {Environment.Version}: mix: {made.Small * threads} small " +
            $"{made.Medium * threads} medium {made.Big * threads} big");
    }

    private static void Until(string file)
    {
        while (!File.Exists(file))
            Thread.Sleep(10);
    }
}
