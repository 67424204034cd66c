// SPDX-License-Identifier: MIT
using System;

namespace Tracer;

/// <summary>
/// A wrapper that holds each finish against its start: the same thread, the innermost call that is open, the
/// exception or the result. Each thread counts for itself, so that many may call.
/// </summary>
public static class Pairs
{
    public const int Starts = 0, Finishes = 1, Bad = 2;

    private sealed class Call
    {
        public Call? Outer;
        public int Argument;
        public long[]? Owner;
    }

    [ThreadStatic] private static long[]? mine;
    [ThreadStatic] private static Call? top;

    /// <summary>The calling thread's numbers: starts, finishes, those that were wrong.</summary>
    public static long[] Mine() => mine ??= new long[3];

    public static object Start(int n)
    {
        long[] own = Mine();
        own[Starts]++;
        return top = new Call { Outer = top, Argument = n, Owner = own };
    }

    /// <summary>Results are the argument and one more, but for those of methods that threw.</summary>
    public static void Finish(object state, int result, object exception)
    {
        long[] own = Mine();
        own[Finishes]++;
        if (state is not Call call || call != top || call.Owner != own ||
            (exception == null && result != call.Argument + 1))
        {
            own[Bad]++;
            return;
        }
        top = call.Outer;
        call.Owner = null; /* once */
    }
}
