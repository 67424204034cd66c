// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Text;
using System.Threading;

namespace Memory;

/// <summary>Work that allocates as programs do, and mixes of types whose shares are known.</summary>
internal static class Work
{
    private static int sink;

    /// <summary>Words are split, counted and sorted, and put into texts again: some 300 KB each
    /// round. Returns the time that n rounds took.</summary>
    public static double Words(int n)
    {
        var clock = Stopwatch.StartNew();
        for (int i = 0; i < n; i++)
            sink += Round(i);
        return clock.Elapsed.TotalMilliseconds;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int Round(int seed)
    {
        var text = new StringBuilder();
        for (int i = 0; i < 1000; i++)
            text.Append("word").Append((i * 31 + seed) % 211).Append(' ');
        var counts = new Dictionary<string, List<int>>();
        string[] words = text.ToString().Split(' ', StringSplitOptions.RemoveEmptyEntries);
        for (int i = 0; i < words.Length; i++)
        {
            if (!counts.TryGetValue(words[i], out List<int>? places))
                counts[words[i]] = places = new List<int>();
            places.Add(i);
        }
        return counts.OrderBy(pair => pair.Value.Count).Select(pair => pair.Key.ToUpperInvariant())
            .Sum(word => word.Length);
    }

    /// <summary>Objects of three types in a random order that does not change: of ten, six Small,
    /// three Medium, one Big on average. Returns how many of each.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static (int Small, int Medium, int Big) Mix(int n)
    {
        (int Small, int Medium, int Big) made = default;
        uint state = 12345;
        object? last = null;
        for (int i = 0; i < n; i++)
        {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            switch (state % 10)
            {
                case < 6:
                    last = new Small();
                    made.Small++;
                    break;
                case < 9:
                    last = new Medium();
                    made.Medium++;
                    break;
                default:
                    last = new Big();
                    made.Big++;
                    break;
            }
        }
        GC.KeepAlive(last);
        return made;
    }

    /// <summary>n objects of one type and n of another of the same size, in turn: the worst order
    /// for a sample at fixed distances.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Alternate(int n)
    {
        object? last = null;
        for (int i = 0; i < n; i++)
        {
            last = new Holder<long>();
            last = new Outer.Inner();
        }
        GC.KeepAlive(last);
    }

    /// <summary>n arrays of 20,000 bytes, each followed by four small objects: contexts of different
    /// sizes.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Uneven(int n)
    {
        object? last = null;
        for (int i = 0; i < n; i++)
        {
            last = new float[5000 - 6];
            for (int j = 0; j < 4; j++)
                last = new Medium();
        }
        GC.KeepAlive(last);
    }

    /// <summary>Runs work on n threads at once.</summary>
    public static void OnThreads(int n, Action work)
    {
        var threads = new Thread[n];
        for (int i = 0; i < n; i++)
        {
            threads[i] = new Thread(() => work());
            threads[i].Start();
        }
        foreach (Thread thread in threads)
            thread.Join();
    }
}
