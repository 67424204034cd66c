// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.IO;
using System.Reflection;

namespace Calls;

/// <summary>Runs the tail calls of tail.il, if it was assembled.</summary>
internal static class Tails
{
    public static readonly Dictionary<string, long> Counts = new();

    private delegate long Step(int n, long sum);

    private static void Know(string name, long n) => Counts["Tail.Calls." + name] = n;

    public static void Run(int n)
    {
        string path = Path.Combine(AppContext.BaseDirectory, "tail.dll");
        if (!File.Exists(path))
        {
            Console.WriteLine("calls: no tail calls: tail.dll is not there");
            return;
        }
        Type type = Assembly.LoadFrom(path).GetType("Tail.Calls")!;
        long expected = (long)n * (n + 1) / 2;
        object one = Activator.CreateInstance(type)!;
        type.GetField("next")!.SetValue(null, type.GetMethod("Delegate")!.CreateDelegate<Func<int, long, long>>());
        /* With fast tail calls, the JIT makes loops of methods that call themselves. */
        bool loops = Environment.GetEnvironmentVariable("DOTNET_FastTailCalls") != "0";
        foreach (string name in new[] { "Self", "Even", "Few", "Go", "Pointer", "Delegate", "Implicit" })
        {
            MethodInfo method = type.GetMethod(name)!;
            Step step = method.IsStatic ? method.CreateDelegate<Step>() : method.CreateDelegate<Step>(one);
            long sum = step(n, 0);
            if (sum != expected + (name == "Few" ? 45L * n : 0))
                throw new InvalidOperationException($"wrong sum of {name}: {sum}");
            bool alternates = name is "Even" or "Implicit";
            Know(name, name == "Self" && loops ? 1 : alternates ? n / 2 + 1 : n + 1);
        }
        Know("Odd", (n + 1) / 2);
        Know("Implied", (n + 1) / 2);
        Know("Many", n);
        Know(".ctor", 1);
        Know("Throws", loops ? 1 : n + 1);
        try
        {
            type.GetMethod("Throws")!.CreateDelegate<Step>()(n, 0);
        }
        catch (InvalidOperationException)
        {
            Probe.Here("behind tail calls that threw");
        }
    }
}
