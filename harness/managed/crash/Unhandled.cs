// SPDX-License-Identifier: MIT
using System;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

namespace Crash;

/// <summary>
/// Throws an exception that nobody handles, at the place that the argument of Throw names. Each is
/// thrown by Deeper(), two frames below the first managed function of its thread, or more.
/// </summary>
internal static class Unhandled
{
    public static readonly string[] Places =
        { "below", "finally", "filter", "replaced", "again", "thread", "pool", "async", "asyncvoid", "timer", "finalizer" };

    /// <summary>Returns false if there is no such place, else does not return.</summary>
    public static bool Throw(string place)
    {
        switch (place)
        {
            case "below":
                Deep();
                break;
            case "finally":
                InFinally();
                break;
            case "filter":
                InFilter();
                break;
            case "replaced":
                Replaced();
                break;
            case "again":
                Again();
                break;
            case "thread":
                new Thread(Deep).Start();
                break;
            case "pool":
                ThreadPool.QueueUserWorkItem(_ => Deep());
                break;
            case "async":
                Async().GetAwaiter().GetResult();
                break;
            case "asyncvoid":
                AsyncVoid();
                break;
            case "timer":
                s_timer = new Timer(_ => Deep(), null, 1, Timeout.Infinite);
                break;
            case "finalizer":
                Leave();
                GC.Collect();
                GC.WaitForPendingFinalizers();
                break;
            default:
                return false;
        }
        Thread.Sleep(10_000);
        return true;
    }

    private static Timer? s_timer;

    private static class Explicit
    {
        static Explicit() => throw new ArgumentException("on request");
    }

    /// <summary>The runtime catches the exception of a static constructor, and throws another one.</summary>
    public static void CaughtByNativeCode()
    {
        try
        {
            RuntimeHelpers.RunClassConstructor(typeof(Explicit).TypeHandle);
        }
        catch (TypeInitializationException)
        {
            Console.WriteLine("crash: caught");
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Deep()
    {
        Deeper();
        GC.KeepAlive(s_timer);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Deeper() => throw new InvalidOperationException("an exception nobody handles");

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void InFinally()
    {
        try
        {
            Deep();
        }
        finally
        {
            Console.WriteLine("crash: in finally");
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void InFilter()
    {
        try
        {
            Deep();
        }
        catch (Exception e) when (e.Message.Length == 1)
        {
            Console.WriteLine("crash: in catch");
        }
    }

    // The first exception is caught; its handler throws the one that nobody handles.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Replaced()
    {
        try
        {
            throw new ArgumentException("caught");
        }
        catch (ArgumentException)
        {
            Deep();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Again()
    {
        try
        {
            Deep();
        }
        catch (InvalidOperationException)
        {
            throw;
        }
    }

    private static async Task Async()
    {
        await Task.Delay(1).ConfigureAwait(false);
        Deep();
    }

    private static async void AsyncVoid()
    {
        await Task.Delay(1).ConfigureAwait(false);
        Deep();
    }

    private sealed class Finalized
    {
        ~Finalized() => Deep();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Leave() => _ = new Finalized();
}
