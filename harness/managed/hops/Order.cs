// SPDX-License-Identifier: MIT
using System.Runtime.InteropServices;

namespace Hops;

/// <summary>
/// The request of the first app, and the counts of what was done. It lies in native memory, and
/// every hop in every runtime receives its address. Only the thread that makes the hops uses it.
/// </summary>
[StructLayout(LayoutKind.Sequential)]
internal unsafe struct Order
{
    /// <summary>Number of times that Chain.Start and Chain.Down were entered.</summary>
    public int Frames;

    /// <summary>How often the last hop was reached; must be 1 at the end.</summary>
    public int Bottoms;

    /// <summary>Number of failed checks.</summary>
    public int Faults;

    /// <summary>UTF-8, separated by commas: the kinds of stacks to print at the last hop; may be
    /// empty.</summary>
    public byte* Modes;

    /// <summary>UTF-8: the stack of a mode is printed to the file Prefix.mode; empty: to
    /// stdout.</summary>
    public byte* Prefix;
}
