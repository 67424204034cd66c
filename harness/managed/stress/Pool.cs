// SPDX-License-Identifier: MIT
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

namespace Stress;

/// <summary>Work on the thread pool, which starts and ends threads as needed.</summary>
internal static class Pool
{
    /// <summary>Returns how many of n items ran.</summary>
    public static int Items(int n)
    {
        if (n == 0)
            return 0;
        int ran = 0;
        using var done = new CountdownEvent(n);
        for (int i = 0; i < n; i++)
        {
            ThreadPool.QueueUserWorkItem(_ =>
            {
                Interlocked.Increment(ref ran);
                done.Signal();
            });
        }
        done.Wait();
        return ran;
    }

    /// <summary>Returns how many of n tasks, each with several awaits, had the right
    /// result.</summary>
    public static int Tasks(int n) => TasksAsync(n).GetAwaiter().GetResult();

    private static async Task<int> TasksAsync(int n)
    {
        int[] results =
            await Task.WhenAll(Enumerable.Range(0, n).Select(i => Task.Run(() => Twice(i))));
        return results.Where((result, i) => result == 2 * i).Count();
    }

    private static async Task<int> Twice(int i)
    {
        await Task.Yield();
        int half = await Task.Run(() => i);
        if (i % 16 == 0)
            await Task.Delay(1);
        return half + i;
    }
}
