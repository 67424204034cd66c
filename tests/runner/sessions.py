# SPDX-License-Identifier: MIT
"""Starts programs, each in a new session, and ends all processes that they started.

Tests start commands through `timeout`, which makes new process groups, and some leave orphans.
Therefore the processes of a program are found by its session and by descent: this process is the
reaper of orphans below it.
"""
import ctypes
import os
import signal
import subprocess
import time

PR_SET_CHILD_SUBREAPER = 36
# These signals are reset to their default actions for each program, even if `make` was started with
# some of them ignored (by nohup, or by a shell's `&`).
DEFAULTS = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM, signal.SIGCHLD, signal.SIGUSR1,
            signal.SIGUSR2, signal.SIGALRM, signal.SIGPIPE, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)


def become_reaper():
    """Makes orphans of the programs children of this process. On an old kernel this fails, and only
    sessions are searched."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _prepare():
    for number in DEFAULTS:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.umask(0o022)


def start(command, env, log):
    """Starts a program as a session leader that prints to the file `log`. Returns its Popen."""
    return subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                            start_new_session=True, preexec_fn=_prepare)


def _processes():
    """Returns {pid: (parent, session, state, name)} of all processes."""
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
    """Returns the live processes that the leader started, as {pid: name}. The leader may have
    ended. The processes are those of its session, orphans whose environment contains the text
    `mark`, and the descendants of both."""
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
    """Returns the live children of this process that are not in `leaders`, as {pid: name}."""
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
    """Ends the processes that `find()` returns: first by SIGTERM, so that tests can remove their
    files, and after `grace` seconds by SIGKILL."""
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


_ended = {}  # pid -> (status, rusage) of reaped children that take() has not returned yet


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
    """Returns (exit status or minus signal, CPU seconds including those of its children) of an
    ended program, once; None while the program runs."""
    if pid not in _ended:
        return None
    status, usage = _ended.pop(pid)
    return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime


def forget(known):
    """Drops the statuses of processes that are not in `known`: those of orphans."""
    for pid in [pid for pid in _ended if pid not in known]:
        del _ended[pid]
