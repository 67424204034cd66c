/* SPDX-License-Identifier: MIT */
/* hosting.c - functions for host programs: start runtimes, call their app, print claims. */
#include "tests/hosts/hosting.h"

#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/clr.h"
#include "harness/properties.h"

static struct sxs_clr       clrs[HOSTING_MAX];
static struct hosting_guest guests[HOSTING_MAX];
static bool                 started[HOSTING_MAX];
static char                *dirs[HOSTING_MAX]; /* owned, never freed */
static int                  n_dirs;
static atomic_int           n_wrong;

__attribute__((noreturn, format(printf, 1, 2))) static void give_up(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    fputs("host: ", stderr);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
    _exit(2);
}

const char *hosting_env(const char *name)
{
    const char *value = getenv(name);

    if (!value || !*value)
        give_up("%s is not set", name);
    return value;
}

void hosting_env_clean(void)
{
    static const char *const names[] = {"LD_PRELOAD",
                                        "CORECLR_ENABLE_PROFILING",
                                        "CORECLR_PROFILER",
                                        "CORECLR_PROFILER_PATH",
                                        "SXSPROF_TOOLS",
                                        "SXSPROF_OUT",
                                        "SXSPROF_INSTRUMENT",
                                        "DOTNET_gcServer",
                                        "DOTNET_ReadyToRun",
                                        "DOTNET_GCHeapHardLimit",
                                        "DOTNET_DbgEnableMiniDump"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        unsetenv(names[i]);
}

int hosting_len(void)
{
    char *rest, *dir, *list;

    if (n_dirs)
        return n_dirs;
    list = strdup(hosting_env("HOSTS_RUNTIMES"));
    for (dir = strtok_r(list, ":", &rest); dir && n_dirs < HOSTING_MAX;
         dir = strtok_r(NULL, ":", &rest))
        dirs[n_dirs++] = strdup(dir);
    free(list);
    if (!n_dirs)
        give_up("HOSTS_RUNTIMES names no folder");
    return n_dirs;
}

static void find(int i, const char *method, void *to)
{
    int hr =
        clrs[i].create_delegate(clrs[i].host, clrs[i].domain, "guest", "Guest.Exports", method, to);

    if (hr < 0)
        give_up("runtime %d has no Guest.Exports.%s: 0x%08x", i + 1, method, (unsigned)hr);
}

void hosting_start_one(int i)
{
    struct sxs_properties properties = {0};
    char                  why[256];

    if (i >= hosting_len() || started[i])
        give_up("there is no runtime %d to start", i + 1);
    if (sxs_properties_fill(&properties, dirs[i], hosting_env("HOSTS_GUEST")))
        give_up("cannot read %s", dirs[i]);
    if (sxs_clr_load(&clrs[i], dirs[i], why, sizeof(why)) ||
        sxs_clr_start(&clrs[i], &properties, why, sizeof(why)))
        give_up("runtime %d: %s", i + 1, why);
    sxs_properties_free(&properties);
    find(i, "All", &guests[i].all);
    find(i, "Faults", &guests[i].faults);
    find(i, "Collect", &guests[i].collect);
    find(i, "Compute", &guests[i].compute);
    find(i, "Print", &guests[i].print);
    find(i, "Unhandled", &guests[i].unhandled);
    find(i, "CallBack", &guests[i].call_back);
    find(i, "NotesExit", &guests[i].notes_exit);
    find(i, "NotesSignal", &guests[i].notes_signal);
    started[i] = true;
}

void hosting_start(void)
{
    for (int i = 0; i < hosting_len(); i++)
        if (!started[i])
            hosting_start_one(i);
}

const struct hosting_guest *hosting_guest(int i)
{
    return &guests[i];
}

int hosting_work(int rounds)
{
    int wrong = 0;

    for (int i = 0; i < hosting_len(); i++)
        if (started[i])
            wrong += guests[i].all(rounds);
    return wrong;
}

int hosting_stop_one(int i)
{
    char why[256];
    int  code = 0;

    started[i] = false;
    if (!sxs_clr_stop(&clrs[i], &code, why, sizeof(why)))
        return 0;
    fprintf(stderr, "host: runtime %d: %s\n", i + 1, why);
    return 1;
}

int hosting_stop(void)
{
    int refused = 0;

    for (int i = hosting_len() - 1; i >= 0; i--)
        if (started[i])
            refused += hosting_stop_one(i);
    return refused;
}

static void say(const char *first, const char *fmt, va_list args)
{
    char line[1024];
    int  len = snprintf(line, sizeof(line), "%s", first);

    len += vsnprintf(line + len, sizeof(line) - (size_t)len - 1, fmt, args);
    if (len > (int)sizeof(line) - 2)
        len = sizeof(line) - 2;
    line[len++] = '\n';
    if (write(STDOUT_FILENO, line, (size_t)len) != len)
        atomic_fetch_add(&n_wrong, 1);
}

void hosting_say(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    say("", fmt, args);
    va_end(args);
}

bool hosting_claim(bool holds, const char *fmt, ...)
{
    va_list args;

    if (!holds)
        atomic_fetch_add(&n_wrong, 1);
    va_start(args, fmt);
    say(holds ? "right: " : "WRONG: ", fmt, args);
    va_end(args);
    return holds;
}

int hosting_n_wrong(void)
{
    return atomic_load(&n_wrong);
}

int hosting_end(void)
{
    hosting_state();
    hosting_claim(hosting_stop() == 0, "the runtimes shut down");
    return hosting_n_wrong() ? 1 : 0;
}
