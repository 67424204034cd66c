// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Bench;

/// <summary>
/// Measures an edit of the instrumentation file while the program runs, from the edit until the
/// last method has its new code. The methods are those of System.Private.Xml. Environment:
/// SXSPROF_INSTRUMENT, a file that this program writes; SXSPROF_OUT, the session.
/// </summary>
internal static class Edits
{
    // struct sxs_instrument_header, session/format/instrument.h
    private const int ChangesAt = 88, SpentAt = 1120, SpentSize = 24;
    private enum Spent { Load, Match, Revert, Rejit, Weave, End }

    /// <summary>Number, total ns, and longest ns.</summary>
    private sealed class Header
    {
        public readonly ulong Changes;
        private readonly ulong[] numbers = new ulong[3 * (int)Spent.End];

        public Header(string file)
        {
            var bytes = new byte[SpentAt + SpentSize * (int)Spent.End];
            using var stream = new FileStream(file, FileMode.Open, FileAccess.Read,
                FileShare.ReadWrite);
            stream.ReadExactly(bytes);
            Changes = BitConverter.ToUInt64(bytes, ChangesAt);
            for (int i = 0; i < numbers.Length; i++)
                numbers[i] = BitConverter.ToUInt64(bytes, SpentAt + 8 * i);
        }

        public double N(Spent kind) => numbers[3 * (int)kind];
        public double Ns(Spent kind) => numbers[3 * (int)kind + 1];
        public double LongestNs(Spent kind) => numbers[3 * (int)kind + 2];
    }

    private static readonly string file = Environment.GetEnvironmentVariable("SXSPROF_INSTRUMENT")!;
    private static string record = "";

    private static void Write(string rules)
    {
        File.WriteAllText(file + ".new", "<instrumentation xmlns=\"urn:sxsprof:instrumentation:1\">"
            + rules + "</instrumentation>");
        File.Move(file + ".new", file, true);
    }

    /// <summary>Returns the methods with these names, without those of generic types, whose
    /// instantiations are unknown.</summary>
    private static List<RuntimeMethodHandle> MethodsOf(string type, string method)
    {
        const BindingFlags Declared = BindingFlags.DeclaredOnly | BindingFlags.Public
            | BindingFlags.NonPublic | BindingFlags.Static | BindingFlags.Instance;
        var found = new List<RuntimeMethodHandle>();
        foreach (Type t in Assembly.Load("System.Private.Xml").GetTypes())
        {
            bool named = type.EndsWith('*')
                ? t.FullName!.StartsWith(type[..^1], StringComparison.Ordinal) : t.FullName == type;
            if (t.IsGenericType || !named)
                continue;
            foreach (MethodBase m in t.GetMembers(Declared).OfMethods())
            {
                if (!m.IsAbstract && !m.ContainsGenericParameters && m.GetMethodBody() != null
                    && (method == "*" || m.Name == method))
                    found.Add(m.MethodHandle);
            }
        }
        return found;
    }

    private static IEnumerable<MethodBase> OfMethods(this MemberInfo[] all)
    {
        foreach (MemberInfo m in all)
        {
            if (m is MethodBase method)
                yield return method;
        }
    }

    /// <summary>Makes the runtime compile on this thread the methods that are not compiled. Returns
    /// the CPU time in ns.</summary>
    private static double Prepare(List<RuntimeMethodHandle> methods)
    {
        double began = Calls.ThreadNow();
        foreach (RuntimeMethodHandle method in methods)
            RuntimeHelpers.PrepareMethod(method);
        return Calls.ThreadNow() - began;
    }

    private static volatile bool stop;
    private static long longestGap;

    /// <summary>A thread that only reads the clock. A gap between two reads shows that the runtime
    /// suspended it.</summary>
    private static void Spin()
    {
        long last = Stopwatch.GetTimestamp();
        while (!stop)
        {
            long now = Stopwatch.GetTimestamp();
            if (now - last > longestGap)
                longestGap = now - last;
            last = now;
        }
    }

    /// <summary>Returns the time from the edit until all runtimes were asked, and the longest
    /// suspension during that time, both in ns.</summary>
    private static (double InForce, double Stop) Apply(string rules)
    {
        ulong changes = new Header(record).Changes;
        longestGap = 0;
        stop = false;
        var spinner = new Thread(Spin);
        spinner.Start();
        Thread.Sleep(5);
        longestGap = 0;
        long began = Stopwatch.GetTimestamp();
        Write(rules);
        while (new Header(record).Changes == changes)
        {
            Thread.Sleep(1);
            if (Stopwatch.GetElapsedTime(began).TotalSeconds > 60)
                throw new TimeoutException("the edit did not come into force");
        }
        double ns = Stopwatch.GetElapsedTime(began).TotalNanoseconds;
        stop = true;
        spinner.Join();
        return (ns, longestGap * 1e9 / Stopwatch.Frequency);
    }

    /// <summary>Measures an edit. <paramref name="type"/>: a full name, or the beginning of names
    /// and *; <paramref name="method"/>: a name or *; <paramref name="action"/>: an XML
    /// element.</summary>
    public static IEnumerable<(string, double)> Measure(string type, string method, string action)
    {
        record = Directory.GetFiles(Environment.GetEnvironmentVariable("SXSPROF_OUT")!, "instrument",
            SearchOption.AllDirectories)[0];
        List<RuntimeMethodHandle> methods = MethodsOf(type, method);
        double compiled = Prepare(methods), again = Prepare(methods);
        var before = new Header(record);
        (double inForce, double stopped) = Apply("<rule><match assembly=\"System.Private.Xml\" type=\""
            + $"{type}\" method=\"{method}\"/>{action}</rule>");
        double recompiled = Prepare(methods);
        var after = new Header(record);
        (double reverted, double stoppedToRevert) = Apply("");
        double Took(Spent kind) => after.Ns(kind) - before.Ns(kind);
        double n = after.N(Spent.Weave) - before.N(Spent.Weave);
        yield return ("compiled", methods.Count);
        yield return ("woven", n);
        yield return ("jit_us", (compiled - again) / methods.Count / 1e3);
        yield return ("rejit_us", (recompiled - again - Took(Spent.Weave)) / n / 1e3);
        yield return ("weave_us", Took(Spent.Weave) / n / 1e3);
        yield return ("weave_longest_us", after.LongestNs(Spent.Weave) / 1e3);
        yield return ("load_ms", Took(Spent.Load) / 1e6);
        yield return ("match_ms", Took(Spent.Match) / 1e6);
        yield return ("ask_ms", Took(Spent.Rejit) / 1e6);
        yield return ("ask_longest_ms", after.LongestNs(Spent.Rejit) / 1e6);
        yield return ("in_force_ms", inForce / 1e6);
        yield return ("stop_ms", stopped / 1e6);
        yield return ("reverted_ms", reverted / 1e6);
        yield return ("stop_revert_ms", stoppedToRevert / 1e6);
    }
}
