// SPDX-License-Identifier: MIT
using System;
using System.Diagnostics;
using System.Runtime.InteropServices;
using System.Threading;

namespace Interrupts;

/// <summary>
/// A program that signals can disturb. It calls the C library by P/Invoke, so that no preloaded library
/// sees its registrations. Each word of the arguments is a step, and they are done in their order:
///   handler=SIG    sets a managed function as the handler of the signal, by sigaction. The runtime ends
///                  the process when it is called on a thread that runs managed code
///   send=N         sends itself that signal N times, each time on a thread that runs native code
///   work=N:MS      N threads "Works" compute for MS milliseconds
///   burn=N:MS      the same until each has used MS milliseconds of CPU time
///   waits=N        N times each system call that waits for 25 ms, after some work. Prints how many failed
///                  with EINTR, and how many ended early or late
///   exec=PATH      the process becomes another program, while a thread computes
/// At the end prints how often the handler was called. Exit codes: 0, 2 wrong arguments.
/// </summary>
internal static unsafe class Program
{
    private const int EINTR = 4, WaitMs = 25, LateMs = 2000;
    private static int calls, signal;
    private static volatile bool stop;

    [DllImport("libc", SetLastError = true)] private static extern int sigaction(int sig, byte* act, byte* old);
    [DllImport("libc")] private static extern int raise(int sig);
    [DllImport("libc", SetLastError = true)] private static extern int poll(void* fds, nuint n, int ms);
    [DllImport("libc", SetLastError = true)] private static extern int nanosleep(long* time, long* left);
    [DllImport("libc", SetLastError = true)] private static extern int select(int n, void* r, void* w, void* e, long* time);
    [DllImport("libc")] private static extern int epoll_create1(int flags);
    [DllImport("libc", SetLastError = true)] private static extern int epoll_wait(int fd, byte* events, int n, int ms);
    [DllImport("libc")] private static extern int sem_init(byte* sem, int shared, uint value);
    [DllImport("libc", SetLastError = true)] private static extern int sem_timedwait(byte* sem, long* until);
    [DllImport("libc")] private static extern int clock_gettime(int clock, long* time);
    [DllImport("libc")] private static extern int socketpair(int domain, int type, int protocol, int* fds);
    [DllImport("libc")] private static extern int setsockopt(int fd, int level, int name, long* value, uint size);
    [DllImport("libc", SetLastError = true)] private static extern nint recv(int fd, byte* to, nuint n, int flags);
    [DllImport("libc", SetLastError = true)] private static extern int sigtimedwait(ulong* set, void* info, long* time);
    [DllImport("libc")] private static extern int execv(byte* path, byte** arguments);

    [UnmanagedCallersOnly]
    private static void OnSignal(int sig) => Interlocked.Increment(ref calls);

    private static bool SetHandler(int sig)
    {
        byte* act = stackalloc byte[152]; // struct sigaction: the handler, the mask, the flags
        new Span<byte>(act, 152).Clear();
        *(delegate* unmanaged<int, void>*)act = &OnSignal;
        *(int*)(act + 136) = 0x10000000; // SA_RESTART
        signal = sig;
        return sigaction(sig, act, null) == 0;
    }

    private static bool Send(int n)
    {
        for (int i = 0; i < n; i++)
            raise(signal);
        return true;
    }

    private static double Compute(long ms)
    {
        double x = 1;
        for (long began = Stopwatch.GetTimestamp(); !stop && Stopwatch.GetElapsedTime(began).TotalMilliseconds < ms;)
            for (int i = 0; i < 10000; i++)
                x = x * 1.0000001 + 1e-9;
        return x;
    }

    private static double Burn(long ms)
    {
        long* time = stackalloc long[2];
        double x = 1;
        do
        {
            x += Compute(1);
            clock_gettime(3, time); // CLOCK_THREAD_CPUTIME_ID
        } while (time[0] * 1000 + time[1] / 1_000_000 < ms);
        return x;
    }

    private static bool Work(int n, int ms, Func<long, double> compute)
    {
        Thread[] all = new Thread[n];
        for (int i = 0; i < n; i++)
            (all[i] = new Thread(() => compute(ms)) { Name = "Works" }).Start();
        foreach (Thread t in all)
            t.Join();
        return true;
    }

    private static long* After(long* time, long seconds, long ns)
    {
        time[1] += ns;
        time[0] += seconds + time[1] / 1_000_000_000;
        time[1] %= 1_000_000_000;
        return time;
    }

    // Whether the call did not time out but failed with EINTR.
    private static bool WaitOnce(string kind, int epoll, int socket, byte* sem)
    {
        long* time = stackalloc long[2] { 0, WaitMs * 1_000_000 };
        byte* buffer = stackalloc byte[64];
        ulong* set = stackalloc ulong[16];
        long result;
        new Span<ulong>(set, 16).Clear();
        set[0] = 1UL << 9; // SIGUSR1
        switch (kind)
        {
            case "poll": result = poll(null, 0, WaitMs); break;
            case "nanosleep": result = nanosleep(time, null); break;
            case "select": time[1] /= 1000; result = select(0, null, null, null, time); break;
            case "epoll_wait": result = epoll_wait(epoll, buffer, 1, WaitMs); break;
            case "recv": result = recv(socket, buffer, 1, 0); break;
            case "sigtimedwait": result = sigtimedwait(set, null, time); break;
            default:
                clock_gettime(0, time);
                result = sem_timedwait(sem, After(time, 0, WaitMs * 1_000_000));
                break;
        }
        return result < 0 && Marshal.GetLastPInvokeError() == EINTR;
    }

    private static bool Waits(int n)
    {
        byte* sem = (byte*)NativeMemory.AllocZeroed(64);
        int* fds = stackalloc int[2];
        long* time = stackalloc long[2] { 0, WaitMs * 1000 };
        int epoll = epoll_create1(0);
        sem_init(sem, 0, 0);
        socketpair(1, 1, 0, fds);
        setsockopt(fds[0], 1, 20, time, 16); // SO_RCVTIMEO
        foreach (string kind in new[] { "poll", "nanosleep", "select", "epoll_wait", "sem_timedwait", "recv", "sigtimedwait" })
        {
            int interrupted = 0, early = 0, late = 0;
            for (int i = 0; i < n; i++)
            {
                Compute(3);
                long began = Stopwatch.GetTimestamp();
                bool failed = WaitOnce(kind, epoll, fds[0], sem);
                double ms = Stopwatch.GetElapsedTime(began).TotalMilliseconds;
                interrupted += failed ? 1 : 0;
                early += !failed && ms < WaitMs - 1 ? 1 : 0;
                late += ms > LateMs ? 1 : 0;
            }
            Console.WriteLine($"waits: {kind} {n} interrupted {interrupted} early {early} late {late}");
        }
        return true;
    }

    private static bool Become(string path)
    {
        new Thread(() => Compute(60000)) { IsBackground = true }.Start();
        byte* name = (byte*)Marshal.StringToCoTaskMemUTF8(path);
        byte** arguments = stackalloc byte*[2] { name, null };
        Compute(300);
        execv(name, arguments);
        return false;
    }

    private static bool Step(string name, string value)
    {
        string[] parts = value.Split(':');
        return name switch
        {
            "handler" => SetHandler(int.Parse(value)),
            "send" => Send(int.Parse(value)),
            "work" => Work(int.Parse(parts[0]), int.Parse(parts[1]), Compute),
            "burn" => Work(int.Parse(parts[0]), int.Parse(parts[1]), Burn),
            "waits" => Waits(int.Parse(value)),
            "exec" => Become(value),
            _ => false,
        };
    }

    private static int Main(string[] args)
    {
        foreach (string word in args)
        {
            int at = word.IndexOf('=');
            if (at < 0 || !Step(word[..at], word[(at + 1)..]))
            {
                Console.Error.WriteLine($"interrupts: wrong word '{word}'");
                return 2;
            }
        }
        stop = true;
        Console.WriteLine($"interrupts: the handler was called {calls} times");
        return 0;
    }
}
