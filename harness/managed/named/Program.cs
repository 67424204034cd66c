// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

namespace Named;

/// <summary>
/// Runs threads with names that the kernel cuts, and threads whose lives it measures itself. Each word
/// of the arguments is a step, and they are done in their order:
///   main=NAME         gives the calling thread a name
///   work=MS           threads with long names do every kind of work for so long
///   short=N           N threads with long names, one after the other, that live some 10 ms each
///   many=COUNT:MS:N   COUNT threads "Measured-MS-Thread", N at once, that live MS milliseconds each:
///                     they compute and sleep in turns. Prints the sum of their lives, from the first
///                     line of their code, and from the call that starts them
///   naps=COUNT:MS:N   likewise, and they sleep all the time
///   constructor=MS    a class constructor sleeps so long, and the thread "Waits-For-Constructor" waits for it
///   load=N            from now on N threads compute all the time
/// Exit codes: 0, 2 wrong arguments.
/// </summary>
internal static class Program
{
    private static readonly object gate = new();
    private static volatile bool stop;
    private static object kept = "";

    [DllImport("libc", EntryPoint = "prctl")]
    private static extern int Prctl(int what, byte[] text, nint c, nint d, nint e);

    private static int Main(string[] args)
    {
        foreach (string word in args)
        {
            int at = word.IndexOf('=');
            string name = at < 0 ? word : word[..at], value = at < 0 ? "" : word[(at + 1)..];
            if (!Step(name, value))
            {
                Console.Error.WriteLine($"named: wrong word '{word}'");
                return 2;
            }
        }
        stop = true;
        Console.WriteLine($"named: .NET {Environment.Version}: {args.Length} steps done");
        return 0;
    }

    private static bool Step(string name, string value)
    {
        switch (name)
        {
            case "main": Thread.CurrentThread.Name = value; return true;
            case "work": Work(int.Parse(value)); return true;
            case "constructor": Constructor(int.Parse(value)); return true;
            case "short": Short(int.Parse(value)); return true;
            case "many" or "naps":
                string[] parts = value.Split(':');
                Many(int.Parse(parts[0]), int.Parse(parts[1]), int.Parse(parts[2]), name == "naps");
                return true;
            case "load":
                for (int i = 0; i < int.Parse(value); i++)
                    new Thread(() => { while (!stop) { } }) { IsBackground = true, Name = "Load-That-Computes-All-The-Time" }.Start();
                return true;
            default: return false;
        }
    }

    private static Thread Start(string name, Action body)
    {
        var thread = new Thread(() => body()) { Name = name };
        thread.Start();
        return thread;
    }

    private static void Work(int ms)
    {
        var all = new List<Thread>
        {
            Start("Order-Processor-Shard-1", () => All(ms)),
            Start("Order-Processor-Shard-2", () => All(ms)),
            Start("Grüße-aus-Köln-am-Rhein-1", () => All(ms)),
            Start("Grüße-aus-Köln-am-Rhein-2", () => All(ms)),
            Start("Before-The-Rename-1", () =>
            {
                All(ms / 2);
                Thread.CurrentThread.Name = "After-The-Rename-1";
                All(ms / 2);
            }),
            Start("Managed-Before-Native-1", () =>
            {
                All(ms / 2);
                Prctl(15, "native-says\0"u8.ToArray(), 0, 0, 0);
                All(ms / 2);
            }),
        };
        foreach (Thread thread in all)
            thread.Join();
    }

    private static int constructorMs;

    private static class Slow
    {
        public static readonly int Value;

        static Slow()
        {
            Thread.Sleep(constructorMs);
            Value = Environment.ProcessId;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Touch() => kept = Slow.Value;

    private static void Constructor(int ms)
    {
        constructorMs = ms;
        Thread runs = Start("Runs-Constructor", Touch);
        Thread.Sleep(ms / 10);
        Thread waits = Start("Waits-For-Constructor", Touch);
        runs.Join();
        waits.Join();
    }

    private static void Short(int n)
    {
        for (int i = 1; i <= n; i++)
            Start($"Short-Lived-Worker-{i}", () => All(10)).Join();
    }

    /// <summary>Computes, allocates, throws, and waits for a lock that the others hold.</summary>
    private static void All(int ms)
    {
        var watch = Stopwatch.StartNew();
        do
        {
            lock (gate)
                Thread.Sleep(1);
            for (int i = 0; i < 20; i++)
                Compute(20000);
            kept = new byte[20000];
            Throw();
        }
        while (watch.ElapsedMilliseconds < ms);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int Compute(int n)
    {
        int sum = 0;
        for (int i = 0; i < n; i++)
            sum += i * i ^ sum;
        return sum;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Throw()
    {
        try
        {
            throw new InvalidOperationException(kept.ToString());
        }
        catch (InvalidOperationException)
        {
        }
    }

    private static void Many(int count, int ms, int at_once, bool naps)
    {
        long ticks = 0, started = 0;
        var all = new Queue<Thread>();
        for (int i = 0; i < count; i++)
        {
            if (all.Count == at_once)
                all.Dequeue().Join();
            long calls = Stopwatch.GetTimestamp();
            all.Enqueue(Start($"Measured-{ms}-Milliseconds", () =>
            {
                long began = Stopwatch.GetTimestamp();
                if (naps)
                    Thread.Sleep(ms);
                while (Stopwatch.GetElapsedTime(began).TotalMilliseconds < ms)
                {
                    Compute(200000);
                    Thread.Sleep(1);
                }
                long now = Stopwatch.GetTimestamp();
                Interlocked.Add(ref ticks, now - began);
                Interlocked.Add(ref started, now - calls);
            }));
        }
        while (all.Count > 0)
            all.Dequeue().Join();
        Console.WriteLine(FormattableString.Invariant(
            $"lives: Measured-{ms}-Milliseconds {count} {ticks / (double)Stopwatch.Frequency:F6} {started / (double)Stopwatch.Frequency:F6}"));
    }
}
