// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.Loader;
using System.Threading;
using System.Threading.Tasks;

namespace Instrumented;

/// <summary>
/// Calls methods a known number of times, so that tests can compare the counts of instrumentation
/// with it. Arguments: "rounds=N threads=N contexts=N watch=MS fib=N told=N edit=MS". Prints
/// "instrumented: known COUNT NAME" for each method. With watch, prints the results of Answer() and
/// Text() whenever they change, for MS milliseconds or until a file exists that is named as the
/// instrumentation file with ".end" appended.
/// </summary>
internal static class Program
{
    private static readonly Dictionary<string, long> known = new();

    private static void Know(string name, long count)
    {
        lock (known)
        {
            known.TryGetValue("Instrumented." + name, out long had);
            known["Instrumented." + name] = had + count;
        }
    }

    private static void Check(bool fine, string what)
    {
        if (!fine)
            throw new InvalidOperationException("wrong: " + what);
    }

    private static int Main(string[] args)
    {
        var options = new Dictionary<string, int>
            { ["rounds"] = 100, ["threads"] = 1, ["watch"] = 0, ["fib"] = 0, ["contexts"] = 0, ["told"] = 0,
              ["edit"] = 0 };
        foreach (string arg in string.Join(' ', args).Split(' ', StringSplitOptions.RemoveEmptyEntries))
        {
            string[] word = arg.Split('=');
            if (word.Length != 2 || !options.ContainsKey(word[0]))
                throw new ArgumentException(arg);
            options[word[0]] = int.Parse(word[1]);
        }
        Console.WriteLine($"instrumented: runtime {Environment.Version} answer {Work.Answer()} text {Work.Text()}");
        Know("Work.Answer", 1);
        Know("Work.Text", 1);
        var threads = new List<Thread>();
        for (int i = 0; i < options["threads"]; i++)
            threads.Add(new Thread(() => Rounds(options["rounds"])));
        threads.ForEach(thread => thread.Start());
        threads.ForEach(thread => thread.Join());
        for (int i = 0; i < options["contexts"]; i++)
            Context(i % 2 != 0);
        for (int i = 0; i < 10 && options["contexts"] > 0; i++)
            GC.Collect();
        if (options["edit"] > 0)
            Edit(options["edit"]);
        if (options["fib"] > 0)
            Time(options["fib"]);
        if (options["told"] > 0)
            Tell(options["told"]);
        if (options["watch"] > 0)
            Watch(options["watch"]);
        foreach ((string name, long count) in known)
            Console.WriteLine($"instrumented: known {count} {name}");
        return 0;
    }

    private static void Rounds(int rounds)
    {
        var work = new Work();
        int caught = 0, sum = 0, n = 0;
        for (int i = 0; i < rounds; i++)
        {
            Check(Work.Static(i) == i + 1, "Static");
            work.Instance(i);
            sum += i;
            Check(Work.Loop(i) >= 0, "Loop");
            Check(Work.Generic(i) == i, "Generic int");
            Check(Work.Generic("x" + i) == "x" + i, "Generic string");
            Check(Work.Generic((double)i) == i, "Generic double");
            Check(Work.Small(i) == 2 * i, "Small");
            try
            {
                Check(Work.Throws(i) == i, "Throws");
            }
            catch (InvalidOperationException)
            {
                caught++;
            }
            Work.Void(ref n);
            Check(new Work.Nested<string>("y").Value == "y", "Nested");
            Check(Work.Async(i).Result == i, "Async");
            foreach (int item in Work.Items(3))
                sum += 0 * item;
        }
        Check(work.Instance(0) == sum, "Instance");
        Check(caught == (rounds + 2) / 3, "caught");
        Check(n == Math.Min(rounds, 101), "Void");
        foreach (string name in new[] { "Static", "Loop", "Small", "Throws", "Void", "Async", "Items", "Nested.get_Value" })
            Know("Work." + name, rounds);
        Know("Work.Instance", rounds + 1);
        Know("Work.Generic", 3 * rounds);
    }

    private static void Time(int n)
    {
        for (int i = 0; i < 30; i++)
        {
            Work.Fib(15);
            Thread.Sleep(5);
        }
        long start = Stopwatch.GetTimestamp();
        int result = Work.Fib(n);
        double ns = (Stopwatch.GetTimestamp() - start) * 1e9 / Stopwatch.Frequency;
        double calls = 1;
        for (double a = 1, i = 0; i < n; i++)
            (a, calls) = (calls, a + calls + 1);
        Console.WriteLine($"instrumented: time {ns / calls:F2} ns a call of Fib {result}");
    }

    /// <summary>Calls Told() with many values on 16 threads that allocate, while another thread
    /// collects garbage.</summary>
    private static void Tell(int rounds)
    {
        bool done = false;
        var threads = new List<Thread>();
        var collector = new Thread(() =>
        {
            for (; !Volatile.Read(ref done); Thread.Sleep(1))
                GC.Collect(Random.Shared.Next(3), GCCollectionMode.Forced, true, true);
        });
        collector.Start();
        for (int t = 0; t < 16; t++)
        {
            int from = t * rounds;
            threads.Add(new Thread(() =>
            {
                for (int n = from; n < from + rounds; n++)
                    TellOne(n);
            }));
        }
        threads.ForEach(thread => thread.Start());
        threads.ForEach(thread => thread.Join());
        Volatile.Write(ref done, true);
        collector.Join();
        Know("Work.Told", 16L * rounds);
    }

    private static void TellOne(int n)
    {
        string by = "a" + n;
        var garbage = new object[16];
        for (int i = 0; i < garbage.Length; i++)
            garbage[i] = new byte[64 + i];
        var pair = new Work.Pair { Text = "p" + n, N = n };
        try
        {
            switch (n % 3)
            {
                case 0: Check(Work.Told(n, "t" + n, pair, n, ref by, out _) == n, "Told int"); break;
                case 1: Check(Work.Told(n, "t" + n, pair, "v" + n, ref by, out _) == "v" + n, "Told string"); break;
                default: Check(Work.Told(n, "t" + n, pair, pair, ref by, out _).N == n, "Told pair"); break;
            }
        }
        catch (InvalidOperationException e)
        {
            Check(e.Message == "e" + n, "Told's exception");
        }
        Check(by == "b" + n && garbage[15] != null, "Told by reference");
    }

    /// <summary>Loads this assembly once more, in a separate load context, and calls a method of
    /// it.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Context(bool collectible)
    {
        var context = new AssemblyLoadContext(null, collectible);
        Assembly copy = context.LoadFromAssemblyPath(typeof(Program).Assembly.Location);
        MethodInfo method = copy.GetType("Instrumented.Work")!.GetMethod("Static")!;
        Check(copy != typeof(Program).Assembly, "a context of its own");
        for (int i = 0; i < 10; i++)
            Check((int)method.Invoke(null, new object[] { i })! == i + 1, "Static in a context");
        if (collectible)
            context.Unload();
    }

    /// <summary>
    /// A load context that edits the instrumentation file while Loads() is being compiled: the
    /// runtime calls Load() at that time to find an assembly that Loads() references. Load()
    /// renames the file FILE.next to FILE, then delays the compilation for some time.
    /// </summary>
    private sealed class Editing : AssemblyLoadContext
    {
        private readonly int ms;

        public Editing(int ms) => this.ms = ms;

        protected override Assembly? Load(AssemblyName name)
        {
            string file = Environment.GetEnvironmentVariable("SXSPROF_INSTRUMENT")!;
            if (name.Name != "System.Text.RegularExpressions" || !File.Exists(file + ".next"))
                return null;
            File.Move(file + ".next", file, true);
            Thread.Sleep(ms);
            Console.WriteLine("instrumented: edited while it compiled");
            return null;
        }
    }

    private static void Edit(int ms)
    {
        Assembly copy = new Editing(ms).LoadFromAssemblyPath(typeof(Program).Assembly.Location);
        MethodInfo method = copy.GetType("Instrumented.Work")!.GetMethod("Loads")!;
        var clock = Stopwatch.StartNew();
        int now;
        while ((now = (int)method.Invoke(null, new object[] { 3 })!) == 9 && clock.Elapsed.TotalSeconds < 20)
            Thread.Sleep(1);
        Console.WriteLine($"instrumented: loads {now}");
    }

    private static void Watch(int ms)
    {
        var clock = Stopwatch.StartNew();
        string last = "", end = Environment.GetEnvironmentVariable("SXSPROF_INSTRUMENT") + ".end";
        do // at least once, however late this thread comes to a processor
        {
            Check(Work.CallsTwice(3) == 7, "CallsTwice");
            string now = Work.Answer() + " " + Work.Text();
            if (now != last)
                Console.WriteLine($"instrumented: at {clock.ElapsedMilliseconds} ms of {Environment.Version}: {now}");
            last = now;
            Thread.Sleep(1);
        } while (clock.ElapsedMilliseconds < ms && !File.Exists(end));
    }
}
