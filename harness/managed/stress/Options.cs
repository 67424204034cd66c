// SPDX-License-Identifier: MIT
using System;

namespace Stress;

/// <summary>The amount of each kind of work in a round.</summary>
internal struct Options
{
    public const string Names = "nre div gcs loops pool seconds, or until=FILE";

    /// <summary>NullReferenceExceptions.</summary>
    public int Nre = 200;

    /// <summary>DivideByZeroExceptions.</summary>
    public int Div = 100;

    /// <summary>Garbage collections, while `Loops` threads run without safepoints.</summary>
    public int Gcs = 20;

    public int Loops = 1;

    /// <summary>Number of thread pool items, of tasks, and of callbacks from native code.</summary>
    public int Pool = 200;

    /// <summary>Rounds are repeated until this time has passed; 0: one round.</summary>
    public int Seconds = 0;

    /// <summary>Rounds are repeated until this file exists; "": no file.</summary>
    public string Until = "";

    public Options()
    {
    }

    public static bool TryParse(string[] args, out Options options)
    {
        options = new Options();
        foreach (string arg in args)
        {
            int at = arg.IndexOf('=');
            if (arg.StartsWith("until=", StringComparison.Ordinal))
            {
                options.Until = arg[6..];
                continue;
            }
            if (at < 0 || !int.TryParse(arg.AsSpan(at + 1), out int value) || value < 0)
                return false;
            switch (arg[..at])
            {
                case "nre": options.Nre = value; break;
                case "div": options.Div = value; break;
                case "gcs": options.Gcs = value; break;
                case "loops": options.Loops = value; break;
                case "pool": options.Pool = value; break;
                case "seconds": options.Seconds = value; break;
                default: return false;
            }
        }
        return true;
    }
}
