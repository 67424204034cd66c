// SPDX-License-Identifier: MIT
// A web service that answers with JSON, for measuring the overhead of a profiler in a busy server.
//
// usage: web SECONDS     listens on a free port of the loopback interface, prints "listening on URL",
//                        ends after SECONDS, or when its standard input is closed or has a line
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.Json;
using System.Threading;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

record Line(int Id, string Name, decimal Price, int Count);
record Order(int Id, string Customer, DateTime Placed, IReadOnlyList<Line> Lines, decimal Total);

static class Program
{
    // Makes a few objects, so that every request is a small but realistic amount of work.
    static Order Place(int id)
    {
        var lines = Enumerable.Range(1, 5)
            .Select(i => new Line(id * 10 + i, "article " + i, 3.5m * i, i)).ToList();
        return new Order(id, "customer " + id % 97, DateTime.UnixEpoch.AddMinutes(id), lines,
                         lines.Sum(l => l.Price * l.Count));
    }

    static int Main(string[] args)
    {
        int seconds = args.Length > 0 ? int.Parse(args[0]) : 600;
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        var app = builder.Build();
        int served = 0;
        app.MapGet("/order", (HttpContext context) =>
        {
            int id = Interlocked.Increment(ref served);
            context.Response.ContentType = "application/json";
            return JsonSerializer.SerializeAsync(context.Response.Body, Place(id));
        });
        app.StartAsync().Wait();
        var addresses = app.Services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>()!;
        Console.WriteLine("listening on " + addresses.Addresses.First());
        var done = new ManualResetEventSlim();
        var reader = new Thread(() => { Console.In.ReadLine(); done.Set(); }) { IsBackground = true };
        reader.Start();
        done.Wait(TimeSpan.FromSeconds(seconds));
        app.StopAsync().Wait();
        Console.WriteLine("served " + served);
        return 0;
    }
}
