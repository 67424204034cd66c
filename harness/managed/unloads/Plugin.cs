// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;

namespace Unloads;

/// <summary>The code that runs in each load context.</summary>
public static class Plugin
{
    private sealed class Failure : Exception
    {
        public Failure(string message) : base(message) { }
    }

    private struct Mark
    {
        public int Number;
    }

    /* Instantiations over types of this assembly; they are unloaded with it. */
    private static int Keep(int n)
    {
        var marks = new List<Mark>();
        var failures = new Dictionary<Mark, Failure[]>();
        for (int i = 0; i < n; i++)
        {
            marks.Add(new Mark { Number = i });
            failures[marks[i]] = new Failure[i];
        }
        return marks.Count - failures.Count;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Fail(int n) => throw new Failure("plugin " + n);

    /// <summary>Throws and catches exceptions; returns their number.</summary>
    public static int Run(int n)
    {
        int caught = Keep(n);
        for (int i = 0; i < n; i++)
        {
            try
            {
                Fail(i);
            }
            catch (Failure)
            {
                caught++;
            }
        }
        return caught;
    }
}
