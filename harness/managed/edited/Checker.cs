// SPDX-License-Identifier: MIT
using System;
using System.Threading;

namespace Edited;

/// <summary>One thread's calls: each is held against what a whole change, or none, would have made of it.</summary>
internal sealed unsafe class Checker
{
    public static readonly string[] Names =
    {
        "Work.Plain", "Work.Small", "Work.Generic", "Work.Recursive", "Work.Throws", "Work.Loop", "Work.Delegated",
        "Work.Traced", "Square.Get", "Work.Sits",
    };
    public const int Plain = 0, Small = 1, Generic = 2, Recursive = 3, Throws = 4, Loop = 5, Delegated = 6, Traced = 7,
        Virtual = 8, Sits = 9;

    /* Places in a thread's line of the file that say what it saw last; the first of them are methods. */
    public const int GenericText = 9, Interface = 10, Fresh = 11, Async = 12, Used = 13, Slots = 16;

    public readonly long[,] Known = new long[Names.Length, 3]; /* calls counted, timed, traced */
    public long Calls, Bad, Back, Native;
    private readonly int* slots;
    private readonly int[] latest = new int[Slots];
    private readonly long[] pairs;
    private long entries, exits, counted, timed, traced, wrapped, native, starts, finishes;

    public Checker(int* slots, long[] pairs)
    {
        this.slots = slots;
        this.pairs = pairs;
        for (int i = 0; i < Slots && slots != null; i++)
            slots[i] = -1;
    }

    public void Begin()
    {
        Seen.entered = Seen.left = 0;
        (entries, exits) = (Seen.entries, Seen.exits);
        (counted, timed, traced) = (Seen.counted, Seen.timed, Seen.traced);
        (wrapped, native) = (Seen.wrapped, Seen.native);
        (starts, finishes) = (pairs[0], pairs[1]);
    }

    public void End(int method, int slot, int n, int result) => End(method, slot, n, result, true);

    /// <summary>A call of @method with @n has ended; it returned @result, or threw.</summary>
    public void End(int method, int slot, int n, int result, bool returned)
    {
        int change = Seen.entered;
        long wraps = Seen.wrapped - wrapped;
        bool fine = wraps == pairs[0] - starts && wraps == pairs[1] - finishes && pairs[2] == 0;
        fine &= !returned || (result == ((change & Seen.Replaced) != 0 ? change : n + 1) &&
                              Seen.entries - entries == Seen.exits - exits);
        if (method != Recursive) /* whose inner calls may be of the next change */
            fine &= Seen.left == (returned ? change : 0) && Seen.entries - entries == change &&
                    wraps == ((change & Seen.Wrapped) != 0 ? 1 : 0);
        Known[method, 0] += Seen.counted - counted;
        Known[method, 1] += Seen.timed - timed;
        Known[method, 2] += Seen.traced - traced;
        Native += Seen.native - native;
        if (!fine && Bad++ < 5)
            Console.WriteLine($"edited: {Environment.Version}: {Names[method]}({n}) = {result}: change {change >> 4}.{change & 15} " +
                              $"left {Seen.left >> 4}.{Seen.left & 15} wraps {wraps} starts {pairs[0] - starts} finishes " +
                              $"{pairs[1] - finishes} bad {pairs[2]} sums {Seen.entries - entries} {Seen.exits - exits}");
        Note(slot, change);
    }

    /// <summary>What was seen there. An older change than before, or one that was gone, has come back.</summary>
    public void Note(int slot, int change)
    {
        Calls++;
        if (slots == null || slots[slot] == change)
            return;
        if (change != 0 && change <= latest[slot] && Back++ < 5)
            Console.WriteLine($"edited: {Environment.Version}: {slot}: change {change >> 4} again, after {slots[slot] >> 4} " +
                              $"and {latest[slot] >> 4}");
        latest[slot] = Math.Max(latest[slot], change);
        Volatile.Write(ref slots[slot], change);
    }
}
