// SPDX-License-Identifier: MIT
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Leaks;

/// <summary>Native memory.</summary>
internal static unsafe class NativeBuffers
{
    private static readonly byte[] text = System.Text.Encoding.ASCII.GetBytes(new string('x', 999) + "\0");

    /// <summary>Calls a native function whose result, 1000 bytes, has to be freed by the caller, and forgets it.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Leak(int number)
    {
        fixed (byte* from = text)
        {
            byte* copy = Duplicate(from);
            copy[0] = (byte)number;
        }
    }

    /// <summary>Allocates 1000 bytes and frees them.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Use(int number)
    {
        byte* buffer = (byte*)NativeMemory.Alloc(1000);
        buffer[0] = (byte)number;
        NativeMemory.Free(buffer);
    }

    [DllImport("libc.so.6", EntryPoint = "strdup")]
    private static extern byte* Duplicate(byte* text);
}
