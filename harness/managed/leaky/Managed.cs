// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Leaks;

/// <summary>Lives as long as the program, and so do those who wait for its event.</summary>
internal static class Publisher
{
    public static event EventHandler? Changed;

    public static void Change() => Changed?.Invoke(null, EventArgs.Empty);
}

/// <summary>Never removes its handler from the event.</summary>
internal sealed class Subscriber
{
    private static int heard;
    private readonly byte[] data = new byte[200];

    public static int Heard => heard;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Subscribe(int number)
    {
        var subscriber = new Subscriber();
        Publisher.Changed += subscriber.OnChanged;
        if (number < 0)
            Publisher.Change();
    }

    private void OnChanged(object? sender, EventArgs args) => heard += data.Length;
}

/// <summary>An entry of the cache.</summary>
internal sealed class CacheEntry
{
    public readonly byte[] Data = new byte[500];
}

/// <summary>Each key comes once, so that no entry is ever used again.</summary>
internal static class Cache
{
    private static readonly Dictionary<string, CacheEntry> entries = new Dictionary<string, CacheEntry>();

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Remember(int number) => entries["key " + number] = new CacheEntry();
}

/// <summary>Its timer is never disposed of; a timer that is due in the future is a root.</summary>
internal sealed class Poller
{
    private readonly byte[] data = new byte[300];
    private Timer? timer;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Start(int number)
    {
        var poller = new Poller();
        poller.timer = new Timer(poller.Poll, null, 3_600_000, 3_600_000 + number);
    }

    private void Poll(object? state) => GC.KeepAlive(data);
}

/// <summary>What a program without a leak does: allocates, and keeps nothing.</summary>
internal sealed class Request
{
    private readonly byte[] body = new byte[400];

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Handle(int number)
    {
        var request = new Request();
        request.body[number % request.body.Length] = 1;
        return request.body[0];
    }
}
