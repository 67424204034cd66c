// SPDX-License-Identifier: MIT
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Stress;

/// <summary>Managed code called from native code: the comparisons of libc's qsort.</summary>
internal static unsafe class Callbacks
{
    private const int Len = 16;

    private static int compared; // used by one thread only

    /// <summary>Returns how many of n arrays were sorted correctly, with callbacks.</summary>
    public static int Sort(int n)
    {
        int sorted = 0;
        int* values = stackalloc int[Len];
        for (int i = 0; i < n; i++)
        {
            for (int j = 0; j < Len; j++)
                values[j] = (j * 7 + i) % Len;
            compared = 0;
            QSort(values, Len, sizeof(int), &Compare);
            bool right = compared > 0;
            for (int j = 0; j < Len; j++)
                right &= values[j] == j;
            sorted += right ? 1 : 0;
        }
        return sorted;
    }

    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static int Compare(int* a, int* b)
    {
        compared++;
        return a->CompareTo(*b);
    }

    [DllImport("libc.so.6", EntryPoint = "qsort")]
    private static extern void QSort(
        int* values, nuint len, nuint size, delegate* unmanaged[Cdecl]<int*, int*, int> compare);
}
