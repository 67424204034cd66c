// SPDX-License-Identifier: MIT
using System.Diagnostics.Tracing;

namespace Profiled;

/// <summary>Events for EventPipe sessions of profilers: four kinds that differ in keyword and level.</summary>
[EventSource(Name = "Sxs-Profiled")]
internal sealed class Source : EventSource
{
    public static readonly Source Log = new();

    public static class Keywords
    {
        public const EventKeywords Odd = (EventKeywords)1;
        public const EventKeywords Even = (EventKeywords)2;
    }

    public static void WriteAll()
    {
        for (int i = 0; i < 30; i++)
            Log.Coarse(i);
        for (int i = 0; i < 20; i++)
            Log.Fine(i);
        for (int i = 0; i < 10; i++)
            Log.Other(i);
        for (int i = 0; i < 5; i++)
            Log.Both(i);
    }

    [Event(1, Level = EventLevel.Informational, Keywords = Keywords.Odd)]
    public void Coarse(int n) => WriteEvent(1, n);

    [Event(2, Level = EventLevel.Verbose, Keywords = Keywords.Odd)]
    public void Fine(int n) => WriteEvent(2, n);

    [Event(3, Level = EventLevel.Informational, Keywords = Keywords.Even)]
    public void Other(int n) => WriteEvent(3, n);

    [Event(4, Level = EventLevel.Warning, Keywords = Keywords.Odd | Keywords.Even)]
    public void Both(int n) => WriteEvent(4, n);
}
