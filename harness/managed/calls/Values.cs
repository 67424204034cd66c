// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.IO;
using System.Runtime.CompilerServices;
using System.Text;

namespace Calls;

/// <summary>Methods that take and return values of every kind, for a profiler to show.</summary>
internal static class Values
{
    public enum Color : byte { Red = 1, Green, Blue = 200 }
    [Flags] public enum Access : long { None = 0, Read = 1, Write = 2, Both = 3, Far = 1L << 40 }
    public struct Pair { public int A; public int B; public readonly int Sum(int more) => A + B + more; }
    public struct Mixed { public double X; public long N; }
    public struct Turned { public long N; public float X; public float Y; }
    public struct Floats { public float X, Y, Z; }
    public struct Small { public byte A; public short B; public bool C; }
    public struct Three { public long A, B, C; }
    public struct Named { public string? Name; public object? Any; public Pair Pair; public Color Color { get; set; } }
    public struct Deep<T>
    {
        public T Value;
        public Pair Pair;
        public readonly T Inside(int n) => n > 0 ? Value : default!;
    }
    public readonly record struct Money(decimal Amount, string Currency);
    public class Thing
    {
        private readonly int number = 7;
        public int Get(int more) => number + more;
        public virtual string Name(string? s) => "thing" + s;
    }
    public sealed class Derived<T> : Thing
    {
        public override string Name(string? s) => "derived" + s;
        public T Echo(T value) => value;
    }
    public ref struct View { public ReadOnlySpan<int> Items; public int At; }

    public static int Add(int a, int b) => a + b;
    public static void Nothing() { }
    public static bool Integers(bool a, sbyte b, byte c, short d, ushort e, uint f, long g, ulong h) => a;
    public static char Chars(char a, char b, char c, char d) => a;
    public static double FloatsOf(float a, double b, float c, double d) => b;
    public static float Single(float a) => a;
    public static nint Natives(nint a, nuint b) => a;
    public static string? Text(string? s) => s;
    public static int Long(string s) => s.Length;
    public static object? Any(object? o) => o;
    public static Color Colors(Color a, Color b, Access c, Access d, Access e) => a;
    public static Access Rights(Access a) => a;
    public static int ByRef(ref int a, in long b, out string c) { a++; c = "x"; return a; }
    public static ref int RefTo(int[] all, int at) => ref all[at];
    public static ref readonly Pair RefPair(in Pair p) => ref p;
    public static Pair MakePair(Pair p) => p;
    public static Mixed MakeMixed(Mixed m, Turned t, Floats f) => m;
    public static Turned MakeTurned(Turned t) => t;
    public static Floats MakeFloats(Floats f) => f;
    public static Small MakeSmall(Small s) => s;
    public static Three MakeThree(Three t, int after) => t;
    public static Named MakeNamed(Named n) => n;
    public static Deep<Deep<int>> MakeDeep(Deep<Deep<int>> d) => d;
    public static Deep<string> MakeShared(Deep<string> d) => d;
    public static Money Pay(Money m) => m;
    public static int? Maybe(int? a, int? b, Pair? c, Color? d) => a;
    public static Pair? MaybePair(Pair? c) => c;
    public static decimal Decimals(decimal a, decimal b, decimal c, decimal d) => a;
    public static DateTime Dates(DateTime a, DateTime b, TimeSpan c, TimeSpan d) => a;
    public static Guid Guids(Guid a) => a;
    public static int[] Arrays(int[]? a, int[]? b, string?[] c, Pair[] d, Color[] e, int[,] f, int[][] g, object[] h) => a!;
    public static double Many(int a, double b, long c, float d, short e, double f, ulong g, float h, byte i, double j, int k,
        double l, long m, float n, int o, double p, int q, float r, long s, double t, string u, Pair v) => t;
    public static T Generic<T>(T value) => value;
    public static int Two<T, U>(T a, U b, KeyValuePair<T, U> c, List<T> d) => 2;
    public static ReadOnlySpan<char> Spans(Span<int> a, ReadOnlySpan<char> b, Span<string> c) => b;
    public static int Views(View v) => v.At;
    public static (int, string) Tuple((int, string) t) => t;
    public static unsafe int* Pointer(int* a, void* b) => a;
    public static unsafe int Function(delegate*<int, int> f) => f == null ? 0 : 1;
    public static Func<int, int> Delegate(Func<int, int> f) => f;
    public static int Throws(int n) => throw new InvalidOperationException("thrown");
    public static int Optional(int a = 5, params int[] rest) => a;
    public static Int128 Wide(Int128 a, Half b) => a;
    public static DayOfWeek Day(DayOfWeek d) => d;
    public static long Recursive(int n) => n == 0 ? 1 : n * Recursive(n - 1);
}

/// <summary>Calls the methods with known values. Prints for each call, in their order, the line
/// "calls: value NAME(ARGUMENTS) = RESULT" that the profiler should show.</summary>
internal static class ShowValues
{
    private const string V = "Calls.Values";

    private static readonly Stream Out = Console.OpenStandardOutput();

    /// <summary>Writes a line in one piece: Console.WriteLine() writes a long line in several, between which other
    /// runtimes print.</summary>
    private static void Say(string call, string? result = null) =>
        Out.Write(Encoding.UTF8.GetBytes("calls: value " + V + call + (result == null ? "" : " = " + result) + "\n"));

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Scalars()
    {
        Say(".Add(a = 1, b = -2)", "-1");
        Values.Add(1, -2);
        Say(".Nothing()");
        Values.Nothing();
        Say(".Integers(a = true, b = -128, c = 255, d = -32768, e = 65535, f = 4294967295, g = -9223372036854775808, h = 18446744073709551615)", "true");
        Values.Integers(true, -128, 255, -32768, 65535, uint.MaxValue, long.MinValue, ulong.MaxValue);
        Say(@".Chars(a = 'a', b = '\'', c = '\n', d = '\uD800')", "'a'");
        Values.Chars('a', '\'', '\n', '\ud800');
        Say(".FloatsOf(a = 1.5, b = 0.1, c = -0, d = 1e+300)", "0.1");
        Values.FloatsOf(1.5f, 0.1, -0f, 1e300);
        Say(".Single(a = 0.1)", "0.1");
        Values.Single(0.1f);
        Say(".Single(a = NaN)", "NaN");
        Values.Single(float.NaN);
        Say(".Natives(a = 0xffffffffffffffff, b = 0x10)", "0xffffffffffffffff");
        Values.Natives(-1, 16);
        Say(".Colors(a = Green, b = 7, c = Read, d = Both | Far, e = 4)", "Green");
        Values.Colors(Values.Color.Green, (Values.Color)7, Values.Access.Read, Values.Access.Far | Values.Access.Both, (Values.Access)4);
        Say(".Rights(a = None)", "None");
        Values.Rights(0);
        Say(".Day(d = Friday)", "Friday");
        Values.Day(DayOfWeek.Friday);
        Say(".Optional(a = 5, rest = System.Int32[0] {})", "5");
        Values.Optional();
        Say(".Recursive(n = 2)", "2");
        Say(".Recursive(n = 1)", "1");
        Say(".Recursive(n = 0)", "1");
        Values.Recursive(2);
        Say(".Decimals(a = 0, b = -1.50, c = 79228162514264337593543950335, d = 0.0000000000000000000000000001)", "0");
        Values.Decimals(0m, -1.50m, decimal.MaxValue, 0.0000000000000000000000000001m);
        Say(".Dates(a = 2024-02-29T12:34:56.7000000, b = 1970-01-01T00:00:00Z, c = 1.02:03:04.0050000, d = -00:00:01)", "2024-02-29T12:34:56.7000000");
        Values.Dates(new DateTime(2024, 2, 29, 12, 34, 56, 700), DateTime.UnixEpoch, new TimeSpan(1, 2, 3, 4, 5), TimeSpan.FromSeconds(-1));
        Say(".Guids(a = 00112233-4455-6677-8899-aabbccddeeff)", "00112233-4455-6677-8899-aabbccddeeff");
        Values.Guids(new Guid("00112233-4455-6677-8899-aabbccddeeff"));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Texts()
    {
        Say(".Text(s = \"ab\")", "\"ab\"");
        Values.Text("ab");
        Say(".Text(s = null)", "null");
        Values.Text(null);
        Say(".Text(s = \"\")", "\"\"");
        Values.Text("");
        Say(@".Text(s = ""a\0b\t\""\\\u0001\uD800é漢😀"")", @"""a\0b\t\""\\\u0001\uD800é漢😀""");
        Values.Text("a\0b\t\"\\\u0001\ud800é漢😀");
        Say(".Long(s = \"" + new string('y', 64) + "\"...[1000])", "1000");
        Values.Long(new string('y', 1000));
        Say(".Any(o = \"text\")", "\"text\"");
        Values.Any("text");
        Say(".Any(o = 5)", "5");
        Values.Any(5);
        Say(".Any(o = null)", "null");
        Values.Any(null);
        Say(".Any(o = {A = 1, B = 2})", "{A = 1, B = 2}");
        Values.Any(new Values.Pair { A = 1, B = 2 });
        Say(".Any(o = Blue)", "Blue");
        Values.Any(Values.Color.Blue);
        Say(".Any(o = Calls.Values+Thing)", "Calls.Values+Thing");
        Values.Any(new Values.Thing());
        Say(".Any(o = Calls.Values+Derived<System.String>)", "Calls.Values+Derived<System.String>");
        Values.Any(new Values.Derived<string>());
        Say(".Any(o = System.Collections.Generic.Dictionary<System.Int32, System.String[]>)", "System.Collections.Generic.Dictionary<System.Int32, System.String[]>");
        Values.Any(new Dictionary<int, string[]>());
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Structs()
    {
        var pair = new Values.Pair { A = 3, B = -4 };
        var mixed = new Values.Mixed { X = 2.5, N = 9 };
        var turned = new Values.Turned { N = 8, X = 0.5f, Y = 0.25f };
        var floats = new Values.Floats { X = 1, Y = 2, Z = 3 };
        Say(".MakePair(p = {A = 3, B = -4})", "{A = 3, B = -4}");
        Values.MakePair(pair);
        Say(".MakeMixed(m = {X = 2.5, N = 9}, t = {N = 8, X = 0.5, Y = 0.25}, f = {X = 1, Y = 2, Z = 3})", "{X = 2.5, N = 9}");
        Values.MakeMixed(mixed, turned, floats);
        Say(".MakeTurned(t = {N = 8, X = 0.5, Y = 0.25})", "{N = 8, X = 0.5, Y = 0.25}");
        Values.MakeTurned(turned);
        Say(".MakeFloats(f = {X = 1, Y = 2, Z = 3})", "{X = 1, Y = 2, Z = 3}");
        Values.MakeFloats(floats);
        Say(".MakeSmall(s = {A = 1, B = -2, C = true})", "{A = 1, B = -2, C = true}");
        Values.MakeSmall(new Values.Small { A = 1, B = -2, C = true });
        Say(".MakeThree(t = {A = 1, B = 2, C = 3}, after = 4)", "{A = 1, B = 2, C = 3}");
        Values.MakeThree(new Values.Three { A = 1, B = 2, C = 3 }, 4);
        Say(".MakeNamed(n = {Name = \"n\", Any = 6, Color = Red, Pair = {A = 3, B = -4}})", "{Name = \"n\", Any = 6, Color = Red, Pair = {A = 3, B = -4}}");
        Values.MakeNamed(new Values.Named { Name = "n", Any = 6, Pair = pair, Color = Values.Color.Red });
        Say(".MakeDeep(d = {Value = {Value = 1, Pair = {A = 3, B = -4}}, Pair = {A = 0, B = 0}})", "{Value = {Value = 1, Pair = {A = 3, B = -4}}, Pair = {A = 0, B = 0}}");
        Values.MakeDeep(new Values.Deep<Values.Deep<int>> { Value = new Values.Deep<int> { Value = 1, Pair = pair } });
        Say(".MakeShared(d = {Value = \"v\", Pair = {A = 3, B = -4}})", "{Value = \"v\", Pair = {A = 3, B = -4}}");
        Values.MakeShared(new Values.Deep<string> { Value = "v", Pair = pair });
        Say(".Pay(m = {Currency = \"EUR\", Amount = 9.99})", "{Currency = \"EUR\", Amount = 9.99}");
        Values.Pay(new Values.Money(9.99m, "EUR"));
        Say(".Maybe(a = 5, b = null, c = {A = 3, B = -4}, d = Red)", "5");
        Values.Maybe(5, null, pair, Values.Color.Red);
        Say(".MaybePair(c = {A = 3, B = -4})", "{A = 3, B = -4}");
        Values.MaybePair(pair);
        Say(".MaybePair(c = null)", "null");
        Values.MaybePair(null);
        Say("+Pair.Sum(this = {A = 3, B = -4}, more = 10)", "9");
        pair.Sum(10);
        Say("+Deep.Inside(this = {Value = 4, Pair = {A = 3, B = -4}}, n = 1)", "4");
        new Values.Deep<int> { Value = 4, Pair = pair }.Inside(1);
        Say("+Deep.Inside(this = {Value = \"v\", Pair = {A = 3, B = -4}}, n = 1)", "\"v\"");
        new Values.Deep<string> { Value = "v", Pair = pair }.Inside(1);
        Say("+Deep.Inside(this = {Value = Calls.Values+Thing, Pair = {A = 3, B = -4}}, n = 0)", "null");
        new Values.Deep<object> { Value = new Values.Thing(), Pair = pair }.Inside(0);
        Say(".Tuple(t = {Item2 = \"two\", Item1 = 1})", "{Item2 = \"two\", Item1 = 1}");
        Values.Tuple((1, "two"));
        Say(".Wide(a = {_lower = 5, _upper = 0}, b = {_value = 15360})", "{_lower = 5, _upper = 0}");
        Values.Wide(5, (Half)1);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static unsafe void References()
    {
        int a = 1;
        var pair = new Values.Pair { A = 5, B = 6 };
        Say(".ByRef(a = 1, b = 20, c = <out>)", "2");
        Values.ByRef(ref a, 20, out _);
        Say(".RefTo(all = System.Int32[3] {10, 20, 30}, at = 1)", "20");
        Values.RefTo(new[] { 10, 20, 30 }, 1) = 4;
        Say(".RefPair(p = {A = 5, B = 6})", "{A = 5, B = 6}");
        Values.RefPair(in pair);
        Say("+Thing.Get(this = Calls.Values+Thing, more = 1)", "8");
        new Values.Thing().Get(1);
        Say("+Thing.Name(this = Calls.Values+Thing, s = \"s\")", "\"things\"");
        new Values.Thing().Name("s");
        Say("+Derived.Name(this = Calls.Values+Derived<System.Int64>, s = null)", "\"derived\"");
        ((Values.Thing)new Values.Derived<long>()).Name(null);
        Say("+Derived.Echo(this = Calls.Values+Derived<System.Int64>, value = 77)", "77");
        new Values.Derived<long>().Echo(77);
        Say("+Derived.Echo(this = Calls.Values+Derived<System.Object>, value = \"o\")", "\"o\"");
        new Values.Derived<object>().Echo("o");
        Say(".Pointer(a = 0x10, b = 0x0)", "0x10");
        Values.Pointer((int*)16, null);
        Say(".Function(f = 0x0)", "0");
        Values.Function(null);
        Say(".Delegate(f = System.Func<System.Int32, System.Int32>)", "System.Func<System.Int32, System.Int32>");
        Values.Delegate(x => x);
        Say(".Throws(n = 3) left by an exception");
        try
        {
            Values.Throws(3);
        }
        catch (InvalidOperationException)
        {
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Lists()
    {
        Say(".Arrays(a = System.Int32[9] {1, 2, 3, 4, 5, 6, 7, 8, ...}, b = null, c = System.String[2] {\"x\", null}, d = Calls.Values+Pair[1] {{A = 1, B = 2}}, e = Calls.Values+Color[2] {Red, Green}, f = System.Int32[2,2] {1, 2, 3, 4}, g = System.Int32[][2] {System.Int32[1] {7}, null}, h = System.Object[2] {1, \"s\"})",
            "System.Int32[9] {1, 2, 3, 4, 5, 6, 7, 8, ...}");
        Values.Arrays(new[] { 1, 2, 3, 4, 5, 6, 7, 8, 9 }, null, new[] { "x", null }, new[] { new Values.Pair { A = 1, B = 2 } },
            new[] { Values.Color.Red, Values.Color.Green }, new[,] { { 1, 2 }, { 3, 4 } }, new[] { new[] { 7 }, null! }, new object[] { 1, "s" });
        Say(".Spans(a = [3] {1, 2, 3}, b = \"chars\", c = [1] {\"one\"})", "\"chars\"");
        Values.Spans(new[] { 1, 2, 3 }, "chars", new[] { "one" });
        Say(".Views(v = {Items = [2] {5, 6}, At = 9})", "9");
        Values.Views(new Values.View { Items = new[] { 5, 6 }, At = 9 });
        Say(".Generic(value = 1)", "1");
        Values.Generic(1);
        Say(".Generic(value = \"g\")", "\"g\"");
        Values.Generic("g");
        Say(".Generic(value = {A = 1, B = 0})", "{A = 1, B = 0}");
        Values.Generic(new Values.Pair { A = 1 });
        Say(".Generic(value = System.Int32[1] {4})", "System.Int32[1] {4}");
        Values.Generic(new[] { 4 });
        Say(".Two(a = 1, b = \"b\", c = {value = \"v\", key = 2}, d = System.Collections.Generic.List<System.Int32>)", "2");
        Values.Two(1, "b", new KeyValuePair<int, string>(2, "v"), new List<int>());
        Say(".Two(a = \"a\", b = \"b\", c = {key = \"k\", value = \"v\"}, d = System.Collections.Generic.List<System.String>)", "2");
        Values.Two("a", "b", new KeyValuePair<string, string>("k", "v"), new List<string>());
        Say(".Many(a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i = 9, j = 10, k = 11, l = 12, m = 13, n = 14, o = 15, p = 16, q = 17, r = 18, s = 19, t = 20, u = \"u\", v = {A = 21, B = 22})", "20");
        Values.Many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, "u", new Values.Pair { A = 21, B = 22 });
    }

    public static void Run()
    {
        Scalars();
        Texts();
        Structs();
        References();
        Lists();
    }
}
