// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Runtime.Loader;
using System.Threading;

namespace Unloads;

/// <summary>
/// Loads and unloads assemblies that throw exceptions, while other threads throw, too. Arguments:
/// "contexts=N" load contexts with this assembly, "dynamic=N" dynamic assemblies, each with a new
/// name, "threads=N" threads. With "edit=FILE", FILE.next is renamed to FILE after half of the
/// contexts. Prints the number of exceptions and of assemblies that were unloaded.
/// </summary>
internal static class Program
{
    private const int ThrowsEach = 2, Batch = 25;
    private static long _thrown;
    private static volatile bool _ended;
    private static readonly List<WeakReference> All = new();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Context()
    {
        var context = new AssemblyLoadContext(null, isCollectible: true);
        Assembly assembly = context.LoadFromAssemblyPath(typeof(Program).Assembly.Location);
        MethodInfo run = assembly.GetType("Unloads.Plugin")!.GetMethod("Run")!;
        Interlocked.Add(ref _thrown, (int)run.Invoke(null, new object[] { ThrowsEach })!);
        All.Add(new WeakReference(context));
        context.Unload();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Dynamic()
    {
        string name = "Made" + Guid.NewGuid().ToString("N");
        AssemblyBuilder assembly = AssemblyBuilder.DefineDynamicAssembly(new AssemblyName(name), AssemblyBuilderAccess.RunAndCollect);
        TypeBuilder type = assembly.DefineDynamicModule(name).DefineType("Made.Type", TypeAttributes.Public);
        ILGenerator il = type.DefineMethod("Fail", MethodAttributes.Public | MethodAttributes.Static).GetILGenerator();
        il.Emit(OpCodes.Newobj, typeof(InvalidOperationException).GetConstructor(Type.EmptyTypes)!);
        il.Emit(OpCodes.Throw);
        var fail = type.CreateType()!.GetMethod("Fail")!.CreateDelegate<Action>();
        try
        {
            fail();
        }
        catch (InvalidOperationException)
        {
            Interlocked.Increment(ref _thrown);
        }
        All.Add(new WeakReference(fail.Method.Module));
    }

    private static void Collect(int n)
    {
        if (n % Batch != 0)
            return;
        GC.Collect();
        GC.WaitForPendingFinalizers();
    }

    private static int Gone()
    {
        int gone = 0;
        for (int i = 0; i < 20 && gone < All.Count; i++)
        {
            Collect(0);
            gone = All.FindAll(one => !one.IsAlive).Count;
        }
        return gone;
    }

    private static void Main(string[] args)
    {
        var options = new Dictionary<string, int> { ["contexts"] = 0, ["dynamic"] = 0, ["threads"] = 0 };
        string? edit = null;
        foreach (string arg in args)
        {
            string[] word = arg.Split('=');
            if (word[0] == "edit")
            {
                edit = word[1];
                continue;
            }
            if (word.Length != 2 || !options.ContainsKey(word[0]))
                throw new ArgumentException(arg);
            options[word[0]] = int.Parse(word[1]);
        }
        var threads = new List<Thread>();
        for (int i = 0; i < options["threads"]; i++)
        {
            var thread = new Thread(() =>
            {
                for (; !_ended; Thread.Sleep(1))
                    Interlocked.Add(ref _thrown, Plugin.Run(1));
            });
            thread.Start();
            threads.Add(thread);
        }
        for (int i = 0; i < options["contexts"]; i++, Collect(i))
        {
            if (edit != null && i == options["contexts"] / 2)
                File.Move(edit + ".next", edit, true);
            Context();
        }
        for (int i = 0; i < options["dynamic"]; i++, Collect(i))
            Dynamic();
        _ended = true;
        threads.ForEach(thread => thread.Join());
        int all = All.Count, gone = Gone();
        Console.Write($"unloads: thrown {_thrown} assemblies {all} {(gone * 10 >= all * 9 ? "gone" : $"only {gone} gone")}\n");
    }
}
