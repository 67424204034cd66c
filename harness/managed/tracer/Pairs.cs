// SPDX-License-Identifier: MIT
using System;

namespace Tracer;

/// <summary>
/// Methods for a wrapping action. Checks that each Finish matches its Start: the same thread, the
/// innermost open call, the exception or the result. Counts are per thread, so that many threads
/// may call.</summary>
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

    /// <summary>Counts of the calling thread: starts, finishes, wrong finishes.</summary>
    public static long[] Mine() => mine ??= new long[3];

    public static object Start(int n)
    {
        long[] own = Mine();
        own[Starts]++;
        return top = new Call { Outer = top, Argument = n, Owner = own };
    }

    /// <summary>The result must be the argument plus one, unless the method threw.</summary>
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
        call.Owner = null; /* a second Finish of this call is wrong */
    }
}
