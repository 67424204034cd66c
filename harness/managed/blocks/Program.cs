// SPDX-License-Identifier: MIT
using System;
using System.IO;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

namespace Blocks;

/// <summary>
/// Allocates known numbers of blocks of native memory. Each word of the arguments is a step, and
/// they are done in their order:
///   keep:FUNCTION:BYTES=N   N blocks of so many bytes, which are not freed
///   drop:FUNCTION:BYTES=N   N blocks, each of which is freed at once
///   on=N                    the steps that follow are done on N threads at once, N blocks on each
///   pairs=N, trees=N        work of N blocks, whose CPU time in ns for each is printed
///   xml=N                   the same for N elements of XML documents
///   ready=FILE              creates a file; until=FILE waits until a file exists
/// FUNCTION is one of those in harness/bridge/allocate.c, or "pinvoke", which calls malloc() and
/// free() in "libc". Exit codes: 0, 2 wrong arguments.
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
            if (!Step(name, value))
            {
                Console.Error.WriteLine($"blocks: wrong word '{word}'");
                return 2;
            }
        }
        Console.WriteLine($"blocks: .NET {Environment.Version}: {args.Length} steps done");
        return 0;
    }

    private static bool Step(string name, string value)
    {
        string[] parts = name.Split(':');
        switch (parts[0])
        {
            case "keep": return OnThreads(() => Cache.Fill(parts[1], long.Parse(parts[2]), int.Parse(value)));
            case "drop": return OnThreads(() => Loop.Pass(parts[1], long.Parse(parts[2]), int.Parse(value)));
            case "pairs" or "trees" or "xml":
                Console.WriteLine(FormattableString.Invariant(
                    $"bench: {parts[0]} {Native.AllocationNs(parts[0], int.Parse(value)):F3}"));
                return true;
            case "on": threads = int.Parse(value); return true;
            case "ready": File.WriteAllText(value, ""); return true;
            case "until":
                while (!File.Exists(value))
                    Thread.Sleep(10);
                return true;
            default: return false;
        }
    }

    private static bool OnThreads(Func<bool> work)
    {
        int done = 0;
        if (threads == 1)
            return work();
        Thread[] all = new Thread[threads];
        for (int i = 0; i < threads; i++)
        {
            all[i] = new Thread(() => Interlocked.Add(ref done, work() ? 1 : 0));
            all[i].Start();
        }
        foreach (Thread thread in all)
            thread.Join();
        return done == threads;
    }
}

internal static class Native
{
    [DllImport("sxsbridge", EntryPoint = "sxsbridge_allocate")]
    internal static extern int Allocate(string function, long bytes, int n, int keep);

    /// <summary>Blocks by P/Invokes of the C library itself.</summary>
    internal static bool AllocateByLibc(nint bytes, int n, bool keep)
    {
        for (int i = 0; i < n; i++)
        {
            nint block = Malloc(bytes);
            if (block == 0)
                return false;
            if (!keep)
                Free(block);
        }
        return true;
    }

    [DllImport("libc", EntryPoint = "malloc")]
    private static extern nint Malloc(nint bytes);

    [DllImport("libc", EntryPoint = "free")]
    private static extern void Free(nint block);

    [DllImport("sxsbridge", EntryPoint = "sxsbridge_allocation_ns")]
    internal static extern double AllocationNs(string work, int n);
}

/// <summary>A cache that is never emptied: its blocks are the leak.</summary>
internal static class Cache
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    internal static bool Fill(string function, long bytes, int n)
    {
        return function == "pinvoke" ? Native.AllocateByLibc((nint)bytes, n, true) :
            Native.Allocate(function, bytes, n, 1) == 0;
    }
}

internal static class Loop
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    internal static bool Pass(string function, long bytes, int n)
    {
        return function == "pinvoke" ? Native.AllocateByLibc((nint)bytes, n, false) :
            Native.Allocate(function, bytes, n, 0) == 0;
    }
}
