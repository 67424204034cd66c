// SPDX-License-Identifier: MIT
using System;
using System.Runtime.CompilerServices;
using Sxs;

namespace Crash;

/// <summary>
/// Crashes the process in the way its argument says. Tests that real crashes remain crashes.
/// Exit codes: 2 unknown argument, 3 still alive.
/// </summary>
internal static class Program
{
    private static int Main(string[] args)
    {
        string kind = args.Length > 0 ? args[0] : "";
        Console.WriteLine($"crash: .NET {Environment.Version}, {kind}");
        switch (kind)
        {
            case "segv":
            case "abort":
            case "kill-abrt":
            case "exec":
                Bridge.Crash(kind);
                break;
            case "unhandled":
                throw new InvalidOperationException("an exception nobody handles");
            case "overflow":
                Console.WriteLine(Overflow(0));
                break;
            case "failfast":
                Environment.FailFast("the app asked for it");
                break;
            default:
                Console.Error.WriteLine(
                    "crash: expected segv, abort, unhandled, overflow, failfast, kill-abrt or exec");
                return 2;
        }
        Console.Error.WriteLine($"crash: still alive after {kind}");
        return 3;
    }

    // The addition after the call prevents the JIT from making a loop of it.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int Overflow(int depth) => Overflow(depth + 1) + depth;
}
