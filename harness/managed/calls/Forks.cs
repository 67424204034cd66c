// SPDX-License-Identifier: MIT
using System;
using System.Runtime.InteropServices;

namespace Calls;

/// <summary>Forks children that go on in managed code, and end without the runtime's shutdown.</summary>
internal static class Forks
{
    [DllImport("libc")] private static extern int fork();
    [DllImport("libc")] private static extern int waitpid(int pid, out int status, int options);
    [DllImport("libc")] private static extern void _exit(int status);

    public static void Run(int n)
    {
        waitpid(-1, out _, 0); // binds the functions before the first fork
        bool right = Work.Fib(10) == 55;
        for (int i = 0; i < n; i++)
        {
            int pid = fork();
            if (pid == 0)
                _exit(Work.Fib(10) == 55 && right ? 0 : 1);
            if (waitpid(pid, out int status, 0) != pid || status != 0)
                throw new Exception($"child {pid} ended with status {status}");
        }
    }
}
