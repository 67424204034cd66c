// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Linq;

namespace Stress;

/// <summary>Counts of results, and of the results expected. Any thread.</summary>
internal sealed class Tally
{
    private readonly object gate = new();
    private readonly SortedDictionary<string, (long Found, long Wanted)> counts = new();
    private bool failed;

    public bool Right
    {
        get
        {
            lock (gate)
                return !failed && counts.Values.All(count => count.Found == count.Wanted);
        }
    }

    public void Add(string name, int found, int wanted)
    {
        lock (gate)
        {
            (long Found, long Wanted) count = counts.GetValueOrDefault(name);
            counts[name] = (count.Found + found, count.Wanted + wanted);
        }
    }

    public void Fail(Exception e)
    {
        lock (gate)
            failed = true;
        Console.Error.WriteLine($"stress: {e}");
    }

    public override string ToString()
    {
        lock (gate)
            return string.Join(", ", counts.Select(count =>
                $"{count.Key} {count.Value.Found} of {count.Value.Wanted}"));
    }
}
