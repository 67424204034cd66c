# SPDX-License-Identifier: MIT
"""Starts programs, each in a session of its own, and ends all that they started.

A test starts runs that `timeout` puts into process groups of their own, and some leave orphans. So what belongs to a program
is found by its session, and by descent: this process is the reaper of orphans below it.
"""
import ctypes
import os
import signal
import subprocess
import time

PR_SET_CHILD_SUBREAPER = 36
# A program starts with default actions even if `make` was started with some of these ignored (nohup, a shell's `&`).
DEFAULTS = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM, signal.SIGCHLD, signal.SIGUSR1,
            signal.SIGUSR2, signal.SIGALRM, signal.SIGPIPE, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)


def become_reaper():
    """Orphans of our programs become our children. Without that (an old kernel) only sessions are looked at."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _prepare():
    for number in DEFAULTS:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.umask(0o022)


def start(command, env, log):
    """Returns the Popen of a session leader that prints into the file `log`."""
    return subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                            start_new_session=True, preexec_fn=_prepare)


def _processes():
    """pid -> (parent, session, state, name) of every process."""
    found = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open("/proc/%s/stat" % entry, encoding="utf-8", errors="replace") as stat:
                    head, _, tail = stat.read().rpartition(")")
            except OSError:
                continue
            field = tail.split()
            found[int(entry)] = (int(field[1]), int(field[3]), field[0], head.partition("(")[2])
    return found


def _is_marked(pid, mark):
    try:
        with open("/proc/%d/environ" % pid, "rb") as environ:
            return mark.encode() in environ.read()
    except OSError:
        return False


def members(leader, mark):
    """Live processes that the leader started, as {pid: name}; it may have ended. They are those of its session, orphans in
    whose environment the text `mark` is, and the descendants of both."""
    processes = _processes()
    inside = {pid for pid, (_, session, _, _) in processes.items() if pid == leader or session == leader}
    inside |= {pid for pid, (parent, _, _, _) in processes.items() if parent == os.getpid() and _is_marked(pid, mark)}
    grown = True
    while grown:
        more = {pid for pid, (parent, _, _, _) in processes.items() if parent in inside} - inside
        grown = bool(more)
        inside |= more
    return {pid: processes[pid][3] for pid in inside if pid in processes and processes[pid][2] not in "ZX"}


def orphans(leaders):
    """Live children of ours that are not one of these leaders: {pid: name}."""
    me = os.getpid()
    return {pid: name for pid, (parent, _, state, name) in _processes().items()
            if parent == me and pid not in leaders and state not in "ZX"}


def _send(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except OSError:
            pass


def end(find, grace):
    """Ends what `find()` returns: SIGTERM first, so that tests remove their files; SIGKILL after `grace` seconds."""
    _send(find(), signal.SIGTERM)
    deadline = time.monotonic() + grace
    while find() and time.monotonic() < deadline:
        reap()
        time.sleep(0.02)
    while find():
        _send(find(), signal.SIGKILL)
        reap()
        time.sleep(0.02)
    reap()


_ended = {}  # pid -> (status, rusage) of children that were reaped and not asked for yet


def reap():
    """Takes the status of every child that has ended."""
    while True:
        try:
            pid, status, usage = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        _ended[pid] = (status, usage)


def take(pid):
    """(exit status or minus signal, CPU seconds with those of its children), once; None while it runs."""
    if pid not in _ended:
        return None
    status, usage = _ended.pop(pid)
    return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime


def forget(known):
    """Drops statuses of processes that are nobody's: orphans."""
    for pid in [pid for pid in _ended if pid not in known]:
        del _ended[pid]
