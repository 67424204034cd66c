// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text.Json;

using Microsoft.Diagnostics.Runtime;

/// <summary>
/// Reads the heaps of all runtimes in a core dump with ClrMD, and prints them as JSON: for each
/// runtime its version and path, and for each type its objects and bytes by kind of segment.
/// Usage: clrmd DUMP [EDGES]. Exit status 1: a runtime could not be read; what could be is printed.
/// To the file EDGES it writes a line for each reference of an object: the runtime's path, the
/// addresses of both objects, and the field or the element, with a tab between them.
/// </summary>
internal static class Program
{
    private sealed class Sum
    {
        public long Objects { get; set; }
        public long Bytes { get; set; }
        public long Frozen { get; set; }
    }

    private static int Main(string[] args)
    {
        using DataTarget target = DataTarget.LoadDump(args[0]);
        using StreamWriter? edges = args.Length > 1 ? new StreamWriter(args[1]) : null;
        var runtimes = new List<object>();
        bool whole = true;
        foreach (ClrInfo info in target.ClrVersions)
        {
            try
            {
                runtimes.Add(Read(info, edges));
            }
            catch (Exception e) when (e is ClrDiagnosticsException or InvalidOperationException or IOException or FileNotFoundException)
            {
                whole = false;
                runtimes.Add(new { version = Version(info), path = info.ModuleInfo.FileName, error = e.Message });
            }
        }
        Console.WriteLine(JsonSerializer.Serialize(new { runtimes }));
        return whole && runtimes.Count > 0 ? 0 : 1;
    }

    private static string Version(ClrInfo info) => info.Version.ToString();

    /// <summary>
    /// The name of the reference at an offset of a type: "a", "a.b" in a struct, "a[3]" in an inline array; "?" where
    /// fields overlap.
    /// </summary>
    private static string Field(ClrType type, int offset, int size)
    {
        var fields = type.Fields.ToList();
        if (fields.Count == 1 && size > fields[0].Size)
            return $"[{offset / fields[0].Size}]"; // to the runtime, an inline array is one field
        var at = fields.Where(f => f.IsValueType ? offset >= f.Offset && offset < f.Offset + Size(f, fields, size) : offset == f.Offset && f.IsObjectReference).ToList();
        if (at.Count != 1)
            return "?";
        if (!at[0].IsValueType)
            return at[0].Name ?? "?";
        string inner = at[0].Type == null ? "?" : Field(at[0].Type!, offset - at[0].Offset, Size(at[0], fields, size));
        return at[0].Name + (inner[0] == '[' ? "" : ".") + inner;
    }

    /// <summary>The bytes up to the next field: ClrMD has those of one element for an inline array.</summary>
    private static int Size(ClrInstanceField field, List<ClrInstanceField> fields, int size) =>
        fields.Where(f => f.Offset > field.Offset).Select(f => f.Offset).DefaultIfEmpty(size).Min() - field.Offset;

    private static string Edge(ClrObject from, ClrReference to)
    {
        ClrType type = from.Type!;
        if (!type.IsArray)
            return Field(type, to.Offset, (int)from.Size - 2 * sizeof(long));
        int data = (int)(type.GetArrayElementAddress(from.Address, 0) - from.Address) - sizeof(long);
        int index = Math.DivRem(to.Offset - data, type.ComponentSize, out int offset);
        string inner = type.ComponentType is { IsValueType: true } c ? "." + Field(c, offset, type.ComponentSize) : "";
        return $"[{index}]{inner}";
    }

    private static object Read(ClrInfo info, StreamWriter? edges)
    {
        string folder = Path.GetDirectoryName(info.ModuleInfo.FileName)!;
        using ClrRuntime runtime = info.CreateRuntime(Path.Combine(folder, "libmscordaccore.so"), true);
        var types = new Dictionary<string, Sum>();
        var free = new Sum();
        long unknown = 0;
        foreach (ClrSegment segment in runtime.Heap.Segments)
        {
            foreach (ClrObject at in segment.EnumerateObjects())
            {
                if (!at.IsValid || at.Type == null)
                {
                    unknown++;
                    continue;
                }
                Sum sum = free;
                if (!at.IsFree)
                {
                    string name = at.Type.Name ?? "?";
                    if (!types.TryGetValue(name, out sum!))
                        types[name] = sum = new Sum();
                }
                if (!at.IsFree && edges != null)
                    foreach (ClrReference to in at.EnumerateReferencesWithFields(false, false))
                        edges.WriteLine($"{info.ModuleInfo.FileName}\t{at.Address:x}\t{to.Object.Address:x}\t{Edge(at, to)}");
                sum.Objects++;
                sum.Bytes += ((long)at.Size + 7) & ~7L; // what it takes on the heap
                sum.Frozen += segment.Kind == GCSegmentKind.Frozen ? 1 : 0;
            }
        }
        return new
        {
            version = Version(info),
            path = info.ModuleInfo.FileName,
            server = runtime.Heap.IsServer,
            walkable = runtime.Heap.CanWalkHeap,
            unknown,
            free,
            types = types.OrderByDescending(t => t.Value.Bytes).ToDictionary(t => t.Key, t => t.Value),
        };
    }
}
