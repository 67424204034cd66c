// SPDX-License-Identifier: MIT
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.IO.Compression;
using System.Linq;
using System.Linq.Expressions;
using System.Net;
using System.Net.Sockets;
using System.Numerics;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using System.Text.RegularExpressions;
using System.Threading;
using System.Threading.Channels;
using System.Threading.Tasks;
using System.Xml;
using System.Xml.Linq;
using System.Xml.Serialization;

namespace Prepare;

/// <summary>Uses many parts of the libraries. The results are known and do not depend on a
/// profiler.</summary>
public static class Uses
{
    public sealed class Order
    {
        public int Number { get; set; }
        public string Customer { get; set; } = "";
        public List<string> Items { get; set; } = new();
        public Dictionary<string, double> Prices { get; set; } = new();
    }

    private static readonly (string Name, Func<string> What)[] all =
    {
        ("json", Json), ("linq", Linq), ("regex", Patterns), ("xml", Xml), ("files", Files), ("expressions", Expressions),
        ("emit", Emitted), ("exceptions", Exceptions), ("threads", Threads), ("channels", Channels), ("async", Async),
        ("sockets", Sockets), ("numbers", Numbers), ("text", Texts), ("collections", Collections), ("crypto", Crypto),
        ("reflection", Reflected), ("collected", Collected), ("dynamic", Dynamic), ("spans", Spans), ("dates", Dates),
    };

    public static void All(TextWriter to)
    {
        foreach ((string name, Func<string> what) in all)
        {
            string result;
            try
            {
                result = what();
            }
            catch (Exception e)
            {
                result = e.GetType() + ": " + e.Message;
            }
            to.WriteLine($"uses {name}: {result}");
        }
    }

    private static Order Sample() => new()
    {
        Number = 17, Customer = "Ада \"L\"", Items = { "engine", "notes" },
        Prices = { ["engine"] = 1e6, ["notes"] = 0.25 },
    };

    private static string Json()
    {
        string text = JsonSerializer.Serialize(Sample());
        Order back = JsonSerializer.Deserialize<Order>(text)!;
        using JsonDocument document = JsonDocument.Parse("{\"a\":[1,2,{\"b\":null}]}");
        string wrong = "";
        try
        {
            JsonSerializer.Deserialize<Order>("{\"Number\":\"x\"}");
        }
        catch (JsonException e)
        {
            wrong = e.Path ?? "";
        }
        return $"{text} {back.Prices.Values.Sum()} {document.RootElement.GetProperty("a")[2]} {wrong}";
    }

    private static string Linq()
    {
        int[] numbers = Enumerable.Range(1, 200).ToArray();
        var groups = numbers.GroupBy(n => n % 7).OrderByDescending(g => g.Sum()).ThenBy(g => g.Key)
            .Select(g => g.Key + ":" + g.Count());
        int parallel = numbers.AsParallel().Where(n => n % 3 == 0).Sum();
        var query = numbers.AsQueryable().Where(n => n > 190).Select(n => n * 2);
        return string.Join(" ", groups) + " " + parallel + " " + string.Join(",", query) + " " +
            numbers.Zip(numbers.Skip(1), (a, b) => a * b).Aggregate(0L, (a, b) => a + b);
    }

    private static string Patterns()
    {
        var plain = new Regex(@"(?<word>\w+)@(\w+)\.(com|org)");
        var compiled = new Regex(@"\b(\d{1,3})(\.\d{1,3}){3}\b", RegexOptions.Compiled);
        var linear = new Regex("a+b+", RegexOptions.NonBacktracking);
        return plain.Replace("me@here.com you@there.org", "<${word}>") + " " +
            compiled.Match("at 10.20.30.40 now").Value + " " + linear.Matches("aabb ab b aab").Count;
    }

    private static string Xml()
    {
        var serializer = new XmlSerializer(typeof(List<int>));
        var text = new StringWriter();
        serializer.Serialize(text, new List<int> { 1, 2, 3 });
        var back = (List<int>)serializer.Deserialize(new StringReader(text.ToString()))!;
        XDocument tree = XDocument.Parse("<a><b n='1'/><b n='2'>two</b></a>");
        var document = new XmlDocument();
        document.LoadXml(tree.ToString());
        string wrong = "";
        try
        {
            XDocument.Parse("<a><b></a>");
        }
        catch (XmlException e)
        {
            wrong = e.LineNumber + ":" + e.LinePosition;
        }
        return back.Sum() + " " + tree.Descendants("b").Sum(b => (int)b.Attribute("n")!) + " " +
            document.SelectNodes("//b[@n>1]")!.Count + " " + wrong;
    }

    private static string Files() => FilesAsync().GetAwaiter().GetResult();

    private static async Task<string> FilesAsync()
    {
        string path = Path.GetTempFileName();
        try
        {
            await File.WriteAllTextAsync(path, string.Concat(Enumerable.Repeat("line of text\n", 500)));
            string[] lines = await File.ReadAllLinesAsync(path);
            var packed = new MemoryStream();
            using (var zip = new GZipStream(packed, CompressionLevel.Optimal, true))
            await using (FileStream file = File.OpenRead(path))
                await file.CopyToAsync(zip);
            packed.Position = 0;
            using var reader = new StreamReader(new GZipStream(packed, CompressionMode.Decompress));
            string text = await reader.ReadToEndAsync();
            return $"{lines.Length} {text.Length} {new FileInfo(path).Length}";
        }
        finally
        {
            File.Delete(path);
        }
    }

    private static string Expressions()
    {
        ParameterExpression x = Expression.Parameter(typeof(int), "x");
        var f = Expression.Lambda<Func<int, int>>(Expression.TryCatchFinally(
            Expression.Divide(Expression.Constant(1000), x), Expression.Empty(),
            Expression.Catch(typeof(DivideByZeroException), Expression.Constant(-1))), x);
        Expression<Func<string, int>> g = s => s.Length * 2;
        return f.Compile()(8) + " " + f.Compile()(0) + " " + f.Compile(true)(10) + " " + g.Compile()("four");
    }

    private static string Emitted()
    {
        AssemblyBuilder assembly = AssemblyBuilder.DefineDynamicAssembly(new AssemblyName("made"), AssemblyBuilderAccess.RunAndCollect);
        TypeBuilder type = assembly.DefineDynamicModule("made").DefineType("Made", TypeAttributes.Public);
        ILGenerator il = type.DefineMethod("Twice", MethodAttributes.Public | MethodAttributes.Static, typeof(int), new[] { typeof(int) })
            .GetILGenerator();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Dup);
        il.Emit(OpCodes.Add);
        il.Emit(OpCodes.Ret);
        var dynamic = new DynamicMethod("Three", typeof(int), Type.EmptyTypes);
        il = dynamic.GetILGenerator();
        il.Emit(OpCodes.Ldc_I4_3);
        il.Emit(OpCodes.Ret);
        return type.CreateType()!.GetMethod("Twice")!.Invoke(null, new object[] { 21 }) + " " +
            ((Func<int>)dynamic.CreateDelegate(typeof(Func<int>)))();
    }

    private static bool Note(List<string> notes, string note)
    {
        notes.Add(note);
        return note == "filter 2";
    }

    private static string Exceptions()
    {
        var notes = new List<string>();
        for (int i = 0; i < 3; i++)
        {
            try
            {
                try
                {
                    object? nothing = i == 1 ? null : "x";
                    notes.Add(nothing!.ToString()! + 6 / (2 - i));
                }
                finally
                {
                    notes.Add("finally " + i);
                }
            }
            catch (DivideByZeroException) when (Note(notes, "filter " + i))
            {
                notes.Add("divided");
            }
            catch (NullReferenceException e)
            {
                notes.Add(e.StackTrace!.Contains("Exceptions") ? "null" : "no trace");
            }
        }
        try
        {
            Task.WaitAll(Task.Run(() => int.Parse("many")), Task.Run(() => new int[1].ElementAt(notes.Count)));
        }
        catch (AggregateException e)
        {
            notes.Add(string.Join("+", e.Flatten().InnerExceptions.Select(inner => inner.GetType().Name).OrderBy(n => n, StringComparer.Ordinal)));
        }
        try
        {
            typeof(Convert).GetMethod("ToInt32", new[] { typeof(string) })!.Invoke(null, new object[] { "x" });
        }
        catch (TargetInvocationException e)
        {
            notes.Add(e.InnerException!.GetType().Name);
        }
        try
        {
            RuntimeHelpers.EnsureSufficientExecutionStack();
            _ = (string)(object)notes;
        }
        catch (InvalidCastException)
        {
            notes.Add("cast");
        }
        return string.Join(" ", notes);
    }

    [ThreadStatic] private static int mine;

    private static string Threads()
    {
        int sum = 0;
        object gate = new();
        using var barrier = new Barrier(4);
        using var ready = new ManualResetEventSlim();
        var local = new ThreadLocal<int>(() => 5);
        Thread[] threads = Enumerable.Range(0, 4).Select(i => new Thread(() =>
        {
            barrier.SignalAndWait();
            ready.Wait();
            mine += i;
            for (int n = 0; n < 1000; n++)
                lock (gate)
                    sum++;
            Interlocked.Add(ref sum, mine + local.Value);
        })).ToArray();
        foreach (Thread thread in threads)
            thread.Start();
        ready.Set();
        foreach (Thread thread in threads)
            thread.Join();
        int done = 0;
        Parallel.For(0, 100, _ => Interlocked.Increment(ref done));
        using var timed = new ManualResetEvent(false);
        using var timer = new Timer(_ => timed.Set(), null, 5, Timeout.Infinite);
        var slim = new SemaphoreSlim(0);
        Task.Run(() => slim.Release());
        return $"{sum} {done} {timed.WaitOne(10000)} {slim.Wait(10000)}";
    }

    private static string Channels()
    {
        Channel<int> channel = Channel.CreateBounded<int>(4);
        Task writer = Task.Run(async () =>
        {
            for (int i = 0; i < 50; i++)
                await channel.Writer.WriteAsync(i);
            channel.Writer.Complete();
        });
        int sum = 0;
        while (channel.Reader.WaitToReadAsync().AsTask().Result)
            while (channel.Reader.TryRead(out int item))
                sum += item;
        writer.Wait();
        return sum.ToString();
    }

    private static async IAsyncEnumerable<int> Counted(int n, [EnumeratorCancellation] CancellationToken stop = default)
    {
        for (int i = 0; i < n; i++)
        {
            await Task.Delay(1, stop);
            yield return i;
        }
    }

    private static string Async() => AsyncAll().GetAwaiter().GetResult();

    private static async Task<string> AsyncAll()
    {
        int sum = 0;
        await foreach (int i in Counted(5))
            sum += i;
        using var stop = new CancellationTokenSource();
        stop.CancelAfter(5);
        string ended = "not";
        try
        {
            await Task.Delay(Timeout.Infinite, stop.Token);
        }
        catch (OperationCanceledException)
        {
            ended = "canceled";
        }
        int[] some = await Task.WhenAll(Enumerable.Range(0, 10).Select(async i =>
        {
            await Task.Yield();
            return i * i;
        }));
        return $"{sum} {ended} {some.Sum()}";
    }

    private static string Sockets() => SocketsAsync().GetAwaiter().GetResult();

    private static async Task<string> SocketsAsync()
    {
        var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        Task<string> server = Task.Run(async () =>
        {
            using TcpClient one = await listener.AcceptTcpClientAsync();
            using var reader = new StreamReader(one.GetStream());
            using var writer = new StreamWriter(one.GetStream()) { AutoFlush = true };
            string line = await reader.ReadLineAsync() ?? "";
            await writer.WriteLineAsync(line.ToUpperInvariant());
            return line;
        });
        using var client = new TcpClient();
        await client.ConnectAsync(IPAddress.Loopback, ((IPEndPoint)listener.LocalEndpoint).Port);
        using var toServer = new StreamWriter(client.GetStream()) { AutoFlush = true };
        using var fromServer = new StreamReader(client.GetStream());
        await toServer.WriteLineAsync("hello");
        string? answer = await fromServer.ReadLineAsync();
        await server;
        listener.Stop();
        return answer ?? "";
    }

    private static string Numbers() =>
        BigInteger.Pow(7, 60) + " " + 0.1m * 3 + " " + (0.1 + 0.2).ToString("R", CultureInfo.InvariantCulture) + " " +
        Math.Round(2.5) + " " + Convert.ToString(-5L, 2).Length + " " + int.Parse("7f", NumberStyles.HexNumber) + " " +
        Vector.Dot(new Vector<int>(2), Vector<int>.One) / Vector<int>.Count + " " + BitOperations.PopCount(0xf0f0u) + " " +
        Complex.Sqrt(-4).Imaginary + " " + Int128.MaxValue;

    private static string Texts()
    {
        var text = new StringBuilder();
        text.AppendFormat(CultureInfo.InvariantCulture, "{0,8:F2}|{1:x4}|{2:D}", 3.14159, 255, DayOfWeek.Friday);
        text.Append('|').AppendJoin(',', "c b a".Split(' ').OrderBy(s => s));
        byte[] bytes = Encoding.UTF8.GetBytes("zażółć 🦉");
        return text + "|" + Encoding.UTF8.GetString(bytes).Length + "|" + Convert.ToBase64String(bytes) + "|" +
            "straße".ToUpperInvariant() + "|" + "a-b-c".Replace("-", "") + "|" + string.Compare("a", "B", StringComparison.OrdinalIgnoreCase);
    }

    private static string Collections()
    {
        var queue = new PriorityQueue<string, int>();
        foreach (string word in "the quick brown fox jumps".Split())
            queue.Enqueue(word, word.Length * 100 + word[0]);
        var sorted = new SortedDictionary<string, int>(StringComparer.Ordinal) { ["b"] = 2, ["a"] = 1 };
        var shared = new ConcurrentDictionary<int, int>();
        Parallel.For(0, 200, i => shared.AddOrUpdate(i % 10, 1, (_, n) => n + 1));
        var set = new HashSet<int>(Enumerable.Range(0, 20));
        set.SymmetricExceptWith(Enumerable.Range(10, 20));
        var linked = new LinkedList<int>(set);
        linked.RemoveFirst();
        return queue.Dequeue() + " " + string.Join(",", sorted) + " " + shared.Values.Sum() + " " + linked.Sum() + " " +
            new Stack<int>(new[] { 1, 2, 3 }).Peek() + " " + new List<int> { 3, 1, 2 }.BinarySearch(2);
    }

    private static string Crypto()
    {
        byte[] data = Encoding.ASCII.GetBytes("message");
        try
        {
            return Convert.ToHexString(SHA256.HashData(data));
        }
        catch (Exception e) when (e is TypeInitializationException or DllNotFoundException or PlatformNotSupportedException)
        {
            return "not here";
        }
    }

    private static string Reflected()
    {
        var order = Activator.CreateInstance<Order>();
        typeof(Order).GetProperty("Number")!.SetValue(order, 5);
        object list = Activator.CreateInstance(typeof(List<>).MakeGenericType(typeof(Order)))!;
        list.GetType().GetMethod("Add")!.Invoke(list, new object[] { order });
        return typeof(Order).GetProperties().Length + " " + ((List<Order>)list)[0].Number + " " +
            typeof(Dictionary<string, int[]>) + " " + typeof(Uses).GetMethod("All")!.IsStatic;
    }

    private sealed class Last
    {
        public static int ended;

        ~Last() => ended++;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Leave()
    {
        for (int i = 0; i < 10; i++)
            _ = new Last();
    }

    private static string Collected()
    {
        Last.ended = 0;
        Leave();
        for (int i = 0; i < 5 && Last.ended < 10; i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
        var table = new ConditionalWeakTable<object, string>();
        object key = new();
        table.Add(key, "kept");
        GC.Collect();
        var weak = new WeakReference<object>(key);
        string kept = table.TryGetValue(key, out string? value) + " " + value + " " + weak.TryGetTarget(out _);
        GC.KeepAlive(key);
        return (Last.ended >= 9) + " " + kept;
    }

    private static string Dynamic()
    {
        dynamic value = 20;
        value += 1;
        dynamic text = "ab";
        return (value * 2).ToString() + " " + text.Length + " " + (string)text.ToUpper();
    }

    private static string Spans()
    {
        Span<int> some = stackalloc int[16];
        for (int i = 0; i < some.Length; i++)
            some[i] = 31 * i % 17;
        some.Sort();
        ReadOnlySpan<char> text = "  12, 13 ";
        int comma = text.IndexOf(',');
        var pool = System.Buffers.ArrayPool<byte>.Shared;
        byte[] rented = pool.Rent(100);
        pool.Return(rented);
        return $"{some[3]} {int.Parse(text[..comma])} {text.Trim().Length} {rented.Length} {some.IndexOf(7)}";
    }

    private static string Dates() =>
        new DateTime(2024, 2, 28, 0, 0, 0, DateTimeKind.Utc).AddDays(2).ToString("O") + " " +
        TimeSpan.FromMinutes(1e6) + " " + DateTimeOffset.FromUnixTimeSeconds(86400).DayOfWeek + " " +
        DateOnly.Parse("2024-12-25", CultureInfo.InvariantCulture).DayOfYear + " " + TimeZoneInfo.Utc.Id;
}
