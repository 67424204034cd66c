using System; using System.Diagnostics; using System.Runtime.CompilerServices; using System.Runtime.InteropServices; using System.Threading;
unsafe static class P {
  static readonly nint lib = NativeLibrary.Load("/tmp/mc/n.so");
  static readonly nint f = NativeLibrary.GetExport(lib, "count");
  static readonly nint m = (nint)NativeMemory.AllocZeroed(64);
  static readonly long* stripes = (long*)NativeMemory.AlignedAlloc(64*4096, 4096);
  [MethodImpl(MethodImplOptions.NoInlining)] static long Plain(int n, long x) => n + x;
  [MethodImpl(MethodImplOptions.NoInlining)] static long Fast(int n, long x) { ((delegate* unmanaged[SuppressGCTransition]<nint,void>)f)(m); return n + x; }
  [MethodImpl(MethodImplOptions.NoInlining)] static long Managed(int n, long x) { ((delegate*<nint,void>)f)(m); return n + x; }
  [MethodImpl(MethodImplOptions.NoInlining)] static long Lock(int n, long x) { Interlocked.Increment(ref *(long*)stripes); return n + x; }
  [MethodImpl(MethodImplOptions.NoInlining)] static long Stripe(int n, long x) { int l; nuint s = ((nuint)(&l) >> 20) & 63; Interlocked.Increment(ref *(long*)((byte*)stripes + s * 4096)); return n + x; }
  static double Time(delegate*<int,long,long> g) { double best = 1e9; for (int k = 0; k < 30; k++) { long t = Stopwatch.GetTimestamp(); long x = 0; for (int i = 0; i < 2000000; i++) x = g(i, x); best = Math.Min(best, (Stopwatch.GetTimestamp() - t) * 1e9 / Stopwatch.Frequency / 2e6);} return best; }
  static void Main() { ((delegate* unmanaged<void>)NativeLibrary.GetExport(lib, "begin"))();
    for (int k = 0; k < 3; k++) Console.WriteLine($"plain {Time(&Plain):F2} fast {Time(&Fast):F2} managed {Time(&Managed):F2} lock {Time(&Lock):F2} stripe {Time(&Stripe):F2}"); }
}
