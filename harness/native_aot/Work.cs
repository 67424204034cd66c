// SPDX-License-Identifier: MIT
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

/// <summary>Work of a NativeAOT library, beside the CLRs of the process: faults and
/// collections.</summary>
public static class Work
{
    private static volatile bool s_stop;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int Length(string text) => text.Length;

    private static void Loop()
    {
        long sum = 0;
        while (!s_stop)
            for (int i = 0; i < 10_000_000; i++)
                sum += i;
        GC.KeepAlive(sum);
    }

    /// <summary>Causes <paramref name="faults"/> null references, then collects garbage
    /// <paramref name="collections"/> times while another thread loops without
    /// safepoints.</summary> <returns>The number of null references that became
    /// exceptions.</returns>
    [UnmanagedCallersOnly(EntryPoint = "sxs_aot_work")]
    public static int Run(int faults, int collections)
    {
        int caught = 0;
        for (int i = 0; i < faults; i++)
        {
            try
            {
                Length(null!);
            }
            catch (NullReferenceException)
            {
                caught++;
            }
        }
        s_stop = false;
        var looper = new Thread(Loop);
        looper.Start();
        for (int i = 0; i < collections; i++)
            GC.Collect();
        s_stop = true;
        looper.Join();
        return caught;
    }
}
