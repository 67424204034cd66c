// SPDX-License-Identifier: MIT
using System;
using System.Diagnostics;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;

namespace Bench;

/// <summary>Methods that exist only to be compiled.</summary>
internal static class Methods
{
    private const int Batch = 250;

    /// <summary>Returns the median over batches of the compile time of one of n methods, in
    /// ns.</summary>
    public static double Compile(int n)
    {
        CompileBatch(Define(-1)); // warms up the compiler
        int batches = Math.Max(1, n / Batch);
        var times = new double[batches];
        for (int i = 0; i < batches; i++)
        {
            RuntimeMethodHandle[] methods = Define(i);
            long start = Stopwatch.GetTimestamp();
            CompileBatch(methods);
            times[i] = Stopwatch.GetElapsedTime(start).TotalNanoseconds / Batch;
        }
        Array.Sort(times);
        return times[batches / 2];
    }

    private static void CompileBatch(RuntimeMethodHandle[] methods)
    {
        foreach (RuntimeMethodHandle method in methods)
            RuntimeHelpers.PrepareMethod(method);
    }

    private static RuntimeMethodHandle[] Define(int number)
    {
        var assembly = AssemblyBuilder.DefineDynamicAssembly(
            new AssemblyName($"Batch{number}"), AssemblyBuilderAccess.Run);
        TypeBuilder type = assembly.DefineDynamicModule("m").DefineType("T", TypeAttributes.Public);
        for (int i = 0; i < Batch; i++)
        {
            ILGenerator il = type.DefineMethod($"M{i}",
                MethodAttributes.Public | MethodAttributes.Static, typeof(int),
                [typeof(int)]).GetILGenerator();
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Ldc_I4, i);
            il.Emit(OpCodes.Add);
            il.Emit(OpCodes.Ret);
        }
        MethodInfo[] all = type.CreateType()!.GetMethods(
            BindingFlags.Public | BindingFlags.Static | BindingFlags.DeclaredOnly);
        return Array.ConvertAll(all, method => method.MethodHandle);
    }
}
