// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.IO;
using System.Reflection;
using System.Runtime.CompilerServices;

namespace Prepare;

/// <summary>
/// Makes its runtime compile methods of the base class libraries, then uses these libraries.
/// Arguments: "methods=N": the number of methods, spread evenly over all (0: all); "only=NAME": of
/// the assemblies whose names begin with NAME; "use=N": uses the libraries N times; "file=PREFIX":
/// writes the results to PREFIX.VERSION, in lines "ASSEMBLY TOKEN OUTCOME NAME" and "uses NAME:
/// RESULT".</summary>
internal static class Program
{
    private static readonly Dictionary<string, string> options = new()
        { ["methods"] = "0", ["file"] = "", ["only"] = "", ["use"] = "1" };

    private static int Main(string[] args)
    {
        foreach (string arg in args)
        {
            string[] word = arg.Split('=', 2);
            if (word.Length != 2 || !options.ContainsKey(word[0]))
                throw new ArgumentException(arg);
            options[word[0]] = word[1];
        }
        List<MethodBase> methods = Libraries.Choose(int.Parse(options["methods"]), options["only"]);
        using TextWriter file = options["file"] == "" ? TextWriter.Null
            : new StreamWriter(options["file"] + "." + Environment.Version);
        PrepareAll(methods, file);
        for (int i = 0; i < int.Parse(options["use"]); i++)
            Uses.All(file);
        Console.WriteLine($"prepare: {Environment.Version} done");
        return 0;
    }

    private static void PrepareAll(List<MethodBase> methods, TextWriter file)
    {
        var outcomes = new SortedDictionary<string, int>(StringComparer.Ordinal);
        foreach (MethodBase method in methods)
        {
            string outcome = Prepare(method);
            outcomes[outcome] = outcomes.GetValueOrDefault(outcome) + 1;
            file.WriteLine($"{method.Module.Assembly.GetName().Name} {method.MetadataToken:x8} {outcome} {method.DeclaringType}.{method.Name}");
        }
        foreach ((string outcome, int n) in outcomes)
            Console.WriteLine($"prepare: {Environment.Version} {n} {outcome}");
    }

    /// <summary>Returns "ok", "no-arguments-fit", or the types of the exceptions.</summary>
    private static string Prepare(MethodBase method)
    {
        var outcomes = new List<string>();
        int n = 0;
        foreach (RuntimeTypeHandle[] arguments in Instantiations.Of(method))
        {
            n++;
            string outcome = Prepare(method, arguments);
            if (outcome != "ok" && !outcomes.Contains(outcome))
                outcomes.Add(outcome);
        }
        return n == 0 ? "no-arguments-fit" : outcomes.Count == 0 ? "ok" : string.Join(",", outcomes);
    }

    private static string Prepare(MethodBase method, RuntimeTypeHandle[] arguments)
    {
        try
        {
            if (method.IsVirtual && !method.IsGenericMethodDefinition)
                TakePointer(method, arguments);
            if (arguments.Length == 0)
                RuntimeHelpers.PrepareMethod(method.MethodHandle);
            else
                RuntimeHelpers.PrepareMethod(method.MethodHandle, arguments);
            return "ok";
        }
        catch (Exception e)
        {
            return e.GetType().Name;
        }
    }

    /// <summary>Makes the entry point of a virtual method, because from 9.0 on PrepareMethod does
    /// nothing for a virtual method without one.</summary>
    private static void TakePointer(MethodBase method, RuntimeTypeHandle[] arguments)
    {
        Type type = method.DeclaringType!;
        if (arguments.Length > 0)
            type = type.MakeGenericType(Array.ConvertAll(arguments, handle => Type.GetTypeFromHandle(handle)!));
        MethodBase.GetMethodFromHandle(method.MethodHandle, type.TypeHandle)!.MethodHandle.GetFunctionPointer();
    }
}
