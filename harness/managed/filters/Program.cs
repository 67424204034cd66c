// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;

/// <summary>
/// Throws exceptions that pass filters, on 16 threads that allocate, while another thread collects
/// garbage. Checks that each filter and each handler receives the exception that was thrown.
/// Arguments: "rounds=N". Prints "filters: N exceptions" and ends with 0.
/// </summary>
internal static class Program
{
    private const int Threads = 16;

    private static bool done;
    private static int count;

    private static int Main(string[] args)
    {
        int rounds = args.Length > 0 && args[0].StartsWith("rounds=") ? int.Parse(args[0].Substring(7)) : 1000;
        var threads = new List<Thread>();
        var collector = new Thread(() =>
        {
            for (; !Volatile.Read(ref done); Thread.Sleep(1))
                GC.Collect(Random.Shared.Next(3), GCCollectionMode.Forced, true, true);
        });
        collector.Start();
        for (int t = 0; t < Threads; t++)
        {
            int from = t * rounds;
            threads.Add(new Thread(() =>
            {
                for (int n = from; n < from + rounds; n++)
                    One(n);
            }));
        }
        threads.ForEach(thread => thread.Start());
        threads.ForEach(thread => thread.Join());
        Volatile.Write(ref done, true);
        collector.Join();
        Console.WriteLine($"filters: {count} exceptions");
        return 0;
    }

    private static void One(int n)
    {
        var garbage = new object[16];
        for (int i = 0; i < garbage.Length; i++)
            garbage[i] = new byte[64 + i];
        try
        {
            Filtered(n);
        }
        catch (InvalidOperationException e)
        {
            Check(e, n);
            Interlocked.Increment(ref count);
        }
        GC.KeepAlive(garbage);
    }

    /// <summary>The filter stores its exception, as a logger does; the finally block checks the
    /// stored one.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Filtered(int n)
    {
        Exception? seen = null;
        try
        {
            Thrower(n);
        }
        catch (Exception e) when (Keep(e, out seen))
        {
            Fail("the handler of a filter that refused");
        }
        finally
        {
            Check(seen, n);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static bool Keep(Exception e, out Exception? seen)
    {
        seen = e;
        return false;
    }

    /// <summary>A filter in the throwing method, a filter that throws, and an exception that is
    /// thrown again.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Thrower(int n)
    {
        try
        {
            try
            {
                throw new InvalidOperationException("e" + n);
            }
            catch (InvalidOperationException e) when (n % 7 == 0 && Throws(e))
            {
                Fail("the handler of a filter that threw");
            }
        }
        catch (InvalidOperationException e) when (n % 5 == 0 && e.Message == "e" + n)
        {
            throw;
        }
    }

    private static bool Throws(Exception e) => throw new ArgumentException(e.Message);

    private static void Check(Exception? e, int n)
    {
        if (e is not InvalidOperationException || e.Message != "e" + n)
            Fail("an exception that nobody threw");
    }

    private static void Fail(string what)
    {
        Console.WriteLine("filters: " + what);
        Environment.FailFast(what);
    }
}
