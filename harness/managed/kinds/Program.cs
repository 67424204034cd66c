// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.InteropServices;

namespace Kinds;

/// <summary>
/// Calls methods of every kind a known number of times. Arguments: "rounds=N"; optional are
/// "late=1" (assemblies made or loaded while it runs), "tails=N", "varargs=1", "edit=FILE"
/// (replaces the instrumentation file FILE while methods run; with "attached=FILE", after that file
/// exists), "asked=1" (asks for an interface of the runtime). Prints "kinds: known COUNT NAME" for
/// each method.</summary>
internal static class Program
{
#pragma warning disable SYSLIB0019 // obsolete, and the result of calling it is tested here
    /// <summary>Asks for ICLRRuntimeInfo, as code for .NET Framework does to find out its
    /// runtime.</summary>
    private static void Ask()
    {
        var info = new Guid("BD39D1D2-BA2F-486A-89B0-B4B0CB466891"); // ICLRRuntimeInfo
        var ways = new Func<object>[]
        {
            () => RuntimeEnvironment.GetRuntimeInterfaceAsObject(Guid.Empty, info),
            () => RuntimeEnvironment.GetRuntimeInterfaceAsIntPtr(Guid.Empty, info),
        };
        foreach (Func<object> way in ways)
        {
            try
            {
                Console.WriteLine("kinds: asked " + way());
            }
            catch (Exception e)
            {
                Console.WriteLine("kinds: asked " + e.GetType().Name);
            }
        }
    }
#pragma warning restore SYSLIB0019

    private static int Main(string[] args)
    {
        var options = new Dictionary<string, string>();
        foreach (string arg in string.Join(' ', args).Split(' ', StringSplitOptions.RemoveEmptyEntries))
            options.Add(arg.Split('=')[0], arg.Split('=').Last());
        int rounds = options.TryGetValue("rounds", out string? text) ? int.Parse(text) : 100;
        if (options.TryGetValue("edit", out string? file))
            Edits.Run(file, options.GetValueOrDefault("attached"), rounds);
        else
            Calls.Run(rounds);
        if (options.TryGetValue("tails", out text))
            Late.Tails(int.Parse(text));
        if (options.ContainsKey("late"))
            Late.Run(rounds);
        if (options.ContainsKey("varargs"))
            Late.Varargs();
        if (options.ContainsKey("asked"))
            Ask();
        Known.Print();
        return 0;
    }
}
