// SPDX-License-Identifier: MIT
using System;
using System.Diagnostics;
using System.IO;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Kinds;

/// <summary>
/// Methods that are running when rules for them come into force. The instrumentation file FILE is
/// replaced by a copy of FILE.1, then of FILE.2. The result of Edition() shows which rules are in
/// force.</summary>
internal static class Edits
{
    private static volatile bool spin, stay;

    private static volatile int spinning;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Edition() => 0;

    /// <summary>A loop without a call.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static long Loop()
    {
        long n = 0;
        spinning++;
        while (spin)
            n++;
        return n;
    }

    /// <summary>Stays on the stack, with n frames, until `stay` is false.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Stays(int n)
    {
        if (n > 1)
            return 1 + Stays(n - 1);
        Interlocked.Increment(ref under);
        while (stay)
            Thread.Sleep(1);
        return 1;
    }

    private static int under;

    private static bool Become(string file, int edition)
    {
        File.Copy($"{file}.{edition}", $"{file}.new.{Environment.Version}", true);
        File.Move($"{file}.new.{Environment.Version}", file, true);
        var clock = Stopwatch.StartNew();
        while (Edition() != edition && clock.ElapsedMilliseconds < 30000)
            Thread.Sleep(1);
        Known.Check(Edition() == edition, "edition " + edition);
        return true;
    }

    public static void Run(string file, string? attached, int n)
    {
        spin = stay = true;
        var looping = new Thread(() => Loop());
        var staying = new Thread(() => Known.Check(Stays(3) == 3, "Stays"));
        looping.Start();
        staying.Start();
        while (spinning == 0 || Volatile.Read(ref under) == 0)
            Thread.Sleep(1);
        Console.WriteLine("kinds: ready");
        while (attached != null && !File.Exists(attached))
            Thread.Sleep(10);
        Become(file, 1);
        spin = stay = false;
        looping.Join();
        staying.Join(); // the calls end in the code in which they began
        for (int i = 0; i < n; i++)
            Known.Check(Loop() == 0 && Stays(3) == 3, "after");
        Become(file, 2);
        for (int i = 0; i < n; i++)
            Known.Check(Loop() == 0 && Stays(3) == 3, "the original");
        Known.Add("Kinds.Edits.Loop", n);
        Known.Add("Kinds.Edits.Stays", 3 * n);
    }
}
