// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.ExceptionServices;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;

namespace Calls;

/// <summary>
/// Random exceptions: ways to throw, pass on, filter and catch them, nested at random. Every method
/// counts its own calls; every block compares the stacks (Probe).
/// </summary>
internal static class Storm
{
    public static readonly Dictionary<string, long> Counts = new();

    private sealed class Tempest : Exception
    {
        public Tempest(Exception? inner) : base("known", inner) { }
    }

    private static uint dice;

    private static int Roll(int sides)
    {
        dice ^= dice << 13;
        dice ^= dice >> 17;
        dice ^= dice << 5;
        return (int)(dice % (uint)sides);
    }

    /// <summary>Counts one call of the calling method. The calls of Count itself are not checked,
    /// so it may be inlined.</summary>
    private static void Count([CallerMemberName] string name = "")
    {
        lock (Counts)
            Counts[name] = Counts.GetValueOrDefault(name) + 1;
    }

    public static void Run(int rounds, int seed)
    {
        Count();
        dice = (uint)seed * 2654435761u + 99;
        for (int i = 0; i < rounds; i++)
        {
            try
            {
                Step(3 + Roll(4));
            }
            catch (Exception)
            {
                Probe.Here("catch in Run");
            }
            Probe.Here("Run");
        }
    }

    private static void Step(int depth)
    {
        Count();
        if (depth <= 0)
        {
            Probe.Here("leaf");
            if (Roll(3) != 0)
                Throw();
            return;
        }
        switch (Roll(19))
        {
            case 0: Plain(depth); break;
            case 1: CatchAll(depth); break;
            case 2: Rethrow(depth); break;
            case 3: ThrowAnother(depth); break;
            case 4: Finally(depth); break;
            case 5: FilterTrue(depth); break;
            case 6: FilterFalse(depth); break;
            case 7: FilterThrows(depth); break;
            case 8: Iterate(depth); break;
            case 9: Awaits(depth).GetAwaiter().GetResult(); break;
            case 10: NullReference(depth); break;
            case 11: ThroughNative(depth); break;
            case 12: Of(depth, "a"); Of(depth - 2, 1); break;
            case 13: Reflected(depth); break;
            case 14: Statics(depth); break;
            case 15: OtherThread(depth); break;
            case 16: Large(depth); break;
            case 17: FinallyThrows(depth); break;
            default: Delegates(depth); break;
        }
    }

    private static void Throw()
    {
        Count();
        throw new Tempest(null);
    }

    private static void Plain(int depth)
    {
        Count();
        Step(depth - 1);
        Probe.Here("Plain");
        Step(depth - 2);
    }

    private static void CatchAll(int depth)
    {
        Count();
        try
        {
            Step(depth - 1);
        }
        catch (Exception)
        {
            Probe.Here("catch");
            Step(depth - 2);
            Probe.Here("catch, later");
        }
        Probe.Here("behind catch");
    }

    private static void Rethrow(int depth)
    {
        Count();
        try
        {
            Step(depth - 1);
        }
        catch (Tempest)
        {
            Probe.Here("catch that rethrows");
            throw;
        }
    }

    private static void ThrowAnother(int depth)
    {
        Count();
        try
        {
            Step(depth - 1);
        }
        catch (Exception e)
        {
            Probe.Here("catch that throws");
            throw new Tempest(e);
        }
    }

    private static void Finally(int depth)
    {
        Count();
        try
        {
            Step(depth - 1);
        }
        finally
        {
            Probe.Here("finally");
            CatchAll(depth - 2);
            Probe.Here("finally, later");
        }
        Probe.Here("behind finally");
    }

    private static void FinallyThrows(int depth)
    {
        Count();
        try
        {
            Step(depth - 1);
        }
        finally
        {
            Step(depth - 2);
            Probe.Here("finally that did not throw");
        }
    }

    private static bool Filter(int depth, bool answer)
    {
        Count();
        Probe.Here("called by filter");
        if (depth > 2)
            CatchAll(depth - 3);
        Probe.Here("called by filter, later");
        return answer;
    }

    private static bool BadFilter(int depth)
    {
        Count();
        Probe.Here("called by filter that throws");
        try
        {
            Step(depth - 3);
        }
        finally
        {
            Probe.Here("finally in filter that throws");
        }
        throw new Tempest(null);
    }

    private static void FilterTrue(int depth)
    {
        Count();
        try
        {
            Step(depth - 1);
        }
        catch (Exception) when (Filter(depth, true))
        {
            Probe.Here("catch behind filter");
        }
        Probe.Here("behind filtered catch");
    }

    private static void FilterFalse(int depth)
    {
        Count();
        try
        {
            Finally(depth - 1);
        }
        catch (Exception) when (Filter(depth, false))
        {
            Probe.Here("never");
        }
        Probe.Here("behind catch that was not");
    }

    private static void FilterThrows(int depth)
    {
        Count();
        try
        {
            Step(depth - 1);
        }
        catch (Exception) when (BadFilter(depth))
        {
            Probe.Here("never");
        }
        Probe.Here("behind catch of a bad filter");
    }

    private static IEnumerable<int> Items(int depth)
    {
        try
        {
            yield return 1;
            Step(depth - 2);
            Probe.Here("iterator");
            yield return 2;
        }
        finally
        {
            Probe.Here("iterator's finally");
        }
    }

    private static void Iterate(int depth)
    {
        Count();
        foreach (int i in Items(depth))
        {
            Probe.Here("loop");
            if (i == 2)
                Step(depth - 1);
        }
    }

    private static async Task Awaits(int depth)
    {
        try
        {
            Step(depth - 2);
            await Task.Yield();
            Probe.Here("continuation");
            Step(depth - 2);
            await Inner(depth - 1);
        }
        catch (Tempest)
        {
            Probe.Here("catch in async");
            await Task.Yield();
            Probe.Here("catch in async, continued");
            throw;
        }
        finally
        {
            Probe.Here("finally in async");
            await Task.Yield();
        }
    }

    private static async Task Inner(int depth)
    {
        await Task.Yield();
        Step(depth - 1);
    }

    private sealed class Node
    {
        public int Value = 1;
    }

    private static int ReadNull(Node? node)
    {
        Count();
        return node!.Value;
    }

    private static void NullReference(int depth)
    {
        Count();
        try
        {
            ReadNull(null);
        }
        catch (NullReferenceException) when (Filter(0, true))
        {
            Probe.Here("catch of a fault");
            Step(depth - 1);
        }
    }

    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    private delegate int Compare(nint a, nint b);

    [DllImport("libc", EntryPoint = "qsort")]
    private static extern unsafe void Sort(int* items, nint n, nint size, nint compare);

    /// <summary>Throws within a callback of native code. No exception may cross native frames, so
    /// it is caught in the callback and thrown again after the native call.</summary>
    private static unsafe void ThroughNative(int depth)
    {
        Count();
        int* two = stackalloc int[2];
        ExceptionDispatchInfo? caught = null;
        Compare compare = (_, _) =>
        {
            try
            {
                Step(depth - 1);
            }
            catch (Exception e)
            {
                Probe.Here("catch below native frames");
                caught = ExceptionDispatchInfo.Capture(e);
            }
            return 0;
        };
        Sort(two, 2, sizeof(int), Marshal.GetFunctionPointerForDelegate(compare));
        GC.KeepAlive(compare);
        Probe.Here("above native frames");
        caught?.Throw();
    }

    private static void Of<T>(int depth, T value)
    {
        Count();
        try
        {
            Step(depth - 1);
        }
        finally
        {
            Probe.Here("finally of a generic method " + (value is int ? "int" : "string"));
        }
    }

    private static void Called(int depth)
    {
        Count();
        Probe.Here("called by reflection");
        Step(depth - 1);
    }

    private static void Reflected(int depth)
    {
        Count();
        try
        {
            typeof(Storm).GetMethod(nameof(Called), System.Reflection.BindingFlags.Static
                | System.Reflection.BindingFlags.NonPublic)!.Invoke(null, new object[] { depth });
        }
        catch (System.Reflection.TargetInvocationException e)
        {
            Probe.Here("catch of what reflection wrapped");
            throw e.InnerException!;
        }
    }

    private static int NextStatic;

    private static class Bad<T>
    {
        public static readonly int Value;

        static Bad()
        {
            Count("Bad..cctor");
            Probe.Here("static constructor");
            try
            {
                Throw();
            }
            finally
            {
                Probe.Here("finally in a static constructor");
            }
            Value = 1;
        }
    }

    /// <summary>The first use of a type fails in its static constructor; later uses throw the same
    /// exception again.</summary>
    private static void Statics(int depth)
    {
        Count();
        try
        {
            _ = (NextStatic++ % 6) switch
            {
                0 => Bad<int>.Value, 1 => Bad<long>.Value, 2 => Bad<byte>.Value,
                3 => Bad<char>.Value, 4 => Bad<float>.Value, _ => Bad<double>.Value,
            };
        }
        catch (TypeInitializationException)
        {
            Probe.Here("catch of a static constructor's failure");
        }
        Step(depth - 1);
    }

    private static void OtherThread(int depth)
    {
        Count();
        var thread = new Thread(() =>
        {
            Probe.Here("thread");
            try { Step(depth - 1); } catch (Exception) { Probe.Here("catch on a thread"); }
        });
        thread.Start();
        thread.Join();
    }

    private static void Large(int depth)
    {
        Count();
        Span<byte> much = stackalloc byte[10000 + depth * 1000];
        much[depth] = 1;
        try
        {
            Step(depth - 1);
        }
        catch (Tempest) when (much[depth] == 1)
        {
            Probe.Here("catch in a large frame");
            Step(depth - 2);
        }
        Probe.Here("large frame");
    }

    private static void Delegates(int depth)
    {
        Count();
        Action<int> all = d => Probe.Here("delegate");
        all += d => Step(d - 1);
        all += d => Probe.Here("last delegate");
        all(depth);
    }
}
