// SPDX-License-Identifier: MIT
using System;
using System.IO;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.Loader;
using System.Threading;

namespace Objects;

/// <summary>
/// Keeps objects and static fields with known values of every kind.
///   ready=FILE creates a file when all have their values; until=FILE waits until a file exists.
/// </summary>
internal static class Program
{
    private static int Main(string[] args)
    {
        var held = new ManualResetEventSlim();
        using var ready = new CountdownEvent(2);
        foreach (int n in new[] { 7, 8 })
            new Thread(() => Hold(n, ready, held)) { IsBackground = true }.Start();
        ready.Wait();
        Statics.Fill();
        Generic<int>.Value = 5;
        Generic<string>.Value = "of string";
        object collectible = Collectible();
        foreach (FieldInfo field in typeof(Program).Assembly.GetType("<PrivateImplementationDetails>")!
                     .GetFields(BindingFlags.NonPublic | BindingFlags.Static))
            if (field.FieldType.Name.EndsWith("Size=12_Align=4", StringComparison.Ordinal))
                Console.WriteLine("rva " + field.Name);
        foreach (string word in args)
        {
            string[] parts = word.Split('=', 2);
            if (parts[0] == "ready")
                File.WriteAllText(parts[1], "");
            while (parts[0] == "until" && !File.Exists(parts[1]))
                Thread.Sleep(10);
        }
        held.Set();
        GC.KeepAlive(collectible);
        return 0;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Hold(int n, CountdownEvent ready, ManualResetEventSlim end)
    {
        Threads.Number = n;
        Threads.Text = "thread " + n;
        ready.Signal();
        end.Wait();
    }

    /// <summary>Loads this assembly once more, so that it can be unloaded, and fills the static fields
    /// of a class that is not used here.</summary>
    private static object Collectible()
    {
        var context = new AssemblyLoadContext("objects", isCollectible: true);
        Assembly assembly = context.LoadFromAssemblyPath(typeof(Program).Assembly.Location);
        assembly.GetType("Objects.Unloadable")!.GetMethod("Fill")!.Invoke(null, null);
        return context;
    }
}
