// SPDX-License-Identifier: MIT
// Mono.Cecil beside bench_il: every body of assemblies read, and the assemblies written, metadata and all, for
// it has no other way to write a body. CPU time; the first round, in which code is compiled, is thrown away.
using System;
using System.Diagnostics;
using System.IO;
using Mono.Cecil;

static class Program
{
    static (long bodies, TimeSpan read, TimeSpan write) Round(string[] files)
    {
        long bodies = 0;
        TimeSpan read = default, write = default;
        foreach (string file in files)
        {
            var process = Process.GetCurrentProcess();
            TimeSpan start = process.TotalProcessorTime;
            ModuleDefinition module;
            try { module = ModuleDefinition.ReadModule(new MemoryStream(File.ReadAllBytes(file))); }
            catch (BadImageFormatException) { continue; }
            foreach (TypeDefinition type in module.GetTypes())
                foreach (MethodDefinition method in type.Methods)
                    if (method.HasBody && method.Body.Instructions.Count > 0)
                        bodies++;
            process.Refresh();
            TimeSpan middle = process.TotalProcessorTime;
            read += middle - start;
            module.Attributes |= ModuleAttributes.ILOnly; // its precompiled code is left out
            module.Write(new MemoryStream());
            process.Refresh();
            write += process.TotalProcessorTime - middle;
        }
        return (bodies, read, write);
    }

    static void Main(string[] files)
    {
        Round(files);
        var (bodies, read, write) = Round(files);
        Console.WriteLine($"bench: read {read.TotalMilliseconds * 1e6 / bodies:F1}");
        Console.WriteLine($"bench: ns {(read + write).TotalMilliseconds * 1e6 / bodies:F1}");
        Console.WriteLine($"bench: bodies {bodies}");
    }
}
