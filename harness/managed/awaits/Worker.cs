// SPDX-License-Identifier: MIT
using System;
using System.Collections.Concurrent;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

namespace Sxs.Awaiting;

/// <summary>
/// A thread on which a flow goes on after its awaits, one after the other: so whoever calls an async
/// method on it has come to await it before it goes on.
/// </summary>
internal sealed class Worker : TaskScheduler, INotifyCompletion
{
    private static readonly AsyncLocal<Worker> mine = new();
    private readonly BlockingCollection<Action> queue = new();

    public static Worker Mine => mine.Value!;

    public Worker(int number) => new Thread(Serve) { IsBackground = true, Name = "worker " + number }.Start();

    private void Serve()
    {
        foreach (Action action in queue.GetConsumingEnumerable())
            action();
    }

    public void Post(Action action) => queue.Add(action);

    /// <summary>A flow of its own; complete when it is.</summary>
    public Task Start(Func<Task> flow)
    {
        var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        Post(() =>
        {
            mine.Value = this;
            flow().ContinueWith(task => done.SetResult());
        });
        return done.Task;
    }

    // ---- to be awaited ----

    public Worker GetAwaiter() => this;
    public bool IsCompleted => false;
    public void GetResult() { }
    public void OnCompleted(Action continuation) => Post(continuation);

    // ---- a scheduler ----

    protected override void QueueTask(Task task) => Post(() => TryExecuteTask(task));
    protected override bool TryExecuteTaskInline(Task task, bool queued) => false;
    protected override System.Collections.Generic.IEnumerable<Task> GetScheduledTasks() => Array.Empty<Task>();
}
