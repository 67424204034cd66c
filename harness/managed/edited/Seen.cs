// SPDX-License-Identifier: MIT
using System;
using System.Threading;

namespace Edited;

/// <summary>
/// What lines of IL that were put into methods leave behind, for each thread: the change they are of (its number times 16
/// and what it consists of), and a count of every call that ran new IL of a kind.
/// </summary>
internal static class Seen
{
    public const int Replaced = 1, Wrapped = 2;

#pragma warning disable CS0649 // written by lines of IL alone
    [ThreadStatic] public static int entered, left;
    [ThreadStatic] public static long entries, exits; /* sums of the changes' numbers */
    [ThreadStatic] public static long counted, timed, traced, wrapped, native;
#pragma warning restore CS0649

    /* Of the state machine, whose calls are several threads'. */
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
