// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Linq;

namespace Kinds;

/// <summary>
/// Methods of every kind, each called a known number of times: "rounds=N", and by choice "late=1" (assemblies made or
/// loaded while it runs), "tails=N", "varargs=1", "edit=FILE" (becomes the rules while methods run; with
/// "attached=FILE" once that file is there). Prints
/// "kinds: known COUNT NAME" for each.
/// </summary>
internal static class Program
{
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
        Known.Print();
        return 0;
    }
}
