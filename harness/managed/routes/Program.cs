// SPDX-License-Identifier: MIT
using System;
using System.Diagnostics;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Mvc;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Routes;

/// <summary>Computes. Each endpoint does so in a method of its own, so that the endpoint of a stack is known.</summary>
internal static class Work
{
    private static long result;

    [StructLayout(LayoutKind.Sequential)]
    private struct TimeSpec
    {
        public long Seconds, Nanoseconds;
    }

    [DllImport("libc", EntryPoint = "clock_gettime")]
    private static extern int ClockGetTime(int clock, out TimeSpec time);

    /// <summary>The thread's CPU time in ns.</summary>
    private static long CpuNow()
    {
        _ = ClockGetTime(3, out TimeSpec t); // CLOCK_THREAD_CPUTIME_ID
        return (t.Seconds * 1_000_000_000) + t.Nanoseconds;
    }

    /// <summary>Computes for about @ms milliseconds of CPU time, so that a busy machine takes no samples away.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Spin(int ms)
    {
        long until = CpuNow() + (ms * 1_000_000L);
        ulong x = 1;
        while (CpuNow() < until)
            for (int i = 0; i < 20_000; i++)
                x = (x * 6364136223846793005UL) + 1442695040888963407UL;
        Interlocked.Add(ref result, (long)(x & 1));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Order(int ms) { Spin(ms); result |= 2; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Hopping(int ms) { Spin(ms); result |= 2; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Pool(int ms) { Spin(ms); result |= 2; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void User(int ms) { Spin(ms); result |= 2; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Child(int ms) { Spin(ms); result |= 2; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Item(int ms) { Spin(ms); result |= 2; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Show(int ms) { Spin(ms); result |= 2; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Branch(int ms) { Spin(ms); result |= 2; }

    /// <summary>Computes in parts, each on another thread.</summary>
    public static async Task<string> Hop(Action<int> step)
    {
        for (int i = 0; i < 4; i++)
        {
            step(2);
            await Deeper(i, step);
        }
        return "hopped";
    }

    private static async Task Deeper(int i, Action<int> step)
    {
        if (i % 2 == 0)
            await Task.Yield();
        else
            await Task.Delay(1).ConfigureAwait(false);
        step(1);
        await Deepest(step);
    }

    private static async ValueTask Deepest(Action<int> step)
    {
        await Task.Yield();
        step(1);
    }
}

[ApiController]
[Route("mvc/[controller]")]
public sealed class ShopController : ControllerBase
{
    /// <summary>A route without the first slash.</summary>
    [HttpGet("item/{id}")]
    public async Task<string> Item(string id)
    {
        await Work.Hop(Work.Item);
        return "item " + id;
    }
}

public sealed class PlainController : Controller
{
    /// <summary>A route that many actions share.</summary>
    public string Show(string id)
    {
        Work.Show(8);
        return "shown " + id;
    }
}

/// <summary>
/// A web service with routes of every kind, for tests of the names of endpoints. Prints "listening on URL" and ends
/// when its standard input is closed. Argument "tags": it listens to the Activities of ASP.NET Core and gives each the tag
/// url.path when it begins and http.route when it ends, as instrumentation by OpenTelemetry does. Argument "none":
/// no one listens.
/// </summary>
internal static class Program
{
    private static int Main(string[] args)
    {
        bool tags = args.Contains("tags");
        var builder = WebApplication.CreateBuilder();
        builder.Logging.ClearProviders();
        if (!args.Contains("none"))
            builder.Logging.AddProvider(new Quiet());
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        builder.Services.AddControllers().AddApplicationPart(typeof(Program).Assembly);
        using var listener = new ActivityListener
        {
            ShouldListenTo = source => source.Name == "Microsoft.AspNetCore",
            Sample = (ref ActivityCreationOptions<ActivityContext> _) => ActivitySamplingResult.AllDataAndRecorded,
        };
        if (tags)
            ActivitySource.AddActivityListener(listener);
        WebApplication app = builder.Build();
        if (tags)
            app.Use(async (HttpContext context, RequestDelegate next) =>
            {
                Activity.Current!.SetTag("http.request.method", "GET").SetTag("url.path", context.Request.Path.Value);
                await next(context);
                if (context.GetEndpoint() is RouteEndpoint route)
                    Activity.Current!.SetTag("http.route", route.RoutePattern.RawText);
            });
        app.MapGet("/order/{id}", (string id) => { Work.Order(8); return "order " + id; });
        app.MapGet("/hop/{id:int}", async (int id) => await Work.Hop(Work.Hopping) + id);
        app.MapGet("/orders/{id}", (string id) => Task.Run(() => { Work.Pool(8); return id; }));
        app.MapGroup("/group/{tenant}").MapGet("/user/{id}", async (string tenant, Guid id) =>
        {
            await Task.WhenAll(Work.Hop(Work.User), Work.Hop(Work.User));
            return tenant + id;
        });
        app.MapGet("/child/{id}", async (string id) =>
        {
            using var child = new Activity("child");
            child.Start();
            return await Work.Hop(Work.Child) + id;
        });
        app.MapControllers();
        app.MapControllerRoute("plain", "plain/{controller}/{action}/{id?}");
        app.Map("/static", branch => branch.Run(async context =>
        {
            Work.Branch(8);
            await context.Response.WriteAsync("static");
        }));
        app.StartAsync().GetAwaiter().GetResult();
        var addresses = app.Services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>()!;
        Console.WriteLine("listening on " + addresses.Addresses.First());
        Console.In.ReadToEnd();
        app.StopAsync().GetAwaiter().GetResult();
        return 0;
    }

    /// <summary>A log that keeps nothing. ASP.NET Core makes Activities while there is one.</summary>
    private sealed class Quiet : ILoggerProvider, ILogger
    {
        public ILogger CreateLogger(string categoryName) => this;

        public IDisposable? BeginScope<TState>(TState state) where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => logLevel >= LogLevel.Warning;

        public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception,
            Func<TState, Exception?, string> formatter)
        {
        }

        public void Dispose()
        {
        }
    }
}
