/* SPDX-License-Identifier: MIT */
/* Examines what the kernel and the container allow: perf events, tracing, limits of control
 * groups. */
#include "cmd/doctor.h"
#include "cmd/output/text.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CGROUPS   "/sys/fs/cgroup"
#define FEW_TASKS 16 /* more than the threads that all tools start together */
#define NO_LIMIT  INT64_MAX
#define TIMER_HZ  240 /* the highest rate that timers reach on all kernels */

/* Reads the first line of a file; returns false when there is none. */
static bool read_line(const char *path, char *line, size_t size)
{
    FILE *f = fopen(path, "re");
    bool  ok = f && fgets(line, (int)size, f);
    if (f)
        fclose(f);
    if (ok)
        line[strcspn(line, "\n")] = '\0';
    return ok;
}

/* Tries to open a perf event for this process as the tool "sample" does. Returns 0 or errno. */
static int try_perf(void)
{
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof(attr));
    attr.size = sizeof(attr);
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_TASK_CLOCK;
    attr.sample_period = 1000000;
    attr.disabled = 1;
    attr.exclude_kernel = 1;
    int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

static void examine_perf(void)
{
    char level[32] = "not there";
    int  err = try_perf();
    read_line("/proc/sys/kernel/perf_event_paranoid", level, sizeof(level));
    if (!err) {
        sxs_found_ok("perf_event_paranoid is %s: perf events can be opened, so sample reaches any "
                     "rate",
                     level);
        return;
    }
    sxs_found_note(
        "perf_event_paranoid is %s, and no perf event can be opened (%s): sample reaches "
        "about %d Hz at most",
        level, strerror(err), TIMER_HZ);
    sxs_found_advice(
        "for higher rates set kernel.perf_event_paranoid to 2, and in a container allow "
        "perf_event_open");
}

static void examine_ptrace(void)
{
    char scope[32];
    if (!read_line("/proc/sys/kernel/yama/ptrace_scope", scope, sizeof(scope)))
        sxs_found_ok("ptrace_scope is not there: a user may trace all of his processes");
    else if (strcmp(scope, "0") == 0)
        sxs_found_ok("ptrace_scope is 0: a user may trace all of his processes");
    else
        sxs_found_note(
            "ptrace_scope is %s: sxsprof traces no process, but debuggers and dump tools "
            "cannot attach to one that they did not start",
            scope);
}

/* ---- control groups -------------------------------------------------------------------------- */

/* Writes the folder of this process's group to @path: in version 1 the group of @controller, in
 * version 2 the only one. Returns false when there is none. */
static bool find_group(const char *controller, bool v2, char *path, size_t size)
{
    char  line[4200];
    FILE *f = fopen("/proc/self/cgroup", "re");
    bool  found = false;
    while (f && !found && fgets(line, sizeof(line), f)) {
        char *names = strchr(line, ':'), *group = names ? strchr(names + 1, ':') : NULL;
        if (!group)
            continue;
        *names++ = *group++ = '\0';
        group[strcspn(group, "\n")] = '\0';
        if (v2) {
            found = !*names;
        } else {
            char *save = NULL;
            for (char *n = strtok_r(names, ",", &save); n; n = strtok_r(NULL, ",", &save))
                found |= strcmp(n, controller) == 0;
        }
        if (found)
            snprintf(path, size, CGROUPS "%s%s%s", v2 ? "" : "/", v2 ? "" : controller, group);
    }
    if (f)
        fclose(f);
    return found;
}

/* Calls @read for the group's folder and those above it, because all their limits apply. A
 * container often sees its own group as the top one, whatever /proc/self/cgroup says. */
static void for_each_group(const char *controller, bool v2,
                           void (*read)(const char *folder, bool v2, int64_t *value),
                           int64_t *value)
{
    char   path[4300];
    size_t top = strlen(CGROUPS) + (v2 ? 0 : 1 + strlen(controller));
    if (!find_group(controller, v2, path, sizeof(path)))
        return;
    for (;;) {
        read(path, v2, value);
        if (strlen(path) <= top)
            return;
        *strrchr(path, '/') = '\0';
    }
}

static bool read_value(const char *folder, const char *file, char *line, size_t size)
{
    char path[4400];
    snprintf(path, sizeof(path), "%s/%s", folder, file);
    return read_line(path, line, size);
}

static void lower(int64_t *value, const char *text)
{
    int64_t n = strtoll(text, NULL, 10);
    if (*text >= '0' && *text <= '9' && n < INT64_C(1) << 60 && n < *value)
        *value = n;
}

/* Lowers @value to the group's share of processors, in thousandths of one. */
static void read_cpu(const char *folder, bool v2, int64_t *value)
{
    char    quota[64], period[64];
    int64_t share;
    if (v2) {
        if (!read_value(folder, "cpu.max", quota, sizeof(quota)))
            return;
        char *blank = strchr(quota, ' ');
        snprintf(period, sizeof(period), "%s", blank ? blank + 1 : "100000");
    } else if (!read_value(folder, "cpu.cfs_quota_us", quota, sizeof(quota)) ||
               !read_value(folder, "cpu.cfs_period_us", period, sizeof(period))) {
        return;
    }
    if (*quota < '0' || *quota > '9' || strtoll(period, NULL, 10) <= 0) /* "max" or -1 */
        return;
    share = strtoll(quota, NULL, 10) * 1000 / strtoll(period, NULL, 10);
    if (share < *value)
        *value = share;
}

static void read_memory(const char *folder, bool v2, int64_t *value)
{
    char text[64];
    if (read_value(folder, v2 ? "memory.max" : "memory.limit_in_bytes", text, sizeof(text)))
        lower(value, text);
}

/* Lowers @value to the number of tasks that the group may still start. */
static void read_tasks(const char *folder, bool v2, int64_t *value)
{
    char    limit[64], now[64];
    int64_t left = NO_LIMIT;
    (void)v2;
    if (!read_value(folder, "pids.max", limit, sizeof(limit)) ||
        !read_value(folder, "pids.current", now, sizeof(now)))
        return;
    lower(&left, limit);
    if (left == NO_LIMIT)
        return;
    left -= strtoll(now, NULL, 10);
    if (left < *value)
        *value = left < 0 ? 0 : left;
}

static int64_t limit_of(const char *controller,
                        void (*read)(const char *folder, bool v2, int64_t *value))
{
    int64_t value = NO_LIMIT;
    for_each_group(controller, true, read, &value);
    for_each_group(controller, false, read, &value);
    return value;
}

static void examine_limits(struct sxs_findings *f)
{
    int64_t cpu = limit_of("cpu", read_cpu), memory = limit_of("memory", read_memory);
    int64_t tasks = limit_of("pids", read_tasks);
    if (cpu == NO_LIMIT && memory == NO_LIMIT && tasks == NO_LIMIT)
        sxs_found_ok("no control group limits processors, memory or tasks");
    if (cpu != NO_LIMIT)
        sxs_found_note(
            "a control group limits this process to %.2f processors: beyond that threads "
            "are stopped, which samples of wall time show and samples of CPU time do not",
            (double)cpu / 1000);
    if (memory != NO_LIMIT)
        sxs_found_note("a control group limits memory to %s, which includes the profiler's "
                       "tables and the pages of the session's files",
                       SXS_BYTES(memory));
    if (tasks != NO_LIMIT && tasks < FEW_TASKS) {
        sxs_found_problem(f,
                          "a control group lets this process start %lld more tasks only: tools "
                          "cannot start their threads",
                          (long long)tasks);
        sxs_found_advice("raise pids.max (systemd: TasksMax=, docker: --pids-limit)");
    } else if (tasks != NO_LIMIT) {
        sxs_found_note(
            "a control group allows %lld more tasks; the tools start up to %d threads in "
            "each process",
            (long long)tasks, FEW_TASKS);
    }
}

void sxs_doctor_system(struct sxs_findings *f)
{
    sxs_found_title("The system:");
    examine_perf();
    examine_ptrace();
    examine_limits(f);
}
