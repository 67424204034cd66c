// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Reflection;
using System.Reflection.Metadata;
using System.Reflection.Metadata.Ecma335;
using System.Reflection.PortableExecutable;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Bench;

/// <summary>Methods of an assembly that is loaded from an image, so that profilers see it as they see one
/// of a file, and not as a dynamic one.</summary>
internal static class Bodies
{
    private const int Batch = 250;

    /// <summary>Compiles n methods, each of some instructions. Returns the median over batches of the
    /// compile time of one, in ns. With counted, each method begins with the code that the plug-in of
    /// the benchmark (tests/clrie/cost.c) inserts.</summary>
    public static double Compile(int n, int instructions, bool counted)
    {
        List<RuntimeMethodHandle> methods = Load(n + Batch, instructions, counted);
        var times = new List<double>();
        for (int at = 0; at + Batch <= methods.Count; at += Batch)
        {
            long start = Stopwatch.GetTimestamp();
            for (int i = at; i < at + Batch; i++)
                RuntimeHelpers.PrepareMethod(methods[i]);
            if (at > 0) // the first batch warms up the compiler
                times.Add(Stopwatch.GetElapsedTime(start).TotalNanoseconds / Batch);
        }
        times.Sort();
        return times[times.Count / 2];
    }

    private static List<RuntimeMethodHandle> Load(int n, int instructions, bool counted)
    {
        Type type = Assembly.Load(Image(n, instructions, counted)).GetType("T")!;
        return type.GetMethods(BindingFlags.Public | BindingFlags.Static | BindingFlags.DeclaredOnly)
            .Select(method => method.MethodHandle).ToList();
    }

    private static byte[] Image(int n, int instructions, bool counted)
    {
        var metadata = new MetadataBuilder();
        var stream = new BlobBuilder();
        var bodies = new MethodBodyStreamEncoder(stream);
        metadata.AddModule(0, metadata.GetOrAddString("Bodies.dll"), metadata.GetOrAddGuid(Guid.NewGuid()),
            default, default);
        metadata.AddAssembly(metadata.GetOrAddString("Bodies"), new Version(1, 0, 0, 0), default, default, 0,
            AssemblyHashAlgorithm.None);
        AssemblyName core = typeof(object).Assembly.GetName();
        AssemblyReferenceHandle library = metadata.AddAssemblyReference(metadata.GetOrAddString(core.Name!),
            core.Version!, default, metadata.GetOrAddBlob(core.GetPublicKeyToken()!), default, default);
        TypeReferenceHandle root = metadata.AddTypeReference(library, metadata.GetOrAddString("System"),
            metadata.GetOrAddString("Object"));
        var signature = new BlobBuilder();
        new BlobEncoder(signature).MethodSignature().Parameters(1, result => result.Type().Int32(),
            parameters => parameters.AddParameter().Type().Int32());
        BlobHandle blob = metadata.GetOrAddBlob(signature);
        metadata.AddTypeDefinition(default, default, metadata.GetOrAddString("<Module>"), default,
            MetadataTokens.FieldDefinitionHandle(1), MetadataTokens.MethodDefinitionHandle(1));
        metadata.AddTypeDefinition(TypeAttributes.Public, default, metadata.GetOrAddString("T"), root,
            MetadataTokens.FieldDefinitionHandle(1), MetadataTokens.MethodDefinitionHandle(1));
        long counter = counted ? Marshal.AllocHGlobal(sizeof(long)) : 0;
        for (int i = 0; i < n; i++)
        {
            metadata.AddMethodDefinition(MethodAttributes.Public | MethodAttributes.Static,
                MethodImplAttributes.IL, metadata.GetOrAddString($"M{i}"), blob,
                bodies.AddMethodBody(Body(i, instructions, counter)), default);
        }
        var image = new BlobBuilder();
        new ManagedPEBuilder(PEHeaderBuilder.CreateLibraryHeader(), new MetadataRootBuilder(metadata), stream)
            .Serialize(image);
        return image.ToArray();
    }

    /* ldarg.0; ldc.i4 NUMBER; add; ret. More instructions: pairs of ldc.i4 and add before the ret. */
    private static InstructionEncoder Body(int number, int instructions, long counter)
    {
        var il = new InstructionEncoder(new BlobBuilder());
        if (counter != 0)
        {
            il.LoadConstantI8(counter);
            il.OpCode(ILOpCode.Conv_i);
            il.OpCode(ILOpCode.Dup);
            il.OpCode(ILOpCode.Ldind_i4);
            il.OpCode(ILOpCode.Ldc_i4_1);
            il.OpCode(ILOpCode.Add);
            il.OpCode(ILOpCode.Stind_i4);
        }
        il.LoadArgument(0);
        for (int i = 4; i <= Math.Max(4, instructions); i += 2)
        {
            il.LoadConstantI4(number + i);
            il.OpCode(ILOpCode.Add);
        }
        il.OpCode(ILOpCode.Ret);
        return il;
    }
}
