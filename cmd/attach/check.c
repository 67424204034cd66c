/* SPDX-License-Identifier: MIT */
/* check.c - look at a process before an attach, and say what will not be recorded. */
#include "cmd/attach/rules.h"
#include "cmd/attach/target.h"
#include "cmd/output/exits.h"
#include "cmd/output/print.h"
#include "cmd/output/text.h"
#include "cmd/processes/control_client.h"
#include "cmd/processes/deadline.h"
#include "cmd/processes/runtime_line.h"
#include "runtime_facts/facts.h"
#include "tools/options/late_start.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ASK_MS         5000u /* how long a runtime may take to answer which process it is in */
#define SESSION_END_MS 4000u /* for a session that ends to have ended */

static int refuse(const struct sxs_target *t, char why[SXS_TARGET_WHY], const char *reason)
{
    char name[64];
    sxs_text_clean(t->p.name, name, sizeof(name));
    snprintf(why, SXS_TARGET_WHY, "%d (%s): %.*s", (int)t->p.pid, name, SXS_TARGET_WHY - 100,
             reason);
    return SXS_EXIT_USAGE;
}

/* Refuses a process that this user may not touch, or that has no runtime for profilers. */
static int check_process(const struct sxs_target *t, char why[SXS_TARGET_WHY])
{
    const struct sxs_process *p = &t->p;
    char                      text[512];
    bool                      aot = p->n_runtimes > 0;
    for (size_t i = 0; i < p->n_runtimes; i++)
        aot &= p->runtimes[i].kind == SXS_RUNTIME_NATIVE_AOT;
    snprintf(text, sizeof(text),
             "it belongs to %s; expected this command to be run by that user or by root", p->user);
    if (geteuid() != 0 && p->uid != geteuid())
        return refuse(t, why, text);
    const char *identity = sxs_identity_problem(&p->identity);
    if (identity)
        return refuse(t, why, identity);
    if (p->problem) {
        snprintf(text, sizeof(text), "its memory map cannot be read: %s", strerror(p->problem));
        return refuse(t, why, text);
    }
    if (p->state == 'T' || p->state == 't') {
        snprintf(text, sizeof(text),
                 "it is stopped, by SIGSTOP or a debugger; expected a running process (kill -CONT "
                 "%d)",
                 (int)p->pid);
        return refuse(t, why, text);
    }
    if (p->musl)
        return refuse(t, why,
                      "it uses musl, as in Alpine; expected glibc, which the library needs");
    if (aot)
        return refuse(t, why,
                      "it was compiled ahead of time (NativeAOT) and has no profiling "
                      "interface; expected a process with a CLR");
    if (!p->n_runtimes && p->partly)
        return refuse(t, why, "whether it has a .NET runtime is not known: " SXS_PROCESS_PARTLY);
    if (!p->n_runtimes)
        return refuse(t, why, "it has no .NET runtime; sxsprof ps lists processes that have one");
    return SXS_EXIT_OK;
}

/* Refuses a second session. The message says which command has begun the first one. */
static int refuse_second(const struct sxs_target *t, const struct sxs_control_answer *a,
                         char why[SXS_TARGET_WHY])
{
    const char *tools = sxs_message_get(&a->message, "tools");
    const char *out = sxs_message_get(&a->message, "out");
    const char *client = sxs_message_get(&a->message, "client");
    const char *id = sxs_message_get(&a->message, "id");
    char        text[SXS_TARGET_WHY - 128], clean[1024];
    snprintf(text, sizeof(text), "tools %s, folder %s%s%s%s%s", tools ? tools : "?",
             out ? out : "none", client ? ", begun by process " : "", client ? client : "",
             id && *id ? ", session " : ", from its start", id ? id : "");
    sxs_text_clean(text, clean, sizeof(clean));
    snprintf(text, sizeof(text),
             "sxsprof records in it already: %s; expected one session at a time (sxsprof detach %d "
             "ends it)",
             clean, (int)t->p.pid);
    return refuse(t, why, text);
}

/* Reads the runtimes that the library calls live. */
static void add_live(struct sxs_target *t, const struct sxs_control_answer *a)
{
    const struct sxs_message *m = &a->message;
    for (size_t i = 0; i < m->n && t->n_runtimes < SXS_MAX_REACHED; i++) {
        struct sxs_runtime_line    line;
        struct sxs_target_runtime *r = &t->runtimes[t->n_runtimes];
        if (strcmp(m->names[i], "runtime") != 0 || !sxs_runtime_line_parse(m->values[i], &line) ||
            strcmp(line.life, "live") != 0)
            continue;
        *r = (struct sxs_target_runtime){.reached = -1, .live = true};
        sxs_text_clean(line.version, r->version, sizeof(r->version));
        t->n_runtimes++;
        t->has_library = true;
    }
}

/* Asks the library in the process what it does. */
static int check_library(struct sxs_target *t, char why[SXS_TARGET_WHY])
{
    static struct sxs_control_answer answer;
    char                             reason[SXS_CONTROL_WHY];
    const char                      *phase, *library;
    int err = sxs_target_wait_ended(&t->p, &answer, SESSION_END_MS, reason);
    if (err == ECONNREFUSED || err == EPERM)
        return SXS_EXIT_OK; /* if the library is in the process, nothing of it runs */
    if (err)
        return refuse(t, why, reason);
    library = sxs_message_get(&answer.message, "library");
    if (library && *library == '/' && strlen(library) < sizeof(t->library))
        memcpy(t->library, library, strlen(library) + 1);
    phase = sxs_message_get(&answer.message, "phase");
    if (phase && strcmp(phase, "none") != 0)
        return refuse_second(t, &answer, why);
    if (sxs_message_get(&answer.message, "detaching"))
        return refuse(t, why,
                      "a runtime has not let the library of an earlier attach go yet, because a thread is "
                      "inside of a call of it; expected a process that has been left");
    add_live(t, &answer);
    return SXS_EXIT_OK;
}

/* Adds the runtimes that answered, except those that are live in the library already. */
static void add_reached(struct sxs_target *t)
{
    bool taken[SXS_MAX_REACHED] = {false};
    for (size_t i = 0; i < t->ports.n_runtimes; i++) {
        const char *version = t->ports.runtimes[i].info.version;
        bool        live = false;
        for (size_t k = 0; k < t->n_runtimes && !live; k++)
            if (t->runtimes[k].live && !taken[k] && strcmp(t->runtimes[k].version, version) == 0)
                live = taken[k] = true;
        if (live || t->n_runtimes == SXS_MAX_REACHED)
            continue;
        struct sxs_target_runtime *r = &t->runtimes[t->n_runtimes++];
        *r = (struct sxs_target_runtime){.reached = (int)i};
        snprintf(r->version, sizeof(r->version), "%s", version);
    }
}

/* Adds the runtimes that are mapped and that nobody has named so far. */
static void add_mute(struct sxs_target *t)
{
    bool   taken[SXS_MAX_REACHED] = {false};
    size_t known = t->n_runtimes;
    for (size_t i = 0; i < t->p.n_runtimes && t->n_runtimes < SXS_MAX_REACHED; i++) {
        const struct sxs_process_runtime *m = &t->p.runtimes[i];
        bool                              found = m->kind == SXS_RUNTIME_NATIVE_AOT;
        for (size_t k = 0; k < known && !found; k++)
            if (!taken[k] && (strcmp(t->runtimes[k].version, m->version) == 0 || !m->version[0]))
                found = taken[k] = true;
        if (found)
            continue;
        struct sxs_target_runtime *r = &t->runtimes[t->n_runtimes++];
        *r = (struct sxs_target_runtime){.reached = -1};
        snprintf(r->version, sizeof(r->version), "%s", *m->version ? m->version : "?");
    }
}

/* Returns true when the choice @pick names the runtime. */
static bool fits_pick(const struct sxs_target *t, const struct sxs_target_runtime *r,
                      const char *pick)
{
    const char *what = pick + strlen("one:");
    size_t      len = strlen(what);
    if (*what != '/')
        return strncmp(r->version, what, len) == 0 &&
               (!r->version[len] || strchr(".-", r->version[len]));
    for (size_t i = 0; i < t->p.n_runtimes; i++)
        if (strncmp(t->p.runtimes[i].path, what, len) == 0)
            return strcmp(t->p.runtimes[i].version, r->version) == 0;
    return false;
}

static size_t pick_runtimes(struct sxs_target *t, const char *pick)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n_runtimes; i++) {
        struct sxs_target_runtime *r = &t->runtimes[i];
        r->picked = !pick || strcmp(pick, "all") == 0 || (strcmp(pick, "first") == 0 && i == 0) ||
                    (strncmp(pick, "one:", 4) == 0 && fits_pick(t, r, pick));
        n += r->picked && (r->live || r->reached >= 0);
        if (n && pick && strncmp(pick, "one:", 4) == 0)
            break;
    }
    return n;
}

/* Returns the setting that switches the diagnostics ports of the process off, or NULL. */
static const char *find_switch(const struct sxs_process *p)
{
    static const char *const switches[] = {
        "DOTNET_EnableDiagnostics",
        "COMPlus_EnableDiagnostics",
        "DOTNET_EnableDiagnostics_IPC",
        "DOTNET_EnableDiagnostics_Profiler",
    };
    char value[16];
    for (size_t i = 0; i < sizeof(switches) / sizeof(switches[0]); i++)
        if (sxs_process_variable(p, switches[i], value, sizeof(value)) == 0 &&
            strcmp(value, "0") == 0)
            return switches[i];
    return NULL;
}

/* Says why no runtime answers. */
static int refuse_mute(struct sxs_target *t, const char *problem, char why[SXS_TARGET_WHY])
{
    char text[PATH_MAX + 512];
    if (t->off)
        snprintf(text, sizeof(text),
                 "%s=0 switches its diagnostics port off; expected a process with a diagnostics "
                 "port, or one that sxsprof has started",
                 t->off);
    else if (sxs_process_lives(&t->p) && (t->p.state == 'T' || t->p.state == 't'))
        snprintf(text, sizeof(text), "it was stopped meanwhile; nothing was changed");
    else
        snprintf(text, sizeof(text),
                 "no runtime answers at a diagnostics port (%s); expected one, or a process that "
                 "sxsprof has started",
                 *problem ? problem : "there is none");
    return refuse(t, why, text);
}

static int check_ports(struct sxs_target *t, const struct sxs_target_request *request,
                       char why[SXS_TARGET_WHY])
{
    char problem[PATH_MAX + 128];
    sxs_ports_ask(&t->p, &t->ports, ASK_MS, problem, sizeof(problem));
    add_reached(t);
    bool any = t->n_runtimes > 0;
    if (!any)
        return refuse_mute(t, problem, why);
    add_mute(t);
    if (pick_runtimes(t, request->pick) == 0) {
        char text[256];
        snprintf(text, sizeof(text), "--pick %s: none of the runtimes that can be reached is that",
                 request->pick);
        return refuse(t, why, text);
    }
    return SXS_EXIT_OK;
}

int sxs_target_read(struct sxs_target *t, pid_t pid, char why[SXS_TARGET_WHY])
{
    memset(t, 0, sizeof(*t));
    t->hold = t->pidfd = t->mark = t->staging.dir = -1;
    int err = sxs_process_read(pid, &t->p);
    if (!err) {
        t->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
        if (t->pidfd < 0 || (!sxs_process_lives(&t->p) && /* the PID may be another one's by now */
                             !sxs_process_has_program(&t->p)))
            err = ESRCH;
    }
    if (!err) {
        sxs_ports_find(&t->p, &t->ports);
        t->off = find_switch(&t->p);
        if (!sxs_process_is_same(&t->p))
            err = EAGAIN;
    }
    if (!err)
        return SXS_EXIT_OK;
    snprintf(why, SXS_TARGET_WHY, "%d: %s", (int)pid,
             err == ESRCH ? "no such process"
             : err == EAGAIN
                 ? "it becomes another program, or changes its user, while it is looked "
                   "at; expected a process that runs one program"
                 : strerror(err));
    return err == ENOMEM ? SXS_EXIT_FAILED : SXS_EXIT_USAGE;
}

int sxs_target_check(struct sxs_target *t, const struct sxs_target_request *request,
                     char why[SXS_TARGET_WHY])
{
    char reason[SXS_TARGET_WHY - 128];
    t->out = request->out;
    int status = check_process(t, why);
    if (!status)
        status = check_library(t, why);
    if (!status)
        status = check_ports(t, request, why);
    if (!status && sxs_rules_check(&t->p, request->tools, reason, sizeof(reason)) != 0)
        status = refuse(t, why, reason);
    return status;
}

/* ---- what will be missing -------------------------------------------------------------------- */

/* Returns the port that runtimes of the process connect to, or NULL. */
static const char *find_connecting(const struct sxs_target *t)
{
    for (size_t i = 0; i < t->ports.n; i++)
        if (t->ports.ports[i].connects)
            return t->ports.ports[i].path;
    return NULL;
}

static void print_mute(const struct sxs_target *t, FILE *to)
{
    const char *port = find_connecting(t);
    for (size_t i = 0; i < t->n_runtimes; i++) {
        const struct sxs_target_runtime *r = &t->runtimes[i];
        if (r->live || r->reached >= 0 || !r->picked)
            continue;
        if (!to)
            continue;
        if (port) {
            sxs_print_to(
                to, "sxsprof: %d: runtime %s has not connected to %s in time; it is not recorded\n",
                (int)t->p.pid, r->version, port);
            continue;
        }
        sxs_print_to(
            to,
            "sxsprof: %d: runtime %s has no diagnostics port of its own, because another runtime "
            "of the process took the name; it is not recorded "
            "(DOTNET_DiagnosticPorts=/tmp/NAME,nosuspend in the process's environment gives each "
            "runtime one)\n",
            (int)t->p.pid, r->version);
    }
}

/* What a tool lacks, and the versions of the runtimes on which it does. */
struct lack {
    const char *why;
    bool        off;
    char        versions[256];
};

#define MAX_LACKS 4

/* Adds a runtime to the lack @why, which is made if there is none. */
static void add_lack(struct lack lacks[MAX_LACKS], const char *why, bool off, const char *version)
{
    for (size_t i = 0; i < MAX_LACKS; i++) {
        struct lack *l = &lacks[i];
        if (l->why && strcmp(l->why, why) != 0)
            continue;
        size_t len = strlen(l->versions);
        l->why = why;
        l->off = off;
        snprintf(l->versions + len, sizeof(l->versions) - len, "%s%s", len ? ", " : "", version);
        return;
    }
}

/* Says what one tool lacks, once for each reason. Returns true when it records something. */
static bool explain_tool(const struct sxs_target *t, const char *tool, FILE *to)
{
    char        name[64], options[PATH_MAX + 256] = "";
    struct lack lacks[MAX_LACKS] = {0};
    bool        any = false;
    size_t      len = strcspn(tool, ":");
    snprintf(name, sizeof(name), "%.*s", (int)len, tool);
    if (tool[len])
        snprintf(options, sizeof(options), "%s", tool + len + 1);
    for (size_t i = 0; i < t->n_runtimes; i++) {
        const struct sxs_target_runtime *r = &t->runtimes[i];
        const char                      *why = "";
        if (!r->picked || (!r->live && r->reached < 0))
            continue;
        bool                 is_there = strcmp(name, "native") == 0 ? t->p.allocator : r->live;
        enum sxs_late_result result = sxs_late_start(is_there ? SXS_LATE_REQUEST : SXS_LATE_ATTACH,
                                                     name, options, sxs_facts_of(r->version), &why);
        any |= result != SXS_LATE_NO;
        if (result != SXS_LATE_FULL)
            add_lack(lacks, why, result == SXS_LATE_NO, r->version);
    }
    for (size_t i = 0; to && i < MAX_LACKS && lacks[i].why; i++)
        sxs_print_to(to, "sxsprof: %d: tool %s %s on %s: %s\n", (int)t->p.pid, name,
                     lacks[i].off ? "is left out" : "is limited", lacks[i].versions, lacks[i].why);
    return any;
}

unsigned sxs_target_explain(const struct sxs_target *t, const struct sxs_target_request *request,
                            FILE *to)
{
    char    *list = strdup(request->tools), *save = NULL;
    unsigned n = 0;
    print_mute(t, to);
    for (char *tool = list ? strtok_r(list, ";", &save) : NULL; tool;
         tool = strtok_r(NULL, ";", &save))
        n += explain_tool(t, tool, to);
    free(list);
    return n;
}
