// SPDX-License-Identifier: MIT
using System;
using System.Runtime.CompilerServices;

namespace Unloads;

/// <summary>What is loaded again and again.</summary>
public static class Plugin
{
    private sealed class Failure : Exception
    {
        public Failure(string message) : base(message) { }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Fail(int n) => throw new Failure("plugin " + n);

    /// <summary>Throws and catches; returns how often.</summary>
    public static int Run(int n)
    {
        int caught = 0;
        for (int i = 0; i < n; i++)
        {
            try
            {
                Fail(i);
            }
            catch (Failure)
            {
                caught++;
            }
        }
        return caught;
    }
}
