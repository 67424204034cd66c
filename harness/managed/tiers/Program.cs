// SPDX-License-Identifier: MIT
using System;
using System.Diagnostics;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;

namespace Tiers;

/// <summary>Uses CPU time in code of every tier. "seconds=4": each for that time, calls a hot
/// method from its first call on, a method that runs in a single call, and code of the framework.
/// "unload=10": makes that many assemblies one after the other, runs a method of each, and unloads
/// each before the next.</summary>
public static class Program
{
    private static ulong s_sink;

    [StructLayout(LayoutKind.Sequential)]
    private struct TimeSpec
    {
        public long Seconds, Nanoseconds;
    }

    [DllImport("libc", EntryPoint = "clock_gettime")]
    private static extern int ClockGetTime(int clock, out TimeSpec time);

    /// <summary>CPU time of this thread in ns. With CPU time, the number of samples does not depend
    /// on the load of the machine.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static long CpuNow()
    {
        ClockGetTime(3, out TimeSpec t); // CLOCK_THREAD_CPUTIME_ID
        return t.Seconds * 1_000_000_000 + t.Nanoseconds;
    }

    /// <summary>Called often: runs in tier 0, then in tier 1.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int Hot(int n) => n < 2 ? n : Hot(n - 1) + Hot(n - 2);

    /// <summary>Called once: begins in tier 0; its code is replaced while it runs.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Long(long until)
    {
        ulong x = s_sink;
        while (CpuNow() < until)
            for (int i = 0; i < 1000; i++)
                x = x * 2862933555777941757 + 3;
        s_sink = x;
    }

    /// <summary>Work in precompiled methods.</summary>
    private static void Framework(long until)
    {
        var text = new StringBuilder();
        while (CpuNow() < until)
        {
            text.Clear();
            for (int i = 0; i < 100; i++)
                text.Append(i * 1.5m).Append(DateTime.UnixEpoch.AddDays(i));
            s_sink += (ulong)text.Length;
        }
    }

    /// <summary>A method named after its assembly that runs for some milliseconds.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void RunOnce(int number, long ns)
    {
        var assembly = AssemblyBuilder.DefineDynamicAssembly(
            new AssemblyName($"Once{number}"), AssemblyBuilderAccess.RunAndCollect);
        TypeBuilder type = assembly.DefineDynamicModule("m").DefineType($"Once{number}", TypeAttributes.Public);
        ILGenerator il = type.DefineMethod($"Burn{number}", MethodAttributes.Public | MethodAttributes.Static,
            typeof(void), [typeof(long)]).GetILGenerator();
        Label again = il.DefineLabel();
        il.MarkLabel(again);
        for (int i = 0; i < 200; i++)
        {
            il.Emit(OpCodes.Ldc_I8, (long)i);
            il.Emit(OpCodes.Pop);
        }
        il.Emit(OpCodes.Call, typeof(Program).GetMethod("CpuNow")!);
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Blt, again);
        il.Emit(OpCodes.Ret);
        MethodInfo burn = type.CreateType()!.GetMethod($"Burn{number}")!;
        burn.CreateDelegate<Action<long>>()(CpuNow() + ns);
    }

    private static int Main(string[] args)
    {
        double seconds = 0;
        int unload = 0;
        foreach (string arg in args)
        {
            string[] word = arg.Split('=');
            switch (word[0])
            {
                case "seconds": seconds = double.Parse(word[1]); break;
                case "unload": unload = int.Parse(word[1]); break;
                default: throw new ArgumentException(arg);
            }
        }
        long third = (long)(seconds * 1e9 / 3), start = CpuNow();
        while (CpuNow() < start + third)
            s_sink += (ulong)Hot(22);
        if (seconds > 0)
        {
            Long(start + 2 * third);
            Framework(start + 3 * third);
        }
        for (int i = 0; i < unload; i++)
        {
            RunOnce(i, 20_000_000);
            GC.Collect();
            GC.WaitForPendingFinalizers();
            GC.Collect();
        }
        Console.WriteLine($"tiers: .NET {Environment.Version}: done");
        return 0;
    }
}
