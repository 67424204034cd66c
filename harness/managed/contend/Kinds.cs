// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Net;
using System.Net.Sockets;
using System.Runtime.InteropServices;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

namespace Contend;

/// <summary>Threads that each wait for one kind of thing, and are named after it.</summary>
internal static class Kinds
{
    [DllImport("libc", EntryPoint = "usleep")]
    private static extern int SleepInNative(uint microseconds);

    [DllImport("libc", EntryPoint = "read")]
    private static extern unsafe nint ReadInNative(int fd, byte* data, nint size);

    [DllImport("libc", EntryPoint = "pipe")]
    private static extern unsafe int MakePipe(int* fds);

    /// <summary>Starts the threads and lets them wait for `seconds`.</summary>
    public static unsafe void Run(int seconds)
    {
        var held = new object();
        var never = new ManualResetEvent(false);
        var slim = new SemaphoreSlim(0);
        var source = new TaskCompletionSource();
        var pulse = new object();
        var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        var client = new TcpClient("127.0.0.1", ((IPEndPoint)listener.LocalEndpoint).Port);
        Socket server = listener.AcceptSocket();
        int* pipe = stackalloc int[2];
        _ = MakePipe(pipe);
        int readEnd = pipe[0];
        var sleeper = new Thread(() => Thread.Sleep(Timeout.Infinite)) { Name = "k-sleep", IsBackground = true };
        var kinds = new Dictionary<string, Action>
        {
            ["k-monitor"] = () => Monitor.Enter(held),
            ["k-event"] = () => never.WaitOne(),
            ["k-slim"] = () => slim.Wait(),
            ["k-task"] = () => source.Task.Wait(),
            ["k-pulse"] = () => { lock (pulse) Monitor.Wait(pulse); },
            ["k-join"] = () => sleeper.Join(),
            ["k-socket"] = () => client.GetStream().ReadByte(),
            ["k-accept"] = () => listener.AcceptSocket(),
            ["k-usleep"] = () => { while (true) _ = SleepInNative(900_000); },
            ["k-builds"] = () => Built.Touch(),
            ["k-constructor"] = () => { Building.Begun.Wait(); Built.Touch(); },
            ["k-read"] = () => { byte b; _ = ReadInNative(readEnd, &b, 1); },
        };
        if (Sites.Lock() is { } @lock)
        {
            @lock.Enter();
            kinds["k-lock"] = @lock.Enter;
        }
        Monitor.Enter(held);
        sleeper.Start();
        foreach ((string name, Action wait) in kinds)
            new Thread(() => wait()) { Name = name, IsBackground = true }.Start();
        Task.Run(() => Thread.CurrentThread.Name = "k-pool").Wait();
        Thread.Sleep(seconds * 1000);
        GC.KeepAlive(server);
    }
}

/// <summary>A class whose constructor never ends.</summary>
internal static class Built
{
    public static readonly int Value;

    static Built()
    {
        Building.Begun.Set();
        Thread.Sleep(Timeout.Infinite);
        Value = 1;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Touch() => Value;
}

/// <summary>Its constructor runs.</summary>
internal static class Building
{
    public static readonly ManualResetEventSlim Begun = new(false);
}
