// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.IO;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Threading;

namespace Rewritten;

/// <summary>
/// Tells profilers, by P/Invoke into their libraries, what to do with the methods of
/// <see cref="Work"/>, and shows what the methods return.
/// </summary>
/// <remarks>
/// Arguments: NAME=PATH names the library of a profiler. NAME.COMMAND.METHOD calls its export
/// rewriter_command() and prints the result. "show" calls each method and prints the results.
/// "move:FROM:TO" renames a file; "until:N" waits until Work.Value returns N.
/// </remarks>
internal static unsafe class Program
{
    private static readonly Dictionary<string, nint> commands = [];

    private static void Main(string[] args)
    {
        foreach (string arg in args)
        {
            int at = arg.IndexOf('=');
            if (at > 0)
                commands[arg[..at]] = NativeLibrary.GetExport(NativeLibrary.Load(arg[(at + 1)..]), "rewriter_command");
            else if (arg == "show")
                Show();
            else if (arg.StartsWith("move:"))
                File.Move(arg.Split(':')[1], arg.Split(':')[2], true);
            else if (arg.StartsWith("until:"))
                while (Work.Value(0) != int.Parse(arg[6..]))
                    Thread.Sleep(10);
            else
                Tell(arg);
        }
    }

    private static void Show() =>
        Say($"Value {Work.Value(0)} Other {Work.Other(0)} Generic {Work.Generic<int>(0)} {Work.Generic<string>(0)} " +
            $"Outer {Work.Outer(0)}");

    private static void Tell(string step)
    {
        string[] parts = step.Split('.');
        MethodInfo? method = typeof(Work).GetMethod(parts[2]);
        var command = (delegate* unmanaged[Cdecl]<nint, nint, int, int>)commands[parts[0]];
        nint runtime = Marshal.StringToCoTaskMemUTF8($"{Environment.Version}");
        nint what = Marshal.StringToCoTaskMemUTF8(parts[1]);
        int result = command(runtime, what, method?.MetadataToken ?? 0);
        Marshal.FreeCoTaskMem(runtime);
        Marshal.FreeCoTaskMem(what);
        Say($"{step} {result:x8}");
    }

    private static void Say(string text)
    {
        Console.WriteLine($"rewritten {Environment.Version}: {text}");
        Console.Out.Flush();
    }
}
