// SPDX-License-Identifier: MIT
using System.Collections.Generic;
using System.IO;
using System.Linq;

namespace Hops;

/// <summary>A managed frame: index of the app, and name without generic arguments and
/// parameters.</summary>
internal readonly record struct Frame(int App, string Name);

/// <summary>The expected stack at the last hop, computed from the number of hops and of
/// apps.</summary>
internal static class Expected
{
    /// <summary>Returns all managed frames of user code, youngest first, beginning with
    /// Probe.Bottom.</summary>
    public static IEnumerable<Frame> Stack(int max, int apps)
    {
        yield return new(max % apps, "Hops.Probe.Bottom");
        for (int hop = max; hop > 0; hop--)
        {
            int app = hop % apps;
            yield return new(app, "Hops.Chain.Down");
            foreach (string name in Shapes.FramesOf(hop))
                yield return new(app, name);
            yield return new(app, "Hops.Shapes.Pass");
            yield return new(app, "Hops.Chain.Arrive");
            string entry = Chain.EntersByDelegate(app) ? "Hops.Door.Enter" : "Hops.Chain.Enter";
            yield return new(app, entry);
        }
        yield return new(0, "Hops.Chain.Start");
        yield return new(0, "Hops.Program.Lead");
        yield return new(0, "Hops.Program.Main");
    }

    /// <summary>Writes the expected printed stack, which also has the frame Probe.Print.</summary>
    public static void Write(string path, int max, int apps) =>
        File.WriteAllLines(path, Stack(max, apps)
            .Prepend(new(max % apps, "Hops.Probe.Print"))
            .Select(frame => $"{frame.App} {frame.Name}"));
}
