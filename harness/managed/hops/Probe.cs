// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;
using Sxs;

namespace Hops;

/// <summary>The work at the last hop of the chain: checks and prints stacks.</summary>
internal static unsafe class Probe
{
    private const int Stdout = 1;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Bottom(int hop, int max, Order* order)
    {
        order->Bottoms++;
        Chain.BottomHere = true;
        if (!CheckOwnFrames(max))
            order->Faults++;
        string modes = Marshal.PtrToStringUTF8((nint)order->Modes)!;
        string prefix = Marshal.PtrToStringUTF8((nint)order->Prefix)!;
        if (modes.Length == 0)
            return;
        nint print = FindPrint();
        if (print == 0)
        {
            Console.WriteLine("hops: no profiler");
            return;
        }
        foreach (string mode in modes.Split(',', StringSplitOptions.RemoveEmptyEntries))
        {
            string? path = prefix.Length > 0 ? $"{prefix}.{mode}" : null;
            if (!Print((delegate* unmanaged<int, byte*, int>)print, mode, path))
            {
                Console.Error.WriteLine($"hops: sxsprof_print_stack failed for mode {mode}");
                order->Faults++;
            }
        }
    }

    /// <summary>The profiler library of this process, which was loaded by the same path.</summary>
    private static nint FindPrint()
    {
        string? path = Environment.GetEnvironmentVariable("CORECLR_PROFILER_PATH_64")
            ?? Environment.GetEnvironmentVariable("CORECLR_PROFILER_PATH");
        if (string.IsNullOrEmpty(path) || !NativeLibrary.TryLoad(path, out nint library))
            return 0;
        NativeLibrary.TryGetExport(library, "sxsprof_print_stack", out nint print);
        return print;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static bool Print(delegate* unmanaged<int, byte*, int> print, string mode, string? path)
    {
        using SafeFileHandle? file =
            path is null ? null : File.OpenHandle(path, FileMode.Create, FileAccess.Write);
        nint text = Marshal.StringToCoTaskMemUTF8(mode);
        int result = print(file is null ? Stdout : (int)file.DangerousGetHandle(), (byte*)text);
        Marshal.FreeCoTaskMem(text);
        return result >= 0;
    }

    /// <summary>
    /// Checks that the stack trace of this runtime has the expected frames of this app. Stubs of
    /// P/Invokes are ignored, because they exist or not depending on the tier of their caller.
    /// </summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static bool CheckOwnFrames(int max)
    {
        List<string> expected = Expected.Stack(max, Chain.Apps)
            .Where(frame => frame.App == Chain.Index).Select(frame => frame.Name).ToList();
        List<string> found = new StackTrace(skipFrames: 1).GetFrames()
            .Select(frame => frame.GetMethod())
            .Where(method => method?.DeclaringType != typeof(Bridge))
            .Select(NameOf).ToList();
        if (expected.SequenceEqual(found))
            return true;
        Console.Error.WriteLine("hops: own frames differ\n expected: " +
            string.Join(' ', expected) + "\n found:    " + string.Join(' ', found));
        return false;
    }

    private static string NameOf(MethodBase? method)
    {
        if (method is null)
            return "?";
        Type? type = method.DeclaringType;
        if (type is null)
            return method.Name;
        string name = (type.IsGenericType ? type.GetGenericTypeDefinition() : type).FullName!;
        int arity = name.IndexOf('`');
        return (arity < 0 ? name : name[..arity]) + "." + method.Name;
    }
}
