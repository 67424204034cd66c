// SPDX-License-Identifier: MIT
using System;
using System.Globalization;
using System.Threading;

namespace Contend;

/// <summary>Work for `make bench`: locks that no other thread wants, and items of the thread
/// pool. Prints "bench: NAME NS", the time of one piece.</summary>
internal static class Busy
{
    public static void Locks(int thousands)
    {
        var own = new object();
        long began = Wait.Now(), sum = 0;
        for (int i = 0; i < thousands * 1000; i++)
        {
            lock (own)
                sum += i ^ sum >> 3;
        }
        Print("locked", Wait.Now() - began, thousands, sum);
    }

    public static void Items(int thousands)
    {
        long began = Wait.Now(), sum = 0;
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
        Print("items", Wait.Now() - began, thousands, sum);
    }

    private static void Print(string name, long ns, int thousands, long sum) =>
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"bench: {name} {ns / (thousands * 1000.0):F3}{(sum == long.MinValue ? " " : "")}"));
}
