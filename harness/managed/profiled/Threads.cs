// SPDX-License-Identifier: MIT
using System.Runtime.CompilerServices;
using System.Threading;

namespace Profiled;

/// <summary>Named threads, one after the other.</summary>
internal static class Threads
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void RunOne(int number)
    {
        var thread = new Thread(Body) { Name = "profiled-" + number };
        thread.Start();
        thread.Join();
    }

    private static void Body() => Counts.Sum++;
}
