// SPDX-License-Identifier: MIT
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace AotHost;

/// <summary>Calls a NativeAOT library that causes faults and collections, and causes faults itself
/// in between. Arguments: LIBRARY [ROUNDS].</summary>
internal static unsafe class Program
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int Length(string text) => text.Length;

    private static int Main(string[] args)
    {
        int rounds = args.Length > 1 ? int.Parse(args[1]) : 5;
        IntPtr library = NativeLibrary.Load(args[0]);
        var work = (delegate* unmanaged<int, int, int>)NativeLibrary.GetExport(library, "sxs_aot_work");
        int theirs = 0, ours = 0;
        for (int i = 0; i < rounds; i++)
        {
            theirs += work(20, 4);
            try
            {
                Length(null!);
            }
            catch (NullReferenceException)
            {
                ours++;
            }
            GC.Collect();
        }
        Console.WriteLine($"aothost: .NET {Environment.Version}: library {theirs} of {20 * rounds}, own {ours} of {rounds}");
        return theirs == 20 * rounds && ours == rounds ? 0 : 1;
    }
}
