// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.IO;
using System.Reflection;

namespace Prepare;

/// <summary>The assemblies in the folder of the core library, and their methods with IL.</summary>
internal static class Libraries
{
    private const int Methods = 0x06000000;

    /// <summary>Returns <paramref name="n"/> methods, spread evenly over all (0: all), of
    /// assemblies whose names begin with <paramref name="only"/>.</summary>
    public static List<MethodBase> Choose(int n, string only)
    {
        string folder = Path.GetDirectoryName(typeof(object).Assembly.Location)!;
        string[] files = Directory.GetFiles(folder, "*.dll");
        Array.Sort(files, StringComparer.Ordinal);
        var modules = new List<(Module Module, int Count)>();
        long all = 0, at = 0;
        foreach (string file in files)
            if (Path.GetFileName(file).StartsWith(only, StringComparison.Ordinal) && Load(file) is Assembly assembly)
            {
                modules.Add((assembly.ManifestModule, Count(assembly.ManifestModule)));
                all += modules[^1].Count;
            }
        var chosen = new List<MethodBase>();
        foreach ((Module module, int count) in modules)
            for (int row = 1, due = 0; row <= count; row++, at++)
            {
                if (n <= 0 || at * n / all != (at - 1) * n / all)
                    due++;
                if (due > 0 && Resolve(module, Methods + row) is MethodBase method && HasIL(method))
                {
                    chosen.Add(method);
                    due--;
                }
            }
        return chosen;
    }

    private static Assembly? Load(string file)
    {
        try
        {
            return Assembly.Load(Path.GetFileNameWithoutExtension(file));
        }
        catch (Exception e) when (e is BadImageFormatException or FileNotFoundException or FileLoadException)
        {
            return null; /* native code, or not an assembly for this app */
        }
    }

    /// <summary>Returns the number of rows in the table of methods, by binary search for the first
    /// row that does not exist.</summary>
    private static int Count(Module module)
    {
        int there = 0, beyond = 1 << 18;
        while (beyond - there > 1)
        {
            int middle = (there + beyond) / 2;
            try
            {
                module.ResolveMethod(Methods + middle);
                there = middle;
            }
            catch (ArgumentOutOfRangeException)
            {
                beyond = middle;
            }
            catch (Exception)
            {
                there = middle; /* the row exists, but its type cannot be loaded */
            }
        }
        return there;
    }

    private static MethodBase? Resolve(Module module, int token)
    {
        try
        {
            return module.ResolveMethod(token);
        }
        catch (Exception e) when (e is TypeLoadException or FileNotFoundException or BadImageFormatException)
        {
            return null;
        }
    }

    private static bool HasIL(MethodBase method) =>
        (method.Attributes & (MethodAttributes.Abstract | MethodAttributes.PinvokeImpl)) == 0 &&
        (method.MethodImplementationFlags & (MethodImplAttributes.CodeTypeMask | MethodImplAttributes.Unmanaged |
            MethodImplAttributes.InternalCall)) == 0;
}
