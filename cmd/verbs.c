/* SPDX-License-Identifier: MIT */
#include "cmd/verbs.h"

#include "cmd/command.h"
#include "cmd/shortcuts.h"

#include <stdio.h>
#include <string.h>

const struct sxs_verb sxs_verbs[] = {
    {"run", "run a command with its .NET runtimes profiled", sxs_cmd_run, &sxs_argp_run},
    {"sample", "sample the stacks: which functions use the time", sxs_cmd_shortcut, NULL},
    {"calls", "count and time the calls of functions", sxs_cmd_shortcut, NULL},
    {"trace", "record each call of functions", sxs_cmd_shortcut, NULL},
    {"alloc", "record what functions allocate, and what stays alive", sxs_cmd_shortcut, NULL},
    {"native", "record native memory, and what is not freed", sxs_cmd_shortcut, NULL},
    {"locks", "record waits for locks, and who holds them", sxs_cmd_shortcut, NULL},
    {"wait", "sample what threads wait for", sxs_cmd_shortcut, NULL},
    {"exceptions", "record where exceptions are thrown and handled", sxs_cmd_shortcut, NULL},
    {"events", "record compilations, collections, loads, threads", sxs_cmd_shortcut, NULL},
    {"gc", "record collections: why, how long, what they freed", sxs_cmd_shortcut, NULL},
    {"instrument", "instrument methods as a file says", sxs_cmd_shortcut, NULL},
    {"start", "begin a session in a running process", sxs_cmd_start, &sxs_argp_start},
    {"stop", "end the session of a running process", sxs_cmd_stop, &sxs_argp_stop},
    {"status", "print what is recorded in a running process", sxs_cmd_status, &sxs_argp_status},
    {"snapshot", "copy what a running process has recorded so far", sxs_cmd_snapshot,
     &sxs_argp_snapshot},
    {"report", "print what a recorded session did, or draw it", sxs_cmd_report, &sxs_argp_report},
    {"diff", "draw what changed between two sessions", sxs_cmd_diff, &sxs_argp_diff},
    {"top", "show what a process does now", sxs_cmd_top, &sxs_argp_top},
    {"heap", "print what a heap snapshot holds and what keeps it", sxs_cmd_heap, &sxs_argp_heap},
    {"serve", "show sessions in a browser while they grow", sxs_cmd_serve, &sxs_argp_serve},
    {"pack", "write a session with its names to one file", sxs_cmd_pack, &sxs_argp_pack},
    {"push", "send sessions to a server of profiles", sxs_cmd_push, &sxs_argp_push},
    {"fleet", "ask a ClickHouse server about many machines", sxs_cmd_fleet, &sxs_argp_fleet},
    {"env", "print the settings for a program that sxsprof does not start", sxs_cmd_env,
     &sxs_argp_env},
    {"attach", "record in a process that runs already", sxs_cmd_attach, &sxs_argp_attach},
    {"detach", "end a recording in a process, and leave it", sxs_cmd_detach, &sxs_argp_detach},
    {"ps", "list the running processes with .NET runtimes", sxs_cmd_ps, &sxs_argp_ps},
    {"runtimes", "list the .NET runtimes installed here", sxs_cmd_runtimes, &sxs_argp_runtimes},
    {"doctor", "print what will be profiled, and what prevents it", sxs_cmd_doctor,
     &sxs_argp_doctor},
    {"check", "check instrumentation files, and print what they match", sxs_cmd_check,
     &sxs_argp_check},
    {"il", "print the IL of an assembly, checked", sxs_cmd_il, &sxs_argp_il},
    {"help", "print the help of a verb", NULL, NULL},
};
const size_t sxs_n_verbs = sizeof(sxs_verbs) / sizeof(sxs_verbs[0]);

const struct sxs_verb *sxs_verb_find(const char *name)
{
    for (size_t i = 0; i < sxs_n_verbs; i++)
        if (strcmp(sxs_verbs[i].name, name) == 0)
            return &sxs_verbs[i];
    return NULL;
}

const struct argp *sxs_verb_options(const struct sxs_verb *verb)
{
    return verb->argp ? verb->argp : sxs_shortcut_argp(verb->name);
}

const char *sxs_verb_names(void)
{
    static char list[512];
    size_t      len = 0;
    for (size_t i = 0; i < sxs_n_verbs && len < sizeof(list); i++)
        len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s",
                                i == 0                 ? ""
                                : i == sxs_n_verbs - 1 ? " or "
                                                       : ", ",
                                sxs_verbs[i].name);
    return list;
}

int sxs_verb_run(const struct sxs_verb *verb, int argc, char **argv)
{
    static char name[32]; /* static, because argp keeps the pointer until the process ends */
    snprintf(name, sizeof(name), "sxsprof %s", verb->name);
    argv[0] = name;
    return verb->run(argc, argv);
}
