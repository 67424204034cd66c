#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs test programs, several at a time, and adds up their results. Called by tests/run.sh.

usage: run.py PROGRAM...
JOBS          number of programs at a time (default: one per processor)
TESTS         run only programs whose path contains this text
SHARD         K/N: run only the programs of the K-th of N shards. Together, the shards have each program once; they take
              about the same time, by times.tsv, which is the same on all machines
CASE          count only cases whose name contains this text. A unit test runs these alone; a script
              runs whole, because its cases build upon each other
SAN           sanitizers of the build. Each report of the thread sanitizer, of whichever process and wherever its
              standard error goes, counts as a failure of the program that started the process
TEST_TIMEOUT  seconds after which a program is ended and counts as failed (2400)
BUILD         build folder; the time of each program is stored there for the next run
RESULTS       a file that receives a line "passed failed skipped"

The longest programs start first; their times are those of the last run, or else of times.tsv. The
output of a program is shown in one piece when the program has ended. A program that has a line
"# run: alone" among its first 12 lines never runs at the same time as another. One with a line
"# run: without sanitizers" is left out, and counts as skipped, when SAN is set: it tests texts, or what
waits for other processes, which sanitizers add nothing to but time.
"""
import os
import shutil
import signal
import sys
import tempfile
import textwrap
import time

import sessions
import shards
import tap

HERE = os.path.dirname(os.path.abspath(__file__))
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Variables that are removed from the environment, because they would change the behaviour of tests.
DROPPED = {"BASH_ENV", "CDPATH", "COLUMNS", "ENV", "GREP_OPTIONS", "LANGUAGE", "LD_LIBRARY_PATH", "LD_PRELOAD", "LINES", "MAKEFLAGS",
           "MAKELEVEL", "MAKEOVERRIDES", "MAN", "MANOPT", "MANPATH", "MANROFFSEQ", "MFLAGS", "POSIXLY_CORRECT",
           "PYTHONPATH", "TESTS", "SHARD", "RESULTS", "JOBS", "TZ"}
DROPPED_PREFIXES = ("COMPlus_", "CORECLR_", "COR_", "DOTNET_", "LC_", "SXSPROF_", "MALLOC_")
KEPT = {"DOTNET_ROOT", "DOTNET_ROOT_X64", "DOTNET_CLI_HOME", "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT"}
CASE = os.environ.get("CASE", "")
UNKNOWN_SECONDS = 15  # assumed time of a new program


def environment():
    env = {name: value for name, value in os.environ.items()
           if name in KEPT or name not in DROPPED and not name.startswith(DROPPED_PREFIXES)}
    env.update(LC_ALL="C.UTF-8", DOTNET_CLI_TELEMETRY_OPTOUT="1", DOTNET_NOLOGO="1")
    return env


def read_times(path):
    """Returns {program: seconds}. Malformed lines are ignored; {} if the file does not exist."""
    times = {}
    try:
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                name, _, seconds = line.split("#")[0].rstrip("\n").partition("\t")
                try:
                    times[name] = float(seconds)
                except ValueError:
                    continue
    except OSError:
        pass
    return times


def short(program, build):
    """Returns the name under which a program's time is stored, the same for all build folders."""
    inside = os.path.relpath(program, build)
    return program if inside.startswith("..") else "BUILD/" + inside


def runs(program, how):
    """Returns true when the program says that it runs so."""
    if not program.endswith(".sh"):
        return False
    with open(program, encoding="utf-8", errors="replace") as lines:
        return any(line.strip() == "# run: " + how for _, line in zip(range(12), lines))


def shown_lines(lines):
    """Returns what is shown of a program that failed: its last lines, and before them its first failure, which the
    others may come from."""
    before, last = lines[:-80], lines[-80:]
    first = next((i for i, line in enumerate(before) if line.startswith("not ok")), None)
    return last if first is None else before[first:first + 20] + ["[...]"] + last


def watches_threads():
    return "thread" in os.environ.get("SAN", "").split(",")


class Job:
    """One test program: waiting, running, or ended."""

    def __init__(self, program, name, seconds):
        self.program, self.name, self.expected = program, name, seconds
        self.alone = runs(program, "alone")
        self.process = self.folder = self.result = None
        self.began = self.took = self.cpu = 0.0
        self.late = False
        self.reports = 0

    def start(self, where, env):
        self.folder = tempfile.mkdtemp(prefix="t", dir=where)
        os.chmod(self.folder, 0o1777)  # like /tmp, because some tests give up their rights
        env = dict(env, TMPDIR=self.folder)
        if watches_threads():
            os.mkdir(self.folder + ".reports")
            os.chmod(self.folder + ".reports", 0o1777)
            env["TSAN_OPTIONS"] = env.get("TSAN_OPTIONS", "") + ":log_path=" + self.folder + ".reports/of"
        command = ["bash", self.program]
        if not self.program.endswith(".sh"):
            # Unit tests must free all memory, so that leaks can be detected.
            command = [self.program]
            env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + ":detect_leaks=1"
        with open(self.folder + ".log", "wb") as log:
            self.process = sessions.start(command, env, log)
        self.began = time.monotonic()

    def end(self, grace):
        """Ends the program and all processes that it started; returns the names of those that
        were still running."""
        left = sessions.members(self.process.pid, self.folder)
        sessions.end(lambda: sessions.members(self.process.pid, self.folder), grace)
        return left.values()

    def finish(self, status, cpu, limit):
        self.took, self.cpu = time.monotonic() - self.began, cpu
        left = self.end(1)
        with open(self.folder + ".log", encoding="utf-8", errors="replace") as log:
            text = log.read().replace("\0", "")
        ending = None
        if self.late:
            ending = "took longer than %d s" % limit
        elif status < 0:
            ending = "ended with signal %d" % -status
        elif status > 0:
            ending = "ended with status %d" % status
        self.result = tap.Result(text, ending, CASE)
        if self.late:
            self.result.lines.append("# ended by the runner: TEST_TIMEOUT is %d s" % limit)
        if left and not self.late:
            self.result.lines.append("# left running: " + ", ".join(sorted(set(left))))
        self.count_reports()
        shutil.rmtree(self.folder, ignore_errors=True)

    def count_reports(self):
        """A process that may open no files writes its report to standard error, and ends with status 66."""
        folder = self.folder + ".reports"
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as report:
                lines = report.read().splitlines()
            about = [line for line in lines if line.startswith("SUMMARY: ")] or ["SUMMARY: a report without one"]
            for line in about:
                self.result.fail("caused a report: " + line[9:])
            self.result.lines.extend("# " + line for line in lines[:80])
            self.reports += len(about)
        shutil.rmtree(folder, ignore_errors=True)

    def show(self):
        r = self.result
        if CASE and not r.passed + r.failed + r.skipped:
            return
        said = "%-44s %4d ok" % (self.program, r.passed)
        if r.failed:
            said += ", %d FAILED" % r.failed
        if r.skipped:
            said += ", %d skipped" % r.skipped
        print("%-72s %6.1f s, CPU %6.1f s" % (said, self.took, self.cpu))
        for why in sorted(set(r.reasons)):
            print("    skipped: %s%s" % (why, " (%d)" % r.reasons.count(why) if r.reasons.count(why) > 1 else ""))
        if r.failed:
            for line in shown_lines(r.lines):
                print("    " + line)
        sys.stdout.flush()


class Run:
    def __init__(self, jobs, slots, limit):
        self.waiting = sorted(jobs, key=lambda job: (job.alone, -job.expected))
        self.slots, self.limit = slots, limit
        self.running, self.ended = {}, []
        self.where = tempfile.mkdtemp(prefix="sxsprof-check.")
        os.chmod(self.where, 0o755)
        self.env = environment()

    def start_some(self):
        while self.waiting and len(self.running) < self.slots:
            job = self.waiting[0]
            if self.running and (job.alone or next(iter(self.running.values())).alone):
                return
            self.waiting.pop(0)
            job.start(self.where, self.env)
            self.running[job.process.pid] = job

    def collect(self):
        sessions.reap()
        for pid, job in list(self.running.items()):
            ended = sessions.take(pid)
            if ended is None:
                if not job.late and time.monotonic() - job.began > self.limit:
                    job.late = True
                    job.end(5)
                continue
            del self.running[pid]
            job.process.returncode = ended[0]
            job.finish(ended[0], ended[1], self.limit)
            self.ended.append(job)
            job.show()
        sessions.forget(self.running)

    def all(self):
        """Runs all programs; returns the number of the signal that stopped the run, or 0."""
        try:
            while self.waiting or self.running:
                self.start_some()
                got = signal.sigtimedwait((signal.SIGCHLD,) + STOPS, 1.0)
                if got and got.si_signo in STOPS:
                    return got.si_signo
                self.collect()
            return 0
        finally:
            for job in self.running.values():
                job.end(5)
            sessions.end(lambda: sessions.orphans(self.running), 1)
            shutil.rmtree(self.where, ignore_errors=True)


def keep_times(path, jobs):
    times = read_times(path)
    for job in jobs:
        if not job.result.failed:
            times[job.name] = job.took
    try:
        with open(path, "w", encoding="utf-8") as out:
            out.writelines("%s\t%.1f\n" % pair for pair in sorted(times.items()))
    except OSError:
        pass  # the next run uses times.tsv


def close(run, left_out):
    """Prints the failed tests again with their programs, then the total on the last line. @left_out: number
    of programs that count as skipped. Returns the exit status."""
    bad = [job for job in run.ended if job.result.failed]
    for job in sorted(bad, key=lambda job: job.program):
        for line in job.result.lines:
            if line.startswith("not ok"):
                print("FAILED %s: %s" % (job.program, line[7:]))
    total = [sum(getattr(job.result, what) for job in run.ended) for what in ("passed", "failed", "skipped")]
    total[2] += left_out
    if watches_threads():
        print("%d reports of the thread sanitizer" % sum(job.reports for job in run.ended))
    print("%d passed, %d failed, %d skipped" % tuple(total), flush=True)
    if os.environ.get("RESULTS"):
        with open(os.environ["RESULTS"], "w", encoding="utf-8") as out:
            print(*total, file=out)
    return 0 if total[0] and not total[1] else 1


def is_left_out(program):
    return bool(os.environ.get("SAN")) and runs(program, "without sanitizers")


def choose_shard(programs, build, times):
    """Returns those programs that are in the shard of SHARD, and prints which. @times: of times.tsv."""
    k, n = shards.parse(os.environ["SHARD"])
    seconds = {p: 0 if is_left_out(p) else times.get(short(p, build), UNKNOWN_SECONDS) for p in programs}
    chosen = set(shards.divide(seconds, n)[k - 1])
    print("shard %d of %d: %d of %d programs, some %.0f of %.0f s:" %
          (k, n, len(chosen), len(programs), sum(seconds[p] for p in chosen), sum(seconds.values())))
    print(textwrap.fill(" ".join(sorted(chosen)), 118, initial_indent="    ", subsequent_indent="    ",
                        break_long_words=False, break_on_hyphens=False), flush=True)
    return [p for p in programs if p in chosen]


def main():
    build = os.environ.get("BUILD") or "build"
    kept = os.path.join(build, "test-times")
    usual = read_times(os.path.join(HERE, "times.tsv"))
    times = {**usual, **read_times(kept)}
    programs = [p for p in sys.argv[1:]
                if os.environ.get("TESTS", "") in p and (p.endswith(".sh") or os.access(p, os.X_OK))]
    if os.environ.get("SHARD"):
        try:
            programs = choose_shard(programs, build, usual)
        except ValueError as wrong:
            print(wrong, file=sys.stderr)
            return 2
    left_out = [p for p in programs if is_left_out(p)]
    jobs = []
    for program in programs:
        if program not in left_out:
            name = short(program, build)
            jobs.append(Job(program, name, times.get(name, UNKNOWN_SECONDS)))
    slots = int(os.environ.get("JOBS") or len(os.sched_getaffinity(0)))
    sessions.become_reaper()
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGCHLD,) + STOPS)
    for number in STOPS + (signal.SIGCHLD,):
        signal.signal(number, signal.SIG_DFL)  # an ignored signal would never arrive
    run = Run(jobs, max(1, slots), float(os.environ.get("TEST_TIMEOUT") or 2400))
    began = time.monotonic()
    stopped = run.all()
    if not CASE:
        keep_times(kept, run.ended)
    if stopped:
        print("stopped by signal %d: %d of %d programs had ended" % (stopped, len(run.ended), len(jobs)))
        return 128 + stopped
    print("%d programs in %.0f s, %.0f s of CPU time, %d at a time" %
          (len(run.ended), time.monotonic() - began, sum(job.cpu for job in run.ended), run.slots))
    if left_out:
        print("left out, because sanitizers add nothing to them: " + ", ".join(left_out))
    return close(run, len(left_out))


sys.exit(main())
