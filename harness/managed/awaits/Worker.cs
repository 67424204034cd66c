// SPDX-License-Identifier: MIT
using System;
using System.Collections.Concurrent;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

namespace Sxs.Awaiting;

/// <summary>
/// A thread that runs the continuations of a flow, one after the other. Therefore the caller of an
/// async method has awaited the method before the method continues.
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

    /// <summary>Starts a flow on this worker. The task returned completes when the flow
    /// does.</summary>
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

    // ---- the awaiter ----

    public Worker GetAwaiter() => this;
    public bool IsCompleted => false;
    public void GetResult() { }
    public void OnCompleted(Action continuation) => Post(continuation);

    // ---- the scheduler ----

    protected override void QueueTask(Task task) => Post(() => TryExecuteTask(task));
    protected override bool TryExecuteTaskInline(Task task, bool queued) => false;
    protected override System.Collections.Generic.IEnumerable<Task> GetScheduledTasks() => Array.Empty<Task>();
}
