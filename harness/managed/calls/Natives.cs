// SPDX-License-Identifier: MIT
using System;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Calls;

/// <summary>Exceptions that reach native code of the runtime, or native frames of other
/// code.</summary>
internal static unsafe class Natives
{
    private static class Generic<T>
    {
        public static readonly int Value = Start();

        static Generic() { }

        private static int Start() => throw new InvalidOperationException("in a static constructor");
    }

    private static class Explicit
    {
        static Explicit() => throw new ArgumentException("on request");
    }

    private sealed class Made
    {
        public Made() => throw new FormatException("made");
    }

    public static void Reflected() => throw new NotSupportedException("reflected");

    private static int sink;

    [DllImport("no-such-library", EntryPoint = "nothing")]
    private static extern int Nothing();

    private static void Expect<T>(Action action) where T : Exception
    {
        try
        {
            action();
        }
        catch (T)
        {
            sink++;
            return;
        }
        throw new InvalidOperationException("no " + typeof(T));
    }

    private static Assembly? Resolve(object? sender, ResolveEventArgs args) =>
        throw new TimeoutException("cannot resolve");

    public static void All(int rounds)
    {
        Expect<TypeInitializationException>(() => sink += Generic<int>.Value);
        Expect<TypeInitializationException>(() => sink += Generic<int>.Value); // the same exception again
        Expect<TypeInitializationException>(() => sink += Generic<string>.Value);
        Expect<TypeInitializationException>(() => RuntimeHelpers.RunClassConstructor(typeof(Explicit).TypeHandle));
        MethodInfo method = typeof(Natives).GetMethod(nameof(Reflected))!;
        for (int i = 0; i < rounds; i++)
        {
            Expect<TargetInvocationException>(() => method.Invoke(null, null));
            Expect<TargetInvocationException>(() => Activator.CreateInstance(typeof(Made)));
            Expect<DllNotFoundException>(() => Nothing());
        }
        AppDomain.CurrentDomain.AssemblyResolve += Resolve;
        Expect<Exception>(() => Assembly.Load("None.Such"));
        AppDomain.CurrentDomain.AssemblyResolve -= Resolve;
    }

    [UnmanagedCallersOnly]
    private static int Compare(void* a, void* b) => throw new InvalidOperationException("through native frames");

    [DllImport("libc", EntryPoint = "qsort")]
    private static extern void Sort(int* all, nint n, nint size, delegate* unmanaged<void*, void*, int> compare);

    /// <summary>Ends the process, because an exception may not leave for native frames.</summary>
    public static void Through()
    {
        int* two = stackalloc int[2];
        try
        {
            Sort(two, 2, sizeof(int), &Compare);
        }
        catch (InvalidOperationException)
        {
            Console.WriteLine("calls: caught beyond native frames");
        }
    }

    [UnmanagedCallersOnly]
    public static void Cross(int depth, int max, nint arg)
    {
        if (depth > max)
            throw new InvalidOperationException("from runtime to runtime");
        Pass(depth, max);
    }

    private static void Pass(int depth, int max)
    {
        try
        {
            Sxs.Bridge.Hop(depth, max, 0);
        }
        catch (InvalidOperationException)
        {
            Console.WriteLine("calls: caught in another runtime");
        }
        finally
        {
            sink++;
        }
    }
}
