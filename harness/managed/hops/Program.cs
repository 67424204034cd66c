// SPDX-License-Identifier: MIT
using System;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Sxs;

namespace Hops;

/// <summary>
/// Makes a chain of calls through the apps of all runtimes that joined the bridge. Arguments: [HOPS
/// [MODES [PREFIX]]]. Exit codes: 0 all checks passed, 1 some failed, 2 wrong arguments or no
/// bridge.</summary>
internal static unsafe class Program
{
    private const int DefaultHops = 6;

    private static int Main(string[] args)
    {
        int max = DefaultHops;
        if (args.Length > 3 || (args.Length > 0 && (!int.TryParse(args[0], out max) || max < 1)))
        {
            Console.Error.WriteLine("hops: expected [HOPS [MODES [PREFIX]]], HOPS being 1 or more");
            return 2;
        }
        Chain.Apps = Bridge.Apps();
        Chain.Index = Bridge.Index();
        if (Chain.Index < 0 || Bridge.Join(Chain.EntryOf(Chain.Index)) != Chain.Index)
        {
            Console.Error.WriteLine("hops: the other apps did not join");
            return 2;
        }
        bool held = true;
        if (Chain.Index == 0)
            held = Lead(max, args.ElementAtOrDefault(1) ?? "", args.ElementAtOrDefault(2) ?? "");
        held &= Bridge.Leave() == 0;
        int wanted = Enumerable.Range(1, Chain.Max).Count(hop => hop % Chain.Apps == Chain.Index);
        held &= Chain.Arrived == wanted;
        Console.WriteLine($"hops: app {Chain.Index} of {Chain.Apps}, .NET {Environment.Version}: " +
            $"{Chain.Arrived} of {Chain.Max} hops{(Chain.BottomHere ? ", the last one" : "")}: " +
            (held ? "ok" : "FAILED"));
        return held ? 0 : 1;
    }

    /// <summary>Starts the chain and checks the result.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static bool Lead(int max, string modes, string prefix)
    {
        if (prefix.Length > 0)
            Expected.Write(prefix + ".expected", max, Chain.Apps);
        var order = new Order
        {
            Modes = (byte*)Marshal.StringToCoTaskMemUTF8(modes),
            Prefix = (byte*)Marshal.StringToCoTaskMemUTF8(prefix),
        };
        Chain.Start(max, &order);
        Marshal.FreeCoTaskMem((nint)order.Modes);
        Marshal.FreeCoTaskMem((nint)order.Prefix);
        if (order.Frames == max + 1 && order.Bottoms == 1 && order.Faults == 0)
            return true;
        Console.Error.WriteLine($"hops: {order.Frames - 1} of {max} hops counted, bottom reached " +
            $"{order.Bottoms} times, {order.Faults} faults");
        return false;
    }
}
