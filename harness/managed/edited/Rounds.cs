// SPDX-License-Identifier: MIT
using System;

namespace Edited;

/// <summary>The calls that one thread makes in each round.</summary>
internal sealed class Rounds
{
    private readonly Checker check;
    private readonly Shape shape = new Square();
    private readonly IShape square = new Square();
    private readonly Func<int, int> delegated = Work.Delegated;
    private long tracedAt;

    public Rounds(Checker check) => this.check = check;

    public void Once(int n, bool slow)
    {
        check.Begin();
        check.End(Checker.Plain, Checker.Plain, n, Work.Plain(n));
        check.Begin();
        check.End(Checker.Small, Checker.Small, n, Work.Small(n));
        check.Begin();
        check.End(Checker.Generic, Checker.Generic, n, Work.Generic(1.0, n));
        check.Begin();
        check.End(Checker.Generic, Checker.GenericText, n, Work.Generic("text", n));
        check.Begin();
        check.End(Checker.Recursive, Checker.Recursive, 4, Work.Recursive(4));
        check.Begin();
        check.End(Checker.Virtual, Checker.Virtual, n, shape.Get(n));
        check.Begin();
        check.End(Checker.Virtual, Checker.Interface, n, square.Get(n));
        check.Begin();
        check.End(Checker.Delegated, Checker.Delegated, n, delegated(n));
        check.Begin();
        check.End(Checker.Small, Checker.Fresh, n, Program.FreshCaller(n));
        check.Begin();
        check.End(Checker.Loop, Checker.Loop, n, Work.Loop(n));
        if (slow)
            Slow(n);
    }

    /// <summary>Calls that take more time, or that are recorded one by one.</summary>
    private void Slow(int n)
    {
        bool returned = true;
        int result = 0;
        n = n / 32 + 1;
        check.Begin();
        try
        {
            result = Work.Throws(n);
        }
        catch (InvalidOperationException)
        {
            returned = false;
        }
        check.End(Checker.Throws, Checker.Throws, n, result, returned);
        if (Environment.TickCount64 - tracedAt < 5)
            return;
        tracedAt = Environment.TickCount64;
        check.Begin();
        check.End(Checker.Traced, Checker.Traced, n, Work.Traced(n));
        Seen.machine = 0;
        System.Threading.Tasks.Task<int> task = Work.Async(n);
        check.Note(Checker.Async, Seen.machine); /* Async runs here up to its first await */
        if (task.Result != n + 1)
            throw new InvalidOperationException("wrong: Async");
    }
}
