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
                if (args.Length > 1 && !Unhandled.Throw(args[1]))
                {
                    Console.Error.WriteLine($"crash: unhandled: expected one of {string.Join(", ", Unhandled.Places)}");
                    return 2;
                }
                throw new InvalidOperationException("an exception nobody handles");
            case "overflow":
                Console.WriteLine(Overflow(0));
                break;
            case "native":
                Unhandled.CaughtByNativeCode();
                Environment.FailFast("after an exception that native code caught");
                break;
            case "failfast":
                Environment.FailFast("the app asked for it");
                break;
            default:
                Console.Error.WriteLine(
                    "crash: expected segv, abort, unhandled, overflow, failfast, native, kill-abrt or exec");
                return 2;
        }
        Console.Error.WriteLine($"crash: still alive after {kind}");
        return 3;
    }

    // The addition after the call prevents the JIT from making a loop of it.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int Overflow(int depth) => Overflow(depth + 1) + depth;
}
