// SPDX-License-Identifier: MIT
using System;
using System.Threading;

namespace Edited;

/// <summary>Checks the calls of one thread: each must have run under exactly one change, or under
/// none.</summary>
internal sealed unsafe class Checker
{
    public static readonly string[] Names =
    {
        "Work.Plain", "Work.Small", "Work.Generic", "Work.Recursive", "Work.Throws", "Work.Loop", "Work.Delegated",
        "Work.Traced", "Square.Get", "Work.Sits",
    };
    public const int Plain = 0, Small = 1, Generic = 2, Recursive = 3, Throws = 4, Loop = 5, Delegated = 6, Traced = 7,
        Virtual = 8, Sits = 9;

    /* Slots of a thread in the file, for the change that it saw last. Methods have slots 0 to 8. */
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

    /// <summary>Checks a call that has ended: of method <paramref name="method"/> with argument
    /// <paramref name="n"/>; it returned <paramref name="result"/>, or threw.</summary>
    public void End(int method, int slot, int n, int result, bool returned)
    {
        int change = Seen.entered;
        long wraps = Seen.wrapped - wrapped;
        bool fine = wraps == pairs[0] - starts && wraps == pairs[1] - finishes && pairs[2] == 0;
        fine &= !returned || (result == ((change & Seen.Replaced) != 0 ? change : n + 1) &&
                              Seen.entries - entries == Seen.exits - exits);
        if (method != Recursive) /* its inner calls may run under the next change */
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

    /// <summary>Records the change that a call ran under. Reports a change that is older than one
    /// seen before, or that was removed before.</summary>
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
