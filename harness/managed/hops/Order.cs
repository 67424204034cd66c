// SPDX-License-Identifier: MIT
using System.Runtime.InteropServices;

namespace Hops;

/// <summary>
/// What the first app wants done and what was done, in native memory: every hop, in whatever
/// runtime it is, gets its address. Only the thread that makes the hops touches it.
/// </summary>
[StructLayout(LayoutKind.Sequential)]
internal unsafe struct Order
{
    /// <summary>Frames counted on the way down by those that lie between two hops.</summary>
    public int Frames;

    /// <summary>How often the last hop was reached: 1 in the end.</summary>
    public int Bottoms;

    /// <summary>Whatever did not hold.</summary>
    public int Faults;

    /// <summary>UTF-8, parted by commas: the stacks to print at the bottom; may be empty.</summary>
    public byte* Modes;

    /// <summary>UTF-8: the printed stack of a mode goes to Prefix.mode; empty for stdout.</summary>
    public byte* Prefix;
}
