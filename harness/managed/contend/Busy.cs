// SPDX-License-Identifier: MIT
using System;
using System.Globalization;
using System.Runtime.InteropServices;
using System.Threading;

namespace Contend;

/// <summary>Work for `make bench`: locks that no other thread wants, and items of the thread
/// pool. Prints "bench: NAME NS", the CPU time of one piece, of the thread or of the
/// process.</summary>
internal static class Busy
{
    private const int ProcessCpu = 2, ThreadCpu = 3;

    [DllImport("libc", EntryPoint = "clock_gettime")]
    private static extern unsafe int ReadClock(int clock, long* time);

    private static unsafe long Cpu(int clock)
    {
        long* time = stackalloc long[2];
        _ = ReadClock(clock, time);
        return time[0] * 1_000_000_000 + time[1];
    }

    public static void Locks(int thousands)
    {
        var own = new object();
        long began = Cpu(ThreadCpu), sum = 0;
        for (int i = 0; i < thousands * 1000; i++)
        {
            lock (own)
                sum += i ^ sum >> 3;
        }
        Print("locked", Cpu(ThreadCpu) - began, thousands, sum);
    }

    public static void Items(int thousands)
    {
        long began = Cpu(ProcessCpu), sum = 0;
        using var done = new CountdownEvent(thousands * 1000);
        for (int i = 0; i < thousands * 1000; i++)
        {
            ThreadPool.UnsafeQueueUserWorkItem(_ =>
            {
                for (int k = 0; k < 200; k++)
                    Volatile.Write(ref sum, k);
                done.Signal();
            }, null);
        }
        done.Wait();
        Print("items", Cpu(ProcessCpu) - began, thousands, sum);
    }

    private static void Print(string name, long ns, int thousands, long sum) =>
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"bench: {name} {ns / (thousands * 1000.0):F3}{(sum == long.MinValue ? " " : "")}"));
}
