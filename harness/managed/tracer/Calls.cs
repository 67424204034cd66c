// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;

namespace Tracer;

/// <summary>Methods that instrumentation files call. They count their calls; the counts are printed
/// when the process ends.</summary>
public static class Calls
{
    private static readonly SortedDictionary<string, int> counts = new();

    static Calls() => AppDomain.CurrentDomain.ProcessExit += (_, _) =>
    {
        lock (counts)
        {
            foreach ((string what, int count) in counts)
                Console.WriteLine($"tracer: {count} {what}");
        }
    };

    private static void Count(string what)
    {
        lock (counts)
        {
            counts.TryGetValue(what, out int had);
            counts[what] = had + 1;
        }
    }

    private static string Kind(object? value) => value?.GetType().Name ?? "null";

    public static void Before(object n) => Count("before " + Kind(n));

    public static void Number(int n) => Count(n < 0 ? "negative" : "number");

    public static void After(object result, object exception) =>
        Count($"after {Kind(result)} {Kind(exception)}");

    public static object Start(object argument)
    {
        Count("start " + Kind(argument));
        return "state " + argument;
    }

    public static void Finish(object state, object result, object exception) =>
        Count($"finish {Kind(state)} {Kind(result)} {Kind(exception)}");

    public static int Larger() => 1000;

    public static void Throws(object n)
    {
        Count("throws");
        throw new InvalidOperationException("a tracer's own failure");
    }

    public class Nested
    {
        public static void Text(string text) => Count("text " + text);
    }
}
