// SPDX-License-Identifier: MIT
using System;
using System.Linq;
using System.Threading;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace GuestWeb;

/// <summary>
/// A web service for the tests of hosts. Prints "listening on URL". Ends when its standard input is
/// closed; then prints whether its answers were right.
/// </summary>
internal static class Program
{
    private sealed class Node
    {
        public readonly int Value = 1;
    }

    private static int served;
    private static int caught;

    /// <summary>Every tenth request causes a fault, which is caught as a
    /// NullReferenceException.</summary>
    private static string Answer(Node? node)
    {
        int number = Interlocked.Increment(ref served);
        try
        {
            return $"answer {(number % 10 == 0 ? node!.Value : 1)}";
        }
        catch (NullReferenceException)
        {
            Interlocked.Increment(ref caught);
            return "answer 1";
        }
    }

    private static int Main()
    {
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        WebApplication app = builder.Build();
        app.MapGet("/", (HttpContext context) => context.Response.WriteAsync(Answer(null)));
        app.StartAsync().GetAwaiter().GetResult();
        IServerAddressesFeature addresses =
            app.Services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>()!;
        Console.WriteLine("listening on " + addresses.Addresses.First());
        Console.In.ReadToEnd();
        app.StopAsync().GetAwaiter().GetResult();
        bool right = served > 0 && caught == served / 10;
        Console.WriteLine(right ? "right: every fault was caught" : $"WRONG: {caught} faults of {served / 10}");
        return right ? 0 : 1;
    }
}
