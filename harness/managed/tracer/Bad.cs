// SPDX-License-Identifier: MIT
using System;

namespace Tracer;

/// <summary>A type whose static constructor throws.</summary>
public static class Bad
{
    static Bad() => throw new InvalidOperationException("a static constructor's failure");

    public static void Before(object n) => GC.KeepAlive(n);
}

/// <summary>Methods whose signatures instrumentation does not accept.</summary>
public class Odd
{
    public static void Time(DateTime time) => GC.KeepAlive(time);

    public static void Several(int n) => GC.KeepAlive(n);

    public static void Several(string text) => GC.KeepAlive(text);

    public static void Generic<T>(T value) => GC.KeepAlive(value);

    public static TimeSpan Result() => default;

    public void Instance(object n) => GC.KeepAlive(n);
}
