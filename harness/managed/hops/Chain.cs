// SPDX-License-Identifier: MIT
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Sxs;

namespace Hops;

/// <summary>
/// This app's part of the chain. Hop k (1 to max) arrives in app k % apps, goes through managed
/// frames of some kind (Shapes), then through the bridge to the next app. Every frame has something
/// to do after its call, so that none is a tail call.
/// </summary>
internal static unsafe class Chain
{
    public static int Index;
    public static int Apps;
    public static int Max;
    public static int Arrived;
    public static bool BottomHere;

    private static readonly Door door = new();
    private static readonly Door.Signature doorEnter = door.Enter;

    /// <summary>Returns the function through which other apps call this one. Apps with an odd index
    /// are entered through a delegate.</summary>
    public static delegate* unmanaged<int, int, nint, void> EntryOf(int index) =>
        EntersByDelegate(index)
            ? (delegate* unmanaged<int, int, nint, void>)
                Marshal.GetFunctionPointerForDelegate(doorEnter)
            : &Enter;

    public static bool EntersByDelegate(int index) => index % 2 == 1;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Start(int max, Order* order)
    {
        Bridge.Hop(1, max, (nint)order);
        order->Frames++;
    }

    [UnmanagedCallersOnly]
    private static void Enter(int depth, int max, nint order) => Arrive(depth - 1, max, order);

    /// <summary>Catches all exceptions, because none may leave a method that native code
    /// called.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Arrive(int hop, int max, nint order)
    {
        Arrived++;
        Max = max;
        try
        {
            return Shapes.Pass(hop, max, order) + 1;
        }
        catch (Exception e)
        {
            Console.Error.WriteLine($"hops: hop {hop} in app {Index}: {e}");
            ((Order*)order)->Faults++;
            return 0;
        }
    }

    /// <summary>The last managed frame of each hop.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Down(int hop, int max, nint order)
    {
        ((Order*)order)->Frames++;
        if (hop < max)
            Bridge.Hop(hop + 1, max, order);
        else
            Probe.Bottom(hop, max, (Order*)order);
        return 1;
    }
}

internal sealed class Door
{
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public delegate void Signature(int depth, int max, nint order);

    [MethodImpl(MethodImplOptions.NoInlining)]
    public void Enter(int depth, int max, nint order) => Chain.Arrive(depth - 1, max, order);
}
