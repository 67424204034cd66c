// SPDX-License-Identifier: MIT
using System;

namespace Calls;

/// <summary>Exceptions of every kind, and the number of calls that one round makes.</summary>
internal static class Faults
{
    public static readonly (string, int)[] CallsOf =
    {
        ("All", 1), ("Throw", 6), ("Nested", 1), ("Inner", 1), ("Rethrow", 1), ("Through", 4), ("Filtered", 1),
        ("Filter", 2), ("InFinally", 1), ("Cleanup", 4), ("Supersede", 1), ("Fault", 1), ("ReadNull", 1),
    };

    private static int sink;

    public static void All()
    {
        try { Nested(); } catch (InvalidOperationException) { sink++; }
        try { Rethrow(); } catch (Exception) { sink++; }
        try { Through(3); } catch (InvalidOperationException) { sink++; }
        Filtered();
        InFinally();
        try { Supersede(); } catch (Exception) { sink++; }
        Fault();
    }

    private static void Throw() => throw new InvalidOperationException("known");

    /// <summary>An exception that is thrown and caught within a catch block.</summary>
    private static void Nested()
    {
        try
        {
            Throw();
        }
        catch (InvalidOperationException)
        {
            Inner();
            throw;
        }
    }

    private static void Inner()
    {
        try { Throw(); } catch (InvalidOperationException) { sink++; }
    }

    private static void Rethrow()
    {
        try
        {
            Throw();
        }
        catch (Exception e)
        {
            throw new Exception("again", e);
        }
    }

    private static void Through(int depth)
    {
        try
        {
            if (depth == 0)
                Throw();
            else
                Through(depth - 1);
        }
        finally
        {
            Cleanup();
        }
    }

    private static void Cleanup() => sink++;

    private static bool Filter(bool answer) => answer;

    private static void Filtered()
    {
        try
        {
            try { Throw(); } catch (Exception) when (Filter(false)) { sink++; }
        }
        catch (Exception) when (Filter(true))
        {
            sink++;
        }
    }

    /// <summary>An exception that is thrown and caught in a finally block, with or without another
    /// one in flight.</summary>
    private static void InFinally()
    {
        try
        {
            sink++;
        }
        finally
        {
            try { Throw(); } catch (InvalidOperationException) { sink++; }
        }
    }

    /// <summary>An exception that replaces another one.</summary>
    private static void Supersede()
    {
        try
        {
            sink++;
            throw new InvalidOperationException("first");
        }
        finally
        {
            throw new ArgumentException("second");
        }
    }

    private sealed class Node
    {
        public int Value = 1;
    }

    private static int ReadNull(Node? node) => node!.Value;

    private static void Fault()
    {
        try { sink += ReadNull(null); } catch (NullReferenceException) { sink++; }
    }
}
