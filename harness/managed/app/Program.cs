// SPDX-License-Identifier: MIT
// The program of README and guide: `dotnet app.dll`. It parses and sorts some orders for about a second, on several threads,
// with a few exceptions and asynchronous calls, so that every command of the documents has something to report.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Threading.Tasks;

readonly record struct Order(int Id, string Customer, decimal Total);

static class Program
{
    static Order Parse(string line)
    {
        string[] parts = line.Split(';');
        if (parts.Length != 3)
            throw new FormatException("an order has three parts: " + line);
        return new Order(int.Parse(parts[0]), parts[1], int.Parse(parts[2]));
    }

    static IEnumerable<string> Lines(int n)
    {
        for (int i = 0; i < n; i++)
            yield return i % 1000 == 999 ? "damaged" : i + ";customer " + i % 97 + ";" + i * 7 % 1013;
    }

    static async Task<decimal> Sum(int n)
    {
        var orders = new List<Order>();
        foreach (string line in Lines(n)) {
            try {
                orders.Add(Parse(line));
            } catch (FormatException) {
                await Task.Yield();
            }
        }
        return orders.GroupBy(o => o.Customer).OrderBy(g => g.Key).Sum(g => g.Sum(o => o.Total));
    }

    static async Task Main(string[] args)
    {
        int milliseconds = args.Length > 0 ? int.Parse(args[0]) : 1000;
        var clock = Stopwatch.StartNew();
        decimal total = 0;
        do {
            total = (await Task.WhenAll(Task.Run(() => Sum(2000)), Task.Run(() => Sum(2000)))).Sum();
        } while (clock.ElapsedMilliseconds < milliseconds);
        Console.WriteLine("sum of all orders: " + total);
    }
}
