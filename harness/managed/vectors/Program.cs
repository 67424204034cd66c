// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Threading;

namespace Vectors;

/// <summary>
/// Computes with values that compiled code keeps in vector registers: arguments, results, and
/// values that are alive at a tail call. The sum of each computation is known; a line says how many
/// were wrong. Arguments: rounds=N (200); lines=N (0): prints N numbered lines first.
/// </summary>
internal static class Program
{
    private static readonly Dictionary<string, int> Wrong = new();
    private static long _checked;

    private static void Check(string name, long expected, long actual)
    {
        _checked++;
        if (expected == actual)
            return;
        Wrong.TryGetValue(name, out int n);
        Wrong[name] = n + 1;
    }

    private static void Round(int seed)
    {
        Check("Passed.Two", Plain.Passed(seed), Passed.Two(seed));
        Check("Passed.Mixed", Plain.Mixed(seed), Passed.Mixed(seed));
        Check("Passed.Numerics", Plain.Numerics(seed), Passed.Numerics(seed));
        Check("Passed.Wide", Plain.Wide(seed), Passed.Wide(seed));
        Check("Passed.Widest", Plain.Widest(seed), Passed.Widest(seed));
        Check("Passed.Generic", Plain.Passed(seed), Passed.Generic<string>(seed));
        Check("Tails.Two", Plain.Tail(seed, 6), Tails.Two(seed, 6));
        Check("Tails.Wide", Plain.WideTail(seed, 6), Tails.Wide(seed, 6));
        Check("Tails.Store", Plain.Tail(seed, 6), Tails.Stored(seed, 6));
        Check("Tails.Passed", Plain.Turned(seed), Tails.Passed(seed));
        Check("Tails.PassedWide", Plain.TurnedWide(seed), Tails.PassedWide(seed));
        Check("Tails.Copied", Plain.Copied(seed), Tails.Copied(seed));
    }

    private static int Main(string[] args)
    {
        int rounds = 200, lines = 0;
        foreach (string arg in args)
        {
            string[] pair = arg.Split('=');
            if (pair[0] == "rounds")
                rounds = int.Parse(pair[1]);
            else if (pair[0] == "lines")
                lines = int.Parse(pair[1]);
        }
        for (int i = 0; i < lines; i++)
            Console.WriteLine($"line {i}: the quick brown fox jumps over the lazy dog {i * 7919L} 0123456789 abcdefghijklmnopqrstuvwxyz");
        for (int i = 0; i < rounds; i++)
        {
            Round(i);
            if (i == rounds / 2)
                Thread.Sleep(300); /* the runtime recompiles the methods with optimization */
        }
        foreach (KeyValuePair<string, int> pair in Wrong)
            Console.Write($"vectors: {pair.Key} was wrong {pair.Value} times\n");
        Console.Write($"vectors: {_checked} sums, {Wrong.Count} computations wrong\n");
        return Wrong.Count == 0 ? 0 : 1;
    }
}
