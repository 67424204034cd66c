// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

namespace Sxs.Awaiting;

/// <summary>Async methods that await each other in every way. Each receives the names of the
/// methods that await it.</summary>
internal static class Chains
{
    /// <summary>Awaiting this continues the method when the flow's worker has finished its current
    /// action.</summary>
    public static Worker Later() => Worker.Mine;

    private static string[] With(string[] by, params string[] methods)
    {
        var all = new string[methods.Length + by.Length];
        methods.CopyTo(all, 0);
        by.CopyTo(all, methods.Length);
        return all;
    }

    // ---- tasks ----

    private static async Task Leaf(params string[] by)
    {
        string[] want = With(by, "Leaf");
        await Later();
        Expect.Stack(want);
        await Task.Yield();
        Expect.Stack(want);
        await Later();
        Expect.Stack(want);
    }

    private static async Task Middle(params string[] by)
    {
        await Leaf(With(by, "Middle"));
        Expect.Stack(With(by, "Middle"));
        await Leaf(With(by, "Middle")).ConfigureAwait(false);
        Expect.Stack(With(by, "Middle"));
    }

    public static async Task Tasks()
    {
        await Middle("Tasks");
        Expect.Stack("Tasks");
    }

    private static async Task<T> Result<T>(T value, params string[] by)
    {
        string[] want = With(by, "Result");
        await Leaf(want);
        Expect.Stack(want);
        return value;
    }

    private record struct Large(decimal A, decimal B, string? C);

    public static async Task<int> Results()
    {
        await Result(1, "Results");
        Expect.Stack("Results");
        await Result("text", "Results");
        await Result(new Large(1, 2, "c"), "Results");
        await Result(1.5m, "Results");
        Expect.Stack("Results");
        return await Result((byte)1, "Results").ConfigureAwait(false);
    }

    public static async Task Depth(int depth, params string[] by)
    {
        string[] want = With(by, "Depth");
        if (depth > 1)
            await Depth(depth - 1, want);
        else
            await Leaf(want);
        Expect.Stack(want);
    }

    // ---- value tasks ----

    private static async ValueTask Value(params string[] by)
    {
        string[] want = With(by, "Value");
        await Leaf(want);
        Expect.Stack(want);
    }

    private static async ValueTask<long> ValueOf(params string[] by)
    {
        string[] want = With(by, "ValueOf");
        await Value(want);
        Expect.Stack(want);
        return 1;
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    private static async ValueTask Pooled(params string[] by)
    {
        string[] want = With(by, "Pooled");
        await Leaf(want);
        Expect.Stack(want);
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private static async ValueTask<T> PooledOf<T>(T value, params string[] by)
    {
        string[] want = With(by, "PooledOf");
        await Pooled(want);
        Expect.Stack(want);
        await ValueOf(want).ConfigureAwait(false);
        Expect.Stack(want);
        return value;
    }

    public static async Task ValueTasks()
    {
        await ValueOf("ValueTasks");
        Expect.Stack("ValueTasks");
        await PooledOf(1, "ValueTasks");
        await PooledOf("text", "ValueTasks");
        await PooledOf(new Large(), "ValueTasks").ConfigureAwait(false);
        Expect.Stack("ValueTasks");
        await Pooled("ValueTasks").AsTask();
        Expect.Stack("ValueTasks");
    }

    // ---- void, iterators ----

    private static async void Void(TaskCompletionSource done)
    {
        await Middle("Void");
        Expect.Stack("Void");
        done.SetResult();
    }

    public static async Task Voids()
    {
        var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        Void(done);
        await done.Task;
        Expect.Stack("Voids");
    }

    private static async IAsyncEnumerable<int> Items(int n, params string[] by)
    {
        string[] want = With(by, "Items");
        for (int i = 0; i < n; i++)
        {
            await Leaf(want);
            Expect.Stack(want);
            yield return i;
        }
    }

    private static async IAsyncEnumerable<int> Twice(params string[] by)
    {
        string[] want = With(by, "Twice");
        await foreach (int i in Items(2, want))
        {
            yield return i;
            await Value(want);
            Expect.Stack(want);
            yield return i;
        }
    }

    public static async Task Iterators()
    {
        await foreach (int i in Items(3, "Iterators"))
            await Leaf("Iterators");
        Expect.Stack("Iterators");
        await foreach (int i in Twice("Iterators").ConfigureAwait(false))
            await Leaf("Iterators");
        Expect.Stack("Iterators");
    }

    // ---- tasks made by the framework ----

    public static async Task All()
    {
        await Task.WhenAll(Leaf("All"), Middle("All"), Result(1, "All"));
        Expect.Stack("All");
        await Task.WhenAll(Result(1, "All"), Result(2, "All"));
        Expect.Stack("All");
    }

    public static async Task Any()
    {
        await Task.WhenAny(Leaf("Any"), new TaskCompletionSource().Task);
        Expect.Stack("Any");
        await Task.WhenAny(Result(1, "Any"), new TaskCompletionSource<int>().Task,
            new TaskCompletionSource<int>().Task);
        Expect.Stack("Any");
    }

    /// <summary>Runs on a pool thread, not on the worker, so it may continue before it is
    /// awaited.</summary>
    private static Task OnPool() => Leaf("?Runs");

    public static async Task Runs()
    {
        await Task.Run(OnPool);
        Expect.Stack("Runs");
        await Later();
        await Task.Factory.StartNew(OnPool).Unwrap();
        Expect.Stack("Runs");
    }

    public static async Task Continues()
    {
        await Leaf("Continues").ContinueWith(_ => 1);
        Expect.Stack("Continues");
        await Later();
        await Leaf("Continues").WaitAsync(TimeSpan.FromMinutes(10));
        Expect.Stack("Continues");
    }

    private static async Task Fails(params string[] by)
    {
        await Leaf(With(by, "Fails"));
        throw new InvalidOperationException("known");
    }

    public static async Task Catches()
    {
        try
        {
            await Fails("Catches");
        }
        catch (InvalidOperationException)
        {
            Expect.Stack("Catches");
            await Leaf("Catches");
        }
        Expect.Stack("Catches");
    }

    // ---- contexts ----

    private sealed class Context : SynchronizationContext
    {
        private readonly Worker worker = Worker.Mine;

        public override void Post(SendOrPostCallback call, object? state) => worker.Post(() =>
        {
            SetSynchronizationContext(this);
            call(state);
            SetSynchronizationContext(null);
        });
    }

    public static async Task InContext()
    {
        SynchronizationContext.SetSynchronizationContext(new Context());
        await Middle("InContext");
        Expect.Stack("InContext");
    }

    private static async Task Scheduled()
    {
        await Middle("Scheduled", "OnScheduler");
        Expect.Stack("Scheduled", "OnScheduler");
    }

    public static async Task OnScheduler()
    {
        await Task.Factory.StartNew(Scheduled, CancellationToken.None, TaskCreationOptions.None,
            Worker.Mine).Unwrap();
        Expect.Stack("OnScheduler");
    }

    // ---- an awaiter of the program's own ----

    private sealed class Awaitable : INotifyCompletion
    {
        private readonly Task task;
        public Awaitable(Task task) => this.task = task;
        public Awaitable GetAwaiter() => this;
        public bool IsCompleted => task.IsCompleted;
        public void GetResult() => task.GetAwaiter().GetResult();
        public void OnCompleted(Action continuation) => task.GetAwaiter().OnCompleted(continuation);
    }

    public static async Task Own()
    {
        await new Awaitable(Middle("Own"));
        Expect.Stack("Own");
    }

    // ---- tasks that no method awaits, or more than one ----

    private static async Task First(Task shared)
    {
        await shared;
        Expect.Stack("First", "Shared");
    }

    private static async Task Second(Task shared)
    {
        await shared;
        Expect.Stack("Second", "Shared");
    }

    private static async Task Late(Task ready, params string[] by)
    {
        string[] want = With(by, "Late");
        await ready;
        await Later();
        Expect.Stack(want);
    }

    /// <summary>A task that two methods await: its logical stack has neither of them.</summary>
    public static async Task Shared()
    {
        var ready = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        Task shared = Late(ready.Task), first = First(shared), second = Second(shared);
        Task both = Task.WhenAll(first, second);
        ready.SetResult();
        await both;
        Expect.Stack("Shared");
    }

    /// <summary>A task that a thread waits for without awaiting it.</summary>
    public static async Task Blocks()
    {
        await Task.Run(() => Late(Task.CompletedTask).Wait());
        Expect.Stack("Blocks");
        await Later();
        Task late = Leaf();
        await Task.Run(() => late.Wait());
        Expect.Stack("Blocks");
    }
}
