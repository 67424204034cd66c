// SPDX-License-Identifier: MIT
using System;

namespace Guest;

/// <summary>The app that the hosts in tests/hosts/programs/ run. `dotnet guest.dll` does its work
/// once.</summary>
internal static class Program
{
    private static int Main(string[] args)
    {
        int rounds = args.Length > 0 ? int.Parse(args[0]) : 1;
        int wrong = Work.All(rounds);
        Console.WriteLine($"guest: {wrong} wrong");
        return wrong == 0 ? 0 : 1;
    }
}
