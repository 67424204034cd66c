# SPDX-License-Identifier: MIT
"""Compares a run of a host with the library with a run of the same host without it (the
control)."""
import collections
import re

RUNTIME_MODULES = ("libcoreclr.so", "libSystem.Native.so", "libclrjit.so")
# Descriptors that runtimes open at times that differ between runs: assemblies, pipes of threads
# that are starting, the C library's random numbers. Files of /proc that are open for a moment only are
# not among them: hosting_state() leaves these out.
COMES_AND_GOES = re.compile(r"\.(dll|so)$|^/dev/(urandom|random|null)$|^pipe$|doublemapper")
# Descriptors that each runtime has: its diagnostics port and its console.
OF_EACH_RUNTIME = re.compile(r"^socket$|^TMP/std(out|err)$")
# Descriptors that tools need: a perf event for each thread.
OF_TOOLS = {"anon_inode:[perf_event]": ("sample", "wall", "all")}


def split(out):
    """Splits a standard output into the lines of the host and its "state" lines."""
    lines = out.splitlines()
    # Lines of createdump have process and thread numbers, times and sizes. `leaves:` checks the
    # dump file.
    return ([l for l in lines if not l.startswith(("state ", "[createdump]"))],
            [l.split(" ", 2)[1:] for l in lines if l.startswith("state ")])


def expected_lines(lines, clrs):
    """Returns the expected lines of a host with `clrs` runtimes, computed from its lines with
    one runtime: each runtime prints one line."""
    result = []
    for line in lines:
        result.append(line)
        if clrs > 1 and line == "guest: line 1":
            result += ["guest: line %d" % i for i in range(2, clrs + 1)]
    return result


def signals(state):
    return {int(r.split()[0]): r.split()[1:] for kind, r in state if kind == "signal"}


def compare_signals(control, with_library, preloaded, replaced, shared):
    """Compares the handlers that the host sees. The library may hide the handler of a runtime:
    then the host sees its own action, as if there were no runtime. Without preload, the host's
    query goes to the kernel, and the host may see a handler of the library in these cases: the
    control has a runtime's handler or none; (`replaced`) a later runtime replaces the host's
    handler; or the signal is in `shared`, because the library must share it with the host's
    handler."""
    wrong = []
    before, after = signals(control), signals(with_library)
    for sig in sorted(set(before) | set(after)):
        was, now = before.get(sig, ["default"]), after.get(sig, ["default"])
        if was == now:
            continue
        if was[0] in RUNTIME_MODULES and not now[0].startswith("libsxsprof"):
            continue
        if not preloaded and now[0].startswith("libsxsprof") and \
                (replaced or str(sig) in shared or was[0] in RUNTIME_MODULES + ("default", "ignored")):
            continue
        wrong.append("signal %d: %s without the library, %s with it" % (sig, " ".join(was), " ".join(now)))
    return wrong


def descriptors(state):
    """Returns the number of descriptors of each kind."""
    count = collections.Counter()
    for kind, rest in state:
        if kind == "fd":
            target = re.sub(r":\[\d+\]$", "", re.sub(r"^TMP/session/\d+", "TMP/session/PID", rest.split(" ", 1)[1]))
            count[target] += 1
    return count


def compare_descriptors(control, with_library, tool, clrs):
    wrong = []
    before, after = descriptors(control), descriptors(with_library)
    for target in sorted(set(before) | set(after)):
        more = after[target] - before[target]
        if not more or COMES_AND_GOES.search(target):
            continue
        if clrs > 1 and more > 0 and OF_EACH_RUNTIME.search(target):
            continue
        if more > 0 and tool in OF_TOOLS.get(target, ()):
            continue
        wrong.append("descriptors: %+d of %s" % (more, target))
    return wrong


def compare_rest(control, with_library):
    """Compares limits, mask, working folder and so on, which must be equal."""
    known = ("signal", "fd")
    before = sorted((k, r) for k, r in control if k not in known)
    after = sorted((k, r) for k, r in with_library if k not in known)
    return ["%s %s: only %s the library" % (k, r, "without" if (k, r) in before else "with")
            for k, r in sorted(set(before) ^ set(after))]


def own_lines(err):
    """Returns the lines of standard error that the library did not write."""
    return [l for l in err.splitlines() if not l.startswith("sxsprof")]


def status_text(status):
    return "signal %d" % -status if status < 0 else "status %d" % status


def differences(host, control, result, tool, preloaded, clrs):
    """Returns a list of what is wrong with `result`; empty when the host behaved as without the
    library."""
    if result.hung:
        return [result.hung]
    wrong = []
    lines, state = split(result.out)
    if host.get("expect") == "claims":
        # There is no valid control: the claims of the host must hold, and its exit status must be
        # 0.
        wrong += [l for l in lines if l.startswith("WRONG")]
        wanted_status = 0
        if not any(l.startswith("right") for l in lines):
            wrong.append("the host claims nothing")
    else:
        control_lines, control_state = split(control.out)
        wanted_status = control.status
        wanted = expected_lines(control_lines, clrs)
        if lines != wanted:
            wrong += ["output: only without the library: " + l for l in wanted if l not in lines]
            wrong += ["output: only with the library: " + l for l in lines if l not in wanted]
            if not wrong:
                wrong.append("output: the same lines in another order")
        if own_lines(control.err) != own_lines(result.err) and not host.get("stderr"):
            wrong += ["standard error: " + l for l in own_lines(result.err) if l not in own_lines(control.err)]
        if control_state and state:
            wrong += compare_signals(control_state, state, preloaded, clrs > 1 and bool(host.get("replaced")),
                                     host.get("shared").split(","))
            wrong += compare_descriptors(control_state, state, tool, clrs)
            wrong += compare_rest(control_state, state)
    if result.status != wanted_status:
        wrong.append("ends with %s, not %s" % (status_text(result.status), status_text(wanted_status)))
    wrong += ["leaves no file " + f for f in result.missing]
    sessions = host.get("session", "whole")
    if sessions == "whole" and result.session < clrs and not wrong:
        wrong.append("the report of the session shows %d runtimes of %d" % (max(result.session, 0), clrs))
    said = host.get("says")
    if said and said.replace("_", " ") not in result.err:
        wrong.append("the library does not say: " + said.replace("_", " "))
    return wrong


def sound_control(host, control):
    """Returns what is wrong with a control. A host that fails without the library cannot be
    compared."""
    lines, _ = split(control.out)
    wrong = [l for l in lines if l.startswith("WRONG")]
    if control.hung:
        wrong.append(control.hung)
    if not any(l.startswith(("right", "guest")) for l in lines):
        wrong.append("it claims nothing")
    wanted = int(host.get("exit", "0"))
    if control.status != wanted:
        wrong.append("ends with %s, not %s" % (status_text(control.status), status_text(wanted)))
    wrong += ["leaves no file " + f for f in control.missing]
    if wrong:
        wrong += own_lines(control.err)[-10:]
    return wrong


def explain(result):
    """Returns the last lines of output of a failed run, for the log."""
    return ["stderr: " + l for l in result.err.splitlines()[-8:]] + \
           ["stdout: " + l for l in split(result.out)[0][-8:]]


