# SPDX-License-Identifier: MIT
"""Runs one host once: without the library, or with some tools, with or without the preloaded
library."""
import os
import resource
import shutil
import signal
import subprocess
import tempfile

import table

PROFILER = "{6B8F5B6E-3C0D-4E0B-9A57-5C1D0F2E7A31}"
TIME_LIMIT = int(os.environ.get("HOSTS_TIME_LIMIT", "60"))  # seconds: a host that is still running hangs


class Result:
    """The result of one run: exit status (negative: the signal), output, the number of runtimes
    in the report of the session, the reason if the run was ended, and those files that it should
    leave but did not."""

    def __init__(self, status, out, err, session, hung, missing):
        self.status, self.out, self.err = status, out, err
        self.session, self.hung, self.missing = session, hung, missing


class Setup:
    """Absolute paths: of the build folder, and of the runtimes to choose from."""

    def __init__(self, build):
        self.build = os.path.abspath(build)
        folder = os.path.join(self.build, "runtimes")
        found = [v for v in os.listdir(folder) if os.path.exists(os.path.join(folder, v, "libcoreclr.so"))] \
            if os.path.isdir(folder) else []
        found.sort(key=lambda v: [int(p) if p.isdigit() else 0 for p in v.split(".")], reverse=True)
        self.runtimes = [os.path.join(folder, v) for v in found]

    def choose(self, n, rotation):
        """Returns n different runtimes; the choice depends on the rotation."""
        return [self.runtimes[(rotation + i) % len(self.runtimes)] for i in range(n)]


def environment(setup, host, tool, preloaded, clrs, rotation, folder):
    """Returns the host's environment. `tool` is None for the control."""
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(("SXSPROF_", "CORECLR_", "DOTNET_", "COMPlus_", "LD_", "HOSTS_", "LC_", "MALLOC_"))}
    for name in ("DOTNET_ROOT",):
        if name in os.environ:
            env[name] = os.environ[name]
    env.update(LANG="C", DOTNET_SYSTEM_GLOBALIZATION_INVARIANT="1",
               HOSTS_RUNTIMES=":".join(setup.choose(clrs, rotation)), HOSTS_BUILD=setup.build,
               HOSTS_GUEST=os.path.join(setup.build, "managed", "guest"), HOSTS_TMP=folder,
               TMPDIR=folder)
    preloads = []
    if tool is not None:
        tools, rules = table.TOOLS[tool]
        env.update(CORECLR_ENABLE_PROFILING="1", CORECLR_PROFILER=PROFILER,
                   CORECLR_PROFILER_PATH=os.path.join(setup.build, "libsxsprof.so"),
                   SXSPROF_OUT=os.path.join(folder, "session"))
        if tools:
            env["SXSPROF_TOOLS"] = tools
        if rules:
            env["SXSPROF_INSTRUMENT"] = os.path.join(table.HERE, "rules.xml")
        if preloaded:
            preloads.append(os.path.join(setup.build, "libsxsprof-preload.so"))
    # The host's own libraries come first, as they do when sxsprof run adds its own to LD_PRELOAD.
    preloads = [table.find_library(p, setup.build) for p in host.all("preload")] + preloads
    if preloads:
        env["LD_PRELOAD"] = ":".join(preloads)
    for name, value in host.env.items():
        env[name] = value.replace("TMP/", folder + "/").replace("BUILD/", setup.build + "/")
    return env


def command_line(setup, host, folder):
    """Returns the command of the host: a built program or a script, after the script that `wrap`
    names."""
    program = host.command[0]
    for where in (os.path.join(setup.build, "hosts"), os.path.join(table.HERE, "programs")):
        if os.path.isfile(os.path.join(where, program)):
            program = os.path.join(where, program)
            break
    line = [program] + host.command[1:]
    if program.endswith(".py"):
        line.insert(0, "python3")
    elif program.endswith(".sh"):
        line.insert(0, "bash")
    wrap = host.get("wrap")
    return (["bash", os.path.join(table.HERE, "wrap_%s.sh" % wrap), folder] if wrap else []) + line


def stacks(group):
    """Returns the stacks of the processes of a group, if gdb is installed."""
    if not shutil.which("gdb"):
        return ""
    text = ""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.getpgid(int(pid)) != group:
                continue
            done = subprocess.run(["gdb", "-q", "-batch", "-p", pid, "-ex", "thread apply all bt 10"],
                                  capture_output=True, text=True, timeout=60, check=False)
            text += "stacks of %s:\n%s" % (pid, "\n".join(
                l[:110] for l in done.stdout.splitlines() if l.startswith(("#", "Thread"))))
        except (OSError, subprocess.SubprocessError):
            continue
    return text


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def has_content(path):
    return os.path.exists(path) and os.path.getsize(path) > 0


def inspect_session(setup, folder):
    """Returns the number of runtimes in the report of the session; -1 when there is none."""
    if not os.path.isdir(os.path.join(folder, "session")):
        return -1
    done = subprocess.run([os.path.join(setup.build, "sxsprof"), "report", os.path.join(folder, "session")],
                          capture_output=True, text=True, timeout=120, check=False, errors="replace")
    if done.returncode != 0:
        return -1
    return sum(1 for line in done.stdout.splitlines() if " picked " in line)


def run(setup, host, tool, preloaded, clrs, rotation=0):
    """Runs the host; `tool` is None for the control. Removes all its files. Returns a Result."""
    folder = tempfile.mkdtemp(prefix="sxsprof-host.")
    try:
        os.chmod(folder, 0o755)
        env = environment(setup, host, tool, preloaded, clrs, rotation, folder)
        os.mkdir(os.path.join(folder, "work"))
        out, err = os.path.join(folder, "stdout"), os.path.join(folder, "stderr")
        hung = ""
        with open(out, "wb") as out_file, open(err, "wb") as err_file:
            process = subprocess.Popen(
                command_line(setup, host, folder), env=env, cwd=os.path.join(folder, "work"),
                stdin=subprocess.DEVNULL, stdout=out_file, stderr=err_file, start_new_session=True,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, resource.RLIM_INFINITY)))
            status = None
            try:
                status = process.wait(TIME_LIMIT)
            except subprocess.TimeoutExpired:
                hung = "hangs: still running after %d s\n%s" % (TIME_LIMIT, stacks(process.pid))
            finally: # also when this program is ended by a signal
                try:
                    os.killpg(process.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            if status is None:
                status = process.wait()
        session = -1 if tool is None else inspect_session(setup, folder)
        tidy = [(folder, "TMP"), (setup.build, "BUILD")]
        texts = []
        for path in (out, err):
            text = read(path)
            for long, short in tidy:
                text = text.replace(long, short)
            texts.append(text)
        missing = [f for f in host.all("leaves") if not has_content(os.path.join(folder, f))]
        return Result(status, texts[0], texts[1], session, hung, missing)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
