// SPDX-License-Identifier: MIT
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Leaks;

/// <summary>Native memory, by P/Invoke.</summary>
internal static unsafe class NativeBuffers
{
    /// <summary>Allocates 1000 bytes that nobody frees.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Leak(int number)
    {
        byte* buffer = (byte*)Malloc(1000);
        buffer[0] = (byte)number;
    }

    /// <summary>Allocates 1000 bytes and frees them.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Use(int number)
    {
        byte* buffer = (byte*)Malloc(1000);
        buffer[0] = (byte)number;
        Free(buffer);
    }

    [DllImport("libc.so.6", EntryPoint = "malloc")]
    private static extern void* Malloc(nuint size);

    [DllImport("libc.so.6", EntryPoint = "free")]
    private static extern void Free(void* memory);
}
