// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.IO;
using System.Runtime.InteropServices;
using System.Text;

namespace Calls;

/// <summary>Compares the profiler's shadow stack with its walk of the managed stack (mode
/// "managed").</summary>
internal static unsafe class Probe
{
    [DllImport("libc", EntryPoint = "memfd_create")]
    private static extern int MemFd([MarshalAs(UnmanagedType.LPUTF8Str)] string name, uint flags);

    [DllImport("libc", EntryPoint = "ftruncate")]
    private static extern int Truncate(int fd, nint size);

    [DllImport("libc", EntryPoint = "lseek")]
    private static extern nint Seek(int fd, nint at, int whence);

    [DllImport("libc", EntryPoint = "pread")]
    private static extern nint Read(int fd, byte* to, nuint size, nint at);

    private static delegate* unmanaged<int, byte*, int> print;
    private static int fd = -1, left, every = 1;
    private static uint dice = 1;
    private static byte[] managedMode = "managed\0"u8.ToArray(), shadowMode = "shadow\0"u8.ToArray();
    private static byte[] bytes = new byte[1 << 20];
    private static readonly Dictionary<string, int> differ = new();

    public static int Asked, Same;

    /// <summary>Makes Here() compare the stacks in one of <paramref name="once"/> calls on average,
    /// until it has compared them <paramref name="count"/> times.</summary>
    public static void Prepare(int count, int once, int seed)
    {
        string? path = Environment.GetEnvironmentVariable("CORECLR_PROFILER_PATH");
        left = count;
        every = once;
        dice = (uint)seed * 2654435761u + 1;
        if (path == null)
            throw new InvalidOperationException("probes need the profiler");
        print = (delegate* unmanaged<int, byte*, int>)NativeLibrary.GetExport(
            NativeLibrary.Load(path), "sxsprof_print_stack");
        fd = MemFd("probe", 0);
    }

    public static bool Done => left == 0;

    public static void Here(string where)
    {
        dice ^= dice << 13;
        dice ^= dice >> 17;
        dice ^= dice << 5;
        if (left == 0 || dice % every != 0)
            return;
        left--;
        Asked++;
        List<string> managed = Stack(managedMode), shadow = Stack(shadowMode);
        if (managed.Count == shadow.Count && string.Join("|", managed) == string.Join("|", shadow))
        {
            Same++;
            return;
        }
        if (!differ.ContainsKey(where))
            Show(where, managed, shadow);
        differ[where] = differ.GetValueOrDefault(where) + 1;
    }

    /// <summary>Returns the runtimes and names of this program's methods on the stack, without
    /// generic arguments.</summary>
    private static List<string> Stack(byte[] mode)
    {
        var frames = new List<string>();
        Truncate(fd, 0);
        Seek(fd, 0, 0);
        fixed (byte* at = mode)
            print(fd, at);
        int size;
        fixed (byte* to = bytes)
            size = (int)Read(fd, to, (nuint)bytes.Length, 0);
        foreach (string line in Encoding.UTF8.GetString(bytes, 0, size).Split('\n'))
        {
            string[] part = line.Split('\t');
            if (part.Length < 5)
            {
                if (line.Contains("refused"))
                    frames.Add(line);
                continue;
            }
            if (part[4].StartsWith("Calls."))
                frames.Add(part[3] + " " + Plain(part[4]));
        }
        return frames;
    }

    /// <summary>Removes arguments: Type&lt;T&gt;.Method&lt;U&gt;(V) becomes Type.Method. Names of
    /// types made by the compiler begin with an angle bracket and are kept.</summary>
    private static string Plain(string name)
    {
        var text = new StringBuilder();
        int depth = 0;
        for (int i = 0; i < name.Length && (name[i] != '(' || depth > 0); i++)
        {
            bool arguments = depth > 0 || (i > 0 && (char.IsLetterOrDigit(name[i - 1]) || name[i - 1] == '_'));
            if (name[i] == '<' && arguments)
                depth++;
            else if (name[i] == '>' && depth > 0)
                depth--;
            else if (depth == 0)
                text.Append(name[i]);
        }
        return text.ToString();
    }

    private static void Show(string where, List<string> managed, List<string> shadow)
    {
        Console.WriteLine($"calls: differs {where}: runtime | shadow");
        int m = managed.Count, s = shadow.Count, tail = 0;
        while (tail < m && tail < s && managed[m - 1 - tail] == shadow[s - 1 - tail])
            tail++;
        for (int i = 0; i < Math.Max(m - tail, s - tail) + 2; i++)
            Console.WriteLine($"calls:     {(i < m - tail + 2 && i < m ? managed[i] : "-")} | "
                + $"{(i < s - tail + 2 && i < s ? shadow[i] : "-")}");
    }

    public static void Report()
    {
        Console.WriteLine($"calls: probes {Asked} same {Same}");
        foreach ((string where, int n) in differ)
            Console.WriteLine($"calls: differ {n} {where}");
    }
}
