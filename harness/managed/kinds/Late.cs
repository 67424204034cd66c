// SPDX-License-Identifier: MIT
using System;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Runtime.Loader;

namespace Kinds;

/// <summary>Code that appears while the program runs: loaded from bytes, generated, or in separate
/// load contexts.</summary>
internal static class Late
{
    public static void Run(int n)
    {
        Bytes(n);
        Made(AssemblyBuilderAccess.Run, n);
        Made(AssemblyBuilderAccess.RunAndCollect, n);
        Dynamic(n);
        for (int i = 0; i < 4; i++)
            Collectible(n);
        for (int i = 0; i < 10; i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
        Known.Add("KindsLib.Elsewhere.FromBytes", 5 * n);
    }

    private static void Call(Assembly assembly, int n)
    {
        var method = assembly.GetType("KindsLib.Elsewhere")!.GetMethod("FromBytes")!.CreateDelegate<Func<int, int>>();
        for (int i = 0; i < n; i++)
            Known.Check(method(i) == i + 4, "FromBytes");
    }

    private static string Lib => typeof(KindsLib.Elsewhere).Assembly.Location;

    private static void Bytes(int n) => Call(Assembly.Load(File.ReadAllBytes(Lib)), n);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Collectible(int n)
    {
        var context = new AssemblyLoadContext(null, true);
        using (FileStream file = File.OpenRead(Lib))
            Call(context.LoadFromStream(file), n);
        context.Unload();
    }

    private static void Adds(ILGenerator il, int by)
    {
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldc_I4, by);
        il.Emit(OpCodes.Add);
        il.Emit(OpCodes.Ret);
    }

    private static void Made(AssemblyBuilderAccess access, int n)
    {
        AssemblyBuilder assembly = AssemblyBuilder.DefineDynamicAssembly(new AssemblyName("KindsMade"), access);
        TypeBuilder type = assembly.DefineDynamicModule("KindsMade").DefineType("KindsMade.Type", TypeAttributes.Public);
        MethodBuilder method = type.DefineMethod("Adds", MethodAttributes.Public | MethodAttributes.Static, typeof(int), new[] { typeof(int) });
        Adds(method.GetILGenerator(), 6);
        var made = type.CreateType()!.GetMethod("Adds")!.CreateDelegate<Func<int, int>>();
        for (int i = 0; i < n; i++)
            Known.Check(made(i) == i + 6, "Made");
        Console.WriteLine($"kinds: made {access} {n}");
    }

    private static void Dynamic(int n)
    {
        var method = new DynamicMethod("Kinds.Dynamic", typeof(int), new[] { typeof(int) }, typeof(Late));
        Adds(method.GetILGenerator(), 7);
        var made = method.CreateDelegate<Func<int, int>>();
        for (int i = 0; i < n; i++)
            Known.Check(made(i) == i + 7, "Dynamic");
        Console.WriteLine($"kinds: made DynamicMethod {n}");
    }

    /// <summary>The tail calls of tail.il, n of them in a row, on a stack that is too small for n
    /// ordinary calls.</summary>
    public static void Tails(int n)
    {
        string path = Path.Combine(AppContext.BaseDirectory, "../calls/tail.dll");
        if (!File.Exists(path))
            return;
        Type type = Assembly.LoadFrom(path).GetType("Tail.Calls")!;
        foreach (string name in new[] { "Self", "Even", "Few", "Pointer", "Implicit" })
        {
            long sum = type.GetMethod(name)!.CreateDelegate<Func<int, long, long>>()(n, 0);
            Known.Check(sum == (long)n * (n + 1) / 2 + (name == "Few" ? 45L * n : 0), name);
        }
        Known.Add("Tail.Calls.Even", n / 2 + 1);
        Known.Add("Tail.Calls.Odd", (n + 1) / 2);
        Known.Add("Tail.Calls.Few", n + 1);
        Known.Add("Tail.Calls.Many", n);
        Known.Add("Tail.Calls.Pointer", n + 1);
        Known.Add("Tail.Calls.Implicit", n / 2 + 1);
        Known.Add("Tail.Calls.Implied", (n + 1) / 2);
    }

    /// <summary>Varargs are not supported on Linux: the runtime refuses to compile the
    /// call.</summary>
    public static void Varargs()
    {
        try
        {
            Console.WriteLine($"kinds: varargs {CallVarargs()}");
        }
        catch (Exception e) when (e is InvalidProgramException or PlatformNotSupportedException)
        {
            Console.WriteLine($"kinds: varargs {e.GetType().Name}");
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int CallVarargs() => Old.Varargs(__arglist(1, "two"));
}
