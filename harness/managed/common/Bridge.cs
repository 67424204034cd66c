// SPDX-License-Identifier: MIT
using System.Runtime.InteropServices;

namespace Sxs;

/// <summary>The functions of libsxsbridge.so, see harness/bridge/bridge.h.</summary>
internal static unsafe class Bridge
{
    private const string Library = "sxsbridge";

    [DllImport(Library, EntryPoint = "sxsbridge_join")]
    public static extern int Join(delegate* unmanaged<int, int, nint, void> entry);

    [DllImport(Library, EntryPoint = "sxsbridge_index")]
    public static extern int Index();

    [DllImport(Library, EntryPoint = "sxsbridge_apps")]
    public static extern int Apps();

    [DllImport(Library, EntryPoint = "sxsbridge_hop")]
    public static extern void Hop(int depth, int max, nint arg);

    [DllImport(Library, EntryPoint = "sxsbridge_leave")]
    public static extern int Leave();

    [DllImport(Library, EntryPoint = "sxsbridge_crash")]
    public static extern int Crash([MarshalAs(UnmanagedType.LPUTF8Str)] string kind);
}
