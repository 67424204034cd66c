// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Text;
using System.Threading;

namespace Memory;

/// <summary>Work that allocates as programs do, and mixes of types whose shares are known.</summary>
internal static class Work
{
    private static int sink;

    // The JIT leaves out objects that nothing refers to.
    private static volatile object? last;

    /// <summary>n rounds in which words are split, counted and sorted, and put into texts
    /// again.</summary>
    public static void Words(int n)
    {
        for (int i = 0; i < n; i++)
            sink += Round(i);
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

    /// <summary>Objects of three types in a random order: of ten, six Small, three Medium, one Big on
    /// average. Returns how many of each.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int[] Mix(int n, uint seed)
    {
        var made = new int[3];
        for (int i = 0; i < n; i++)
        {
            switch (Next(ref seed) % 10)
            {
                case < 6:
                    last = new Small();
                    made[0]++;
                    break;
                case < 9:
                    last = new Medium();
                    made[1]++;
                    break;
                default:
                    last = new Big();
                    made[2]++;
                    break;
            }
        }
        return made;
    }

    /// <summary>Objects of six sizes in a random order, with about the same number of bytes of each:
    /// Small, and arrays of 1,024, 4,096, 8,024, 12,824 and 30,024 bytes. Returns how many of
    /// each.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int[] Spread(int n, uint seed)
    {
        var made = new int[6];
        for (int i = 0; i < n; i++)
        {
            uint kind = Next(ref seed) % 480; // 400 : 60 : 15 : 2 : 2 : 1
            int size = kind < 400 ? 0 : kind < 460 ? 1 : kind < 475 ? 2 : kind < 477 ? 3 : kind < 479 ? 4 : 5;
            made[size]++;
            last = size switch
            {
                0 => new Small(),
                1 => new short[500],
                2 => new int[1018],
                3 => new long[1000],
                4 => new double[1600],
                _ => new float[7500],
            };
        }
        return made;
    }

    private static uint Next(ref uint state)
    {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        return state;
    }

    /// <summary>n arrays of 48 bytes and n of 56, in turn: a rhythm of 104 bytes, of which the
    /// distance of the reports in .NET 8 and 9 is a multiple.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Alternate(int n)
    {
        for (int i = 0; i < n; i++)
        {
            last = new long[3];
            last = new short[16];
        }
    }

    /// <summary>n arrays of 20,000 bytes, each followed by four small objects: contexts of different
    /// sizes.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Uneven(int n)
    {
        for (int i = 0; i < n; i++)
        {
            last = new float[5000 - 6];
            for (int j = 0; j < 4; j++)
                last = new Medium();
        }
    }

    /// <summary>n arrays of one size for each of four sizes from 4 to 20 kB, each array followed by one Small:
    /// a new context begins with nearly every array.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Rhythm(int n)
    {
        foreach (int size in new[] { 4_000, 8_168, 12_000, 20_000 })
        {
            for (int i = 0; i < n; i++)
            {
                last = new byte[size];
                last = new Small();
            }
        }
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
