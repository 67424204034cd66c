// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.IO.MemoryMappedFiles;
using System.Reflection;
using System.Threading;

namespace Edited;

/// <summary>
/// "threads=N at=PREFIX": calls methods in a tight loop on N threads while
/// tests/integration/edits.py edits the instrumentation file, and checks each call. The file
/// PREFIX.MAJOR is shared with that script and has 4-byte numbers: ready, stop, number of threads,
/// slots used, edits made. From byte 64 on it has 64 bytes for each thread: the latest change that
/// the thread saw, one number for each slot. "tracer=PATH": the assembly of Tracer.Pairs, which the
/// instrumentation calls.</summary>
internal static unsafe class Program
{
    private static int* file;
    private static volatile Func<int, int> fresh = Caller<int, int, int>.Call;
    private static Func<long[]> mine = () => new long[3];
    private static int running;
    private static long spanned; /* calls that were in progress during an edit */

    private static int Main(string[] args)
    {
        var options = new Dictionary<string, string> { ["threads"] = "16", ["at"] = "", ["tracer"] = "" };
        foreach (string arg in string.Join(' ', args).Split(' ', StringSplitOptions.RemoveEmptyEntries))
        {
            string[] word = arg.Split('=', 2);
            if (word.Length != 2 || !options.ContainsKey(word[0]))
                throw new ArgumentException(arg);
            options[word[0]] = word[1];
        }
        int threads = int.Parse(options["threads"]);
        OpenFile(options["at"] + "." + Environment.Version.Major, threads);
        mine = Assembly.LoadFrom(options["tracer"]).GetType("Tracer.Pairs", true)!.GetMethod("Mine")!
            .CreateDelegate<Func<long[]>>();
        var all = new List<Checker>();
        var started = new List<Thread>();
        for (int i = 0; i <= threads; i++)
        {
            int* line = i < threads ? file + 16 * (i + 1) : null;
            var thread = new Thread(() => Run(line, all), 256 << 10);
            thread.Start();
            started.Add(thread);
        }
        while (Volatile.Read(ref running) <= threads)
            Thread.Sleep(1);
        Volatile.Write(ref file[0], 1);
        MakeFresh();
        started.ForEach(thread => thread.Join());
        return Say(all);
    }

    private static void OpenFile(string path, int threads)
    {
        byte* at = null;
        File.WriteAllBytes(path, new byte[64 * (threads + 1)]);
        MemoryMappedFile.CreateFromFile(path).CreateViewAccessor().SafeMemoryMappedViewHandle.AcquirePointer(ref at);
        file = (int*)at;
        file[2] = threads;
        file[3] = Checker.Used;
    }

    private static void Run(int* line, List<Checker> all)
    {
        var checker = new Checker(line, mine());
        lock (all)
            all.Add(checker);
        if (line == null)
        {
            Interlocked.Increment(ref running);
            Sit(checker);
            return;
        }
        var work = new Rounds(checker);
        work.Once(0, true);
        Interlocked.Increment(ref running);
        for (int i = 1; Volatile.Read(ref file[1]) == 0; i++)
            work.Once(i & 0xffff, i % 32 == 0);
    }

    /// <summary>Makes long calls, which are still in progress when one or more changes
    /// come.</summary>
    private static void Sit(Checker checker)
    {
        for (int i = 1; Volatile.Read(ref file[1]) == 0; i++)
        {
            int ms = i * 37 % 300, edits = Volatile.Read(ref file[4]);
            checker.Begin();
            checker.End(Checker.Sits, 0, ms, Work.Sits(ms));
            spanned += Volatile.Read(ref file[4]) != edits ? 1 : 0;
        }
    }

    private struct D0 { }
    private struct D1 { }
    private struct D2 { }
    private struct D3 { }
    private struct D4 { }
    private struct D5 { }
    private struct D6 { }
    private struct D7 { }

    /// <summary>Until the end: every 200 ms makes a method that Small() has not been inlined into
    /// yet.</summary>
    private static void MakeFresh()
    {
        Type[] types = { typeof(D0), typeof(D1), typeof(D2), typeof(D3), typeof(D4), typeof(D5), typeof(D6), typeof(D7) };
        for (int i = 0; Volatile.Read(ref file[1]) == 0; i++)
        {
            if (i < 512)
                fresh = typeof(Caller<,,>).MakeGenericType(types[i >> 6], types[i >> 3 & 7], types[i & 7]).GetMethod("Call")!
                    .CreateDelegate<Func<int, int>>();
            Thread.Sleep(200);
        }
    }

    public static Func<int, int> FreshCaller => fresh;

    private static int Say(List<Checker> all)
    {
        long calls = 0, bad = 0, back = 0, native = 0;
        var known = new long[Checker.Names.Length, 3];
        foreach (Checker checker in all)
        {
            calls += checker.Calls;
            bad += checker.Bad;
            back += checker.Back;
            native += checker.Native;
            for (int i = 0; i < known.Length; i++)
                known[i / 3, i % 3] += checker.Known[i / 3, i % 3];
        }
        string version = "edited: " + Environment.Version;
        for (int i = 0; i < Checker.Names.Length; i++)
            Console.WriteLine($"{version} known Edited.{Checker.Names[i]} {known[i, 0]} {known[i, 1]} {known[i, 2]}");
        Console.WriteLine($"{version} known Edited.Work+<Async> {Seen.machineCalls} {Seen.machineTimed} 0");
        Console.WriteLine($"{version} calls {calls} half {bad} back {back} native {native} " +
                          $"spanned {spanned} machine {Seen.machineEntries - Seen.machineExits}");
        return 0;
    }
}
