// SPDX-License-Identifier: MIT
using System;
using System.Diagnostics;
using System.Globalization;
using System.Runtime.InteropServices;

namespace Contend;

/// <summary>One wait for a lock, as the program itself measured it.</summary>
internal sealed class Wait
{
    public string Site = "", Type = "";
    public int Waiter, Owner;
    public long LeastNs, MostNs;

    [DllImport("libc", EntryPoint = "gettid")]
    public static extern int Tid();

    public static long Now() => Stopwatch.GetTimestamp() * (1_000_000_000 / Stopwatch.Frequency);

    public override string ToString() => string.Create(CultureInfo.InvariantCulture,
        $"contend: wait {Site} {Type} waiter {Waiter} owner {Owner} least {LeastNs} most {MostNs}");
}
