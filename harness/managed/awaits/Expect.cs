// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;

namespace Sxs.Awaiting;

/// <summary>Compares the profiler's logical stack with the stack that the program
/// expects.</summary>
internal static unsafe class Expect
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
    private static readonly byte[] mode = "logical\0"u8.ToArray();
    [ThreadStatic] private static int fd;
    [ThreadStatic] private static byte[]? bytes;
    private static int asked, same;
    private static readonly Dictionary<string, int> differ = new();

    public static void Prepare()
    {
        string? path = Environment.GetEnvironmentVariable("CORECLR_PROFILER_PATH");
        if (path == null)
            return;
        print = (delegate* unmanaged<int, byte*, int>)NativeLibrary.GetExport(
            NativeLibrary.Load(path), "sxsprof_print_stack");
    }

    /// <summary>Compares the methods of Chains on the logical stack with <paramref
    /// name="methods"/>, the youngest first. A "?" before a name means that this method and those
    /// after it may be missing, because the method may not have awaited yet.</summary>
    public static void Stack(params string[] methods)
    {
        if (print == null)
            return;
        string want = string.Join(" ", methods), have = string.Join(" ", Logical());
        Interlocked.Increment(ref asked);
        int sure = want.IndexOf(" ?", StringComparison.Ordinal);
        if (want.Replace("?", "") == have || (sure >= 0 && want[..sure] == have))
        {
            Interlocked.Increment(ref same);
            return;
        }
        string line = $"expected {want}, got {have}";
        lock (differ)
            differ[line] = differ.GetValueOrDefault(line) + 1;
    }

    private static List<string> Logical()
    {
        var frames = new List<string>();
        bytes ??= new byte[1 << 18];
        if (fd == 0)
            fd = MemFd("logical", 0);
        Truncate(fd, 0);
        Seek(fd, 0, 0);
        fixed (byte* at = mode)
            print(fd, at);
        int size;
        fixed (byte* to = bytes)
            size = (int)Read(fd, to, (nuint)bytes.Length, 0);
        foreach (string line in Encoding.UTF8.GetString(bytes, 0, size < 0 ? 0 : size).Split('\n'))
        {
            string[] part = line.Split('\t');
            int from = part.Length < 5 ? -1 : part[4].IndexOf("Chains", StringComparison.Ordinal);
            if (from < 0)
                continue;
            int begin = part[4].IndexOf("+<", from, StringComparison.Ordinal);
            if (begin >= 0 && part[4].Contains(".MoveNext("))
                frames.Add(part[4][(begin + 2)..part[4].IndexOf('>', begin)]);
        }
        return frames;
    }

    public static bool Report()
    {
        Console.WriteLine($"awaits: asked {asked} same {same}");
        foreach ((string line, int n) in differ)
            Console.WriteLine($"awaits: {n} times {line}");
        return asked == same;
    }
}
