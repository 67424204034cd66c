#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures ClickHouse as the store of a fleet: inserts as sxsprof push sends them, and queries of
sxsprof fleet over a simulated fleet. Run it through `make bench-fleet`; docs/internals/fleet.md has
the results.

fleet.py BUILD PORT DIR SESSIONS: environment: ROWS (rows of samples that are made, 1e8), SAMPLES (how
many samples they stand for, 1e9), DAYS (14), MACHINES (1000), INSERT_MACHINES, INSERT_MINUTES (the
insert path: 100 machines, 20 minutes each, of every session), CLIENTS (4), ONLY=inserts.

What is real: the sessions (three runtimes, recorded just before), their stacks, frames and weights,
and the inserts of the first part. What is simulated: the machines, the times, and which stack a
machine has in which minute, drawn from the weights by the server itself.
"""
import glob
import os
import subprocess
import sys
import time
import urllib.parse
import urllib.request

BUILD, PORT, DIR, SESSIONS = sys.argv[1:5]
BASE = "http://127.0.0.1:%s" % PORT
ROWS = int(float(os.environ.get("ROWS", "1e8")))
SAMPLES = int(float(os.environ.get("SAMPLES", "1e9")))
DAYS = int(os.environ.get("DAYS", "14"))
MACHINES = int(os.environ.get("MACHINES", "1000"))
LAST = int(time.time()) // 86400 * 86400  # the fleet's last day ended at midnight


def ask(sql, database=None, **settings):
    if database:
        settings["database"] = database
    url = BASE + "/?" + urllib.parse.urlencode(settings)
    try:
        return urllib.request.urlopen(url, sql.encode(), timeout=36000).read().decode()
    except urllib.error.HTTPError as e:
        sys.exit("%s\n%s" % (sql[:500], e.read().decode()[:1000]))


def say(*words):
    print(*words, flush=True)


def fleet(database, *args):
    env = dict(os.environ, SXSPROF_FLEET="clickhouse://127.0.0.1:%s/%s" % (PORT, database))
    began = time.monotonic()
    done = subprocess.run([BUILD + "/sxsprof", "fleet", *args], env=env, check=True,
                          stdout=subprocess.PIPE)
    return time.monotonic() - began, done.stdout.decode()


def disk(database, table="samples"):
    size, rows = ask("SELECT sum(bytes_on_disk), sum(rows) FROM system.parts WHERE active AND "
                     "database = '%s' AND table = '%s'" % (database, table)).split()
    return int(size), int(rows)


def server_cpu():
    """Seconds of CPU that the server has used."""
    with open("/proc/%s/stat" % os.environ["CLICKHOUSE_PID"], encoding="ascii") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def idle_rate():
    """Seconds of CPU in a second that the server uses while nobody asks, when its merges are done."""
    for _ in range(60):
        if ask("SELECT count() FROM system.merges").strip() == "0":
            break
        time.sleep(1)
    cpu, began = server_cpu(), time.monotonic()
    time.sleep(5)
    return (server_cpu() - cpu) / (time.monotonic() - began)


def load(database, clients, machines, minutes, *args):
    """Loads every session as a service with so many machines, by so many clients at once."""
    running, batches, requests = [], 0, 0
    for i, session in enumerate(sorted(glob.glob(SESSIONS + "/*"))):
        for c in range(clients):
            running.append(subprocess.Popen(
                [BUILD + "/tests/fleet_load", "clickhouse://127.0.0.1:%s/%s" % (PORT, database),
                 "service=service-%d" % i, "machines=%d" % (machines // clients),
                 "first=%d" % (c * machines // clients), "minutes=%d" % minutes,
                 "start=%d" % (LAST - 86400), "seed=%d" % (i * 100 + c), *args, session],
                stdout=subprocess.PIPE))
            while len(running) >= clients:
                words = running.pop(0).communicate()[0].split()
                batches, requests = batches + int(words[0]), requests + int(words[2])
    for r in running:
        words = r.communicate()[0].split()
        batches, requests = batches + int(words[0]), requests + int(words[2])
    return batches, requests


def insert_path():
    """Inserts as pushes send them: one batch for each machine and minute, of every session. The same
    batches in three ways, each into a database of its own."""
    machines = int(os.environ.get("INSERT_MACHINES", "100"))
    minutes = int(os.environ.get("INSERT_MINUTES", "20"))
    clients = int(os.environ.get("CLIENTS", "4"))
    ways = [("everything with each batch", "all", ["forget=1"]),
            ("one command a machine", "inserted", []),
            ("one command for all, 32 batches as one", "relayed", ["relay=32"])]
    for name, database, args in ways:
        fleet(database, "init")
        idle = idle_rate()
        cpu, began = server_cpu(), time.monotonic()
        batches, requests = load(database, clients, machines, minutes, *args)
        seconds = time.monotonic() - began
        cpu = max(0, server_cpu() - cpu - idle * seconds)
        rows, samples = map(int, ask("SELECT count(), sum(count) FROM samples WHERE kind != 'batch'",
                                     database).split())
        say("inserts, %s: %d batches, %.2f requests each, by %d clients in %.1f s: %.0f batches/s, "
            "%.0f rows/s, %.0f samples/s (%.1f samples a row); CPU of the server: %.2f ms a batch"
            % (name, batches, requests / batches, clients, seconds, batches / seconds, rows / seconds,
               samples / seconds, samples / max(rows, 1), 1000 * cpu / batches))
        if database != "inserted":
            ask("DROP DATABASE " + database)


def bulk_path():
    """The most that the server takes: large blocks in RowBinary of the rows above, by one client."""
    rows = ask("SELECT count() FROM samples", "inserted")
    times = max(1, 10**7 // int(rows))
    ask("CREATE TABLE bulk AS samples", "inserted")
    data = urllib.request.urlopen(BASE + "/?database=inserted", b"SELECT service, CAST(kind, 'Int8') AS k, stack, "
                                  b"time, source, count, value FROM samples FORMAT RowBinary").read()
    began = time.monotonic()
    for i in range(times):
        ask("", "inserted") if False else urllib.request.urlopen(
            BASE + "/?" + urllib.parse.urlencode({
                "database": "inserted",
                "query": "INSERT INTO bulk (service, kind, stack, time, source, count, value) FORMAT RowBinary"}),
            data, timeout=3600).read()
    seconds = time.monotonic() - began
    total = int(ask("SELECT count() FROM bulk", "inserted"))
    say("large blocks: %d rows in %.1f s: %.0f rows/s" % (total, seconds, total / seconds))
    ask("DROP TABLE bulk", "inserted")


def make_fleet():
    """Makes the rows in the server, a day at a time, from the stacks that were inserted."""
    fleet("big", "init", "--keep-days", "36500")
    for table in ("frames", "stacks", "sources"):
        ask("INSERT INTO %s SELECT * FROM inserted.%s" % (table, table), "big")
    services = [line.split("\t") for line in ask(
        "SELECT toString(service), groupArray(toString(stack)), groupArray(w) FROM (SELECT service, stack, "
        "sum(count) AS w FROM samples WHERE kind = 'cpu' GROUP BY service, stack) GROUP BY service",
        "inserted").splitlines()]
    began = time.monotonic()
    per = SAMPLES / ROWS  # samples of a row: 1 to 2 * per - 1
    for day in range(DAYS):
        n = ROWS // DAYS // len(services)
        for k, (service, stacks, weights) in enumerate(services):
            ids = [s.strip("[]'") for s in stacks.split(",")]
            w = [int(x) for x in weights.strip("[]").split(",")]
            slots = []  # each stack as often as its weight, in 2,000 slots; at least once
            for s, x in zip(ids, w):
                slots += [s] * max(1, round(2000 * x / sum(w)))
            ask("INSERT INTO samples (service, kind, stack, time, source, count, value) "
                "SELECT toUInt64({service}), CAST(1, '{kinds}'), "
                "arrayElement([{slots}], 1 + intHash32(number * 4 + {day}) % {n_slots}), "
                "toDateTime({first} + intDiv(number, {chunk}) * 60), "
                "intHash64({k} * 100000 + intHash32(number * 4 + 1) % {machines}), "
                "toUInt64(1 + intHash32(number * 4 + 2) % {most}) AS c, c * 5025125 "
                "FROM system.numbers LIMIT {n}".format(
                    service=service, slots=",".join("toUInt64(%s)" % s for s in slots), n_slots=len(slots), day=day, k=k,
                    first=LAST - (DAYS - day) * 86400, chunk=max(1, n // 1440 + 1),
                    machines=MACHINES // len(services), most=max(1, round(2 * per - 1)), n=n,
                    kinds="Enum8(\\'batch\\' = 0, \\'cpu\\' = 1, \\'wall\\' = 2, \\'alloc\\' = 3, "
                          "\\'native\\' = 4, \\'locks\\' = 5)"),
                "big", max_block_size=1048576, max_query_size=10**6, max_ast_elements=10**6,
                max_expanded_ast_elements=10**6)
        if day % 4 == 3:
            say("  day %d: %.0f s" % (day + 1, time.monotonic() - began))
    ask("INSERT INTO sources (source, service_id, service, version, machine) SELECT "
        "intHash64(k * 100000 + m), toUInt64(ids[k + 1]), concat('service-', toString(k)), "
        "if(m % 2 = 0, '1', '2'), concat('machine-', toString(m)) FROM (SELECT number % {s} AS k, "
        "intDiv(number, {s}) AS m, [{ids}] AS ids FROM system.numbers LIMIT {n})".format(
            s=len(services), n=MACHINES // len(services) * len(services),
            ids=",".join("toUInt64(%s)" % s[0] for s in services)), "big")
    seconds = time.monotonic() - began
    rows, samples = map(int, ask("SELECT count(), sum(count) FROM samples", "big").split())
    say("made by the server: %d rows, %d samples, %d machines, %d days, in %.0f s: %.0f rows/s"
        % (rows, samples, MACHINES, DAYS, seconds, rows / seconds))
    return len(services)


def merge():
    began = time.monotonic()
    for day in range(DAYS):
        name = time.strftime("%Y-%m-%d", time.gmtime(LAST - (DAYS - day) * 86400))
        ask("OPTIMIZE TABLE samples PARTITION '%s' FINAL" % name, "big")
    say("merged to one part a day in %.0f s" % (time.monotonic() - began))


def sizes():
    size, rows = disk("big")
    samples = int(ask("SELECT sum(count) FROM samples", "big"))
    say("on disk: %.2f GB: %.2f bytes a row, %.3f bytes a sample" % (size / 1e9, size / rows, size / samples))
    for line in ask("SELECT column, sum(column_data_compressed_bytes) / sum(rows) AS b FROM system.parts_columns "
                    "WHERE database = 'big' AND table = 'samples' AND active GROUP BY column ORDER BY b DESC").splitlines():
        say("  %s: %.3f bytes a row" % tuple([line.split("\t")[0], float(line.split("\t")[1])]))
    return size, rows, samples


def drop_caches():
    """Cold: neither the server's caches nor the kernel's have the table."""
    ask("SYSTEM DROP MARK CACHE")
    ask("SYSTEM DROP UNCOMPRESSED CACHE")
    if subprocess.run(["sh", "-c", "sync; echo 3 >/proc/sys/vm/drop_caches"], check=False).returncode:
        say("  (the kernel's cache was not dropped)")


def queries():
    end = LAST
    day, week = "@%d" % (end - 86400), "@%d" % (end - 7 * 86400)
    cases = [
        ("flame graph of everything", ["flame", "-o", DIR + "/all.html"]),
        ("flame graph of a week", ["flame", "--from", week, "-o", DIR + "/week.html"]),
        ("flame graph of a service, all days", ["flame", "--service", "service-0", "-o", DIR + "/s.html"]),
        ("flame graph of a service, one day", ["flame", "--service", "service-0", "--from", day, "-o", DIR + "/d.html"]),
        ("flame graph of one machine, one day", ["flame", "--where", "machine=machine-7", "--from", day, "-o", DIR + "/m.html"]),
        ("top functions of everything", ["top"]),
        ("release 1 against 2 of a service", ["diff", "--service", "service-0", "--a", "version=1", "--b", "version=2"]),
        ("CPU by runtime, a row a day", ["series", "--by", "runtime", "--step", "1d"]),
        ("who got slower: this week against the last", ["diff", "--by", "service", "--a",
                                                       "from=@%d,to=%s" % (end - 14 * 86400, week), "--b", "from=" + week]),
    ]
    for name, args in cases:
        drop_caches()
        cold, _ = fleet("big", *args)
        warm = min(fleet("big", *args)[0] for _ in range(3))
        say("%-46s cold %6.2f s, warm %6.2f s" % (name, cold, warm))


def main():
    say("ClickHouse", ask("SELECT version()").strip(), "on", os.cpu_count(), "CPUs:",
        [l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")][0])
    insert_path()
    if os.environ.get("ONLY") == "inserts":
        return
    bulk_path()
    make_fleet()
    size, rows, _ = sizes()
    merge()
    size, rows, samples = sizes()
    queries()
    say("arithmetic for 10^12 samples at %.1f samples a row: %.1f TB" % (samples / rows, size / samples))


main()
