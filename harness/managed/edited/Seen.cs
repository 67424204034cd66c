// SPDX-License-Identifier: MIT
using System;
using System.Threading;

namespace Edited;

/// <summary>
/// Fields that the inserted lines of IL write, for each thread: the change that the IL belongs to
/// (16 times its number, plus flags for its contents), and the number of calls that ran new IL of
/// each kind.</summary>
internal static class Seen
{
    public const int Replaced = 1, Wrapped = 2;

#pragma warning disable CS0649 // written by inserted IL only
    [ThreadStatic] public static int entered, left;
    [ThreadStatic] public static long entries, exits; /* sums of the change numbers */
    [ThreadStatic] public static long counted, timed, traced, wrapped, native;
#pragma warning restore CS0649

    /* Fields for the async state machine, whose calls run on several threads. */
    [ThreadStatic] public static int machine;
    public static long machineEntries, machineExits, machineCalls, machineTimed;

    public static void Machine(int change)
    {
        machine = change;
        Interlocked.Add(ref machineEntries, change);
    }

    public static void MachineCounted() => Interlocked.Increment(ref machineCalls);

    public static void MachineTimed() => Interlocked.Increment(ref machineTimed);

    public static void MachineLeft(int change) => Interlocked.Add(ref machineExits, change);
}
