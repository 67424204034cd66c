// SPDX-License-Identifier: MIT
using System;

namespace Hello;

/// <summary>Prints the version of its runtime. The first argument is the exit code.</summary>
internal static class Program
{
    private static int Main(string[] args)
    {
        Console.WriteLine($"hello: .NET {Environment.Version}");
        return args.Length > 0 ? int.Parse(args[0]) : 0;
    }
}
