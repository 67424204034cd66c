// SPDX-License-Identifier: MIT
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Guest;

/// <summary>Methods that a host calls. It finds them by name with coreclr_create_delegate; the C
/// side is tests/hosts/hosting.h.</summary>
internal static unsafe class Exports
{
    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static int All(int rounds) => Work.All(rounds);

    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static int Faults(int n) => Work.Faults(n);

    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static int Collect(int n) => Work.Collect(n);

    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static int Compute(int n) => Work.Compute(n);

    /// <summary>Prints "guest: line n" by Console.WriteLine.</summary>
    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static int Print(int n)
    {
        Console.WriteLine($"guest: line {n}");
        Console.Out.Flush();
        return n;
    }

    /// <summary>Prints "guest: exit n" when the runtime raises ProcessExit.</summary>
    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static int NotesExit(int n)
    {
        AppDomain.CurrentDomain.ProcessExit += (_, _) => Say($"guest: exit {n}");
        return n;
    }

    /// <summary>Prints "guest: signal NAME" at each signal of that number, whose default action
    /// follows.</summary>
    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static int NotesSignal(int signal)
    {
        registration = PosixSignalRegistration.Create((PosixSignal)signal, context => Say($"guest: signal {context.Signal}"));
        return signal;
    }

    private static PosixSignalRegistration? registration;

    private static void Say(string line)
    {
        Console.WriteLine(line);
        Console.Out.Flush();
    }

    /// <summary>Ends the process by an unhandled exception.</summary>
    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static int Unhandled(int n) => throw new InvalidOperationException($"unhandled {n}");

    /// <summary>Calls native code through 10 further managed frames, and returns its
    /// result.</summary>
    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static int CallBack(delegate* unmanaged[Cdecl]<nint, int> callee, nint argument) =>
        Descend(callee, argument, 10);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int Descend(delegate* unmanaged[Cdecl]<nint, int> callee, nint argument, int depth)
    {
        int result = depth > 0 ? Descend(callee, argument, depth - 1) : callee(argument);
        return result + (depth > 0 ? 0 : Keep());
    }

    // Prevents the call above from being a tail call.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int Keep() => 0;
}
