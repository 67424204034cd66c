// SPDX-License-Identifier: MIT
using System;
using System.Globalization;
using System.IO;

namespace Bench;

/// <summary>
/// Makes one measurement per run and prints it as lines "bench: NAME VALUE". Arguments:
/// start; methods N, faults N, collections N: time in ns of one of N. compute N, allocate N: times
/// of the process in ms for N units of work; idle MS: while it sleeps; deep N: while it computes
/// above N frames. pairs THREADS: ns per call. millions N, paths N: memory after N million calls,
/// or N call paths. exceptions N: ns of one. rewritten THREADS: ns per call of methods that rules
/// may instrument, and of methods with the same instrumentation written by hand. edits TYPE METHOD
/// ACTION: an edit of the instrumentation file while the program runs. bodies N INSTRUCTIONS
/// [counted]: ns to compile one of N methods of a loaded image, and memory after it.
/// </summary>
internal static class Program
{
    private static int Main(string[] args)
    {
        int n = 0;
        if (args.Length > 1 && !int.TryParse(args[1], out n))
            n = 0;
        switch (args.Length > 0 ? args[0] : "")
        {
            case "start":
                Memory();
                return 0;
            case "methods" when n > 0:
                Print("ns", Methods.Compile(n));
                return 0;
            case "bodies" when n > 0 && args.Length > 2 && int.TryParse(args[2], out int instructions):
                Print("ns", Bodies.Compile(n, instructions, args.Length > 3));
                Memory();
                return 0;
            case "faults" when n > 0:
                Print("ns", Signals.NullReferences(n));
                return 0;
            case "collections" when n > 0:
                Print("ns", Signals.Collections(n));
                return 0;
            case "compute" when n > 0:
                Print(Load.Compute(n));
                return 0;
            case "allocate" when n > 0:
                Print(Load.Allocate(n));
                return 0;
            case "pairs" when n > 0:
                (double fib, double turns) = Calls.Pairs(n);
                Print("fib", fib);
                Print("turns", turns);
                return 0;
            case "millions" when n > 0:
                Calls.Millions(n);
                Memory();
                return 0;
            case "paths" when n > 0:
                Calls.Paths(n);
                Memory();
                return 0;
            case "exceptions" when n > 0:
                Print("ns", Calls.Exceptions(n));
                return 0;
            case "rewritten" when n > 0:
                foreach ((string name, double ns) in Rewritten.Measure(n))
                    Print(name, ns);
                return 0;
            case "edits" when args.Length == 4:
                foreach ((string name, double value) in Edits.Measure(args[1], args[2], args[3]))
                    Print(name, value);
                return 0;
            case "idle" when n > 0:
                Print(Load.Sleep(n));
                return 0;
            case "deep" when n > 0:
                Print(Load.Deep(n));
                return 0;
            default:
                Console.Error.WriteLine(
                    "bench: expected start, or methods, faults, collections, compute, allocate, "
                    + "idle, deep, pairs, millions, paths, exceptions or rewritten and a number; "
                    + "edits TYPE METHOD ACTION; or bodies N INSTRUCTIONS [counted]");
                return 2;
        }
    }

    /// <summary>A memory size of this process as the kernel reports it, in KiB.</summary>
    private static void Memory()
    {
        Print("rss_kib", KiB("/proc/self/status", "VmRSS:"));
        Print("peak_kib", KiB("/proc/self/status", "VmHWM:"));
        Print("private_kib", KiB("/proc/self/smaps_rollup", "Private_Dirty:")
            + KiB("/proc/self/smaps_rollup", "Private_Clean:"));
    }

    private static double KiB(string file, string name)
    {
        foreach (string line in File.ReadLines(file))
        {
            if (line.StartsWith(name, StringComparison.Ordinal))
                return double.Parse(line[name.Length..].Replace("kB", "").Trim(),
                    CultureInfo.InvariantCulture);
        }
        return 0;
    }

    private static void Print(Load.Times times)
    {
        Print("user_ms", times.User);
        Print("both_ms", times.User + times.System);
        Print("took_ms", times.Wall);
        Load.Times all = Load.Times.Now(); // since the process began
        Print("life_ms", all.User + all.System);
    }

    private static void Print(string name, double value) =>
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"bench: {name} {value:F3}"));
}
