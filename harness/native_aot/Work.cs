// SPDX-License-Identifier: MIT
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

/// <summary>Faults and collections inside a NativeAOT library, beside the process's CLRs.</summary>
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

    /// <summary>Takes <paramref name="faults"/> null references and collects
    /// <paramref name="collections"/> times against a loop without safepoints.</summary>
    /// <returns>How many null references arrived as exceptions.</returns>
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
