// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.InteropServices;

namespace Kinds;

/// <summary>
/// Methods of every kind, each called a known number of times: "rounds=N", and by choice "late=1" (assemblies made or
/// loaded while it runs), "tails=N", "varargs=1", "edit=FILE" (becomes the rules while methods run; with
/// "attached=FILE" once that file is there), "asked=1" (for an interface of the runtime's own). Prints
/// "kinds: known COUNT NAME" for each.
/// </summary>
internal static class Program
{
#pragma warning disable SYSLIB0019 // what it says is what is to be seen
    /// <summary>As on .NET Framework code asks which runtime it runs in.</summary>
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
