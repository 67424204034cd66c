/* SPDX-License-Identifier: MIT */
#include "cmd/verbs.h"

#include "cmd/command.h"
#include "cmd/output/similar.h"
#include "cmd/record_verbs.h"

#include <stdio.h>
#include <string.h>

const struct sxs_verb sxs_verbs[] = {
    {"sample", "which functions use the time: stacks, sampled", sxs_cmd_record, NULL,
     sxs_record_verb_argp, SXS_VERBS_RECORD},
    {"calls", "count and time the calls of functions", sxs_cmd_record, NULL, sxs_record_verb_argp,
     SXS_VERBS_RECORD},
    {"trace", "record each call of functions", sxs_cmd_record, NULL, sxs_record_verb_argp,
     SXS_VERBS_RECORD},
    {"alloc", "what functions allocate, and what stays alive", sxs_cmd_record, NULL,
     sxs_record_verb_argp, SXS_VERBS_RECORD},
    {"native", "native memory, and what is not freed", sxs_cmd_record, NULL, sxs_record_verb_argp,
     SXS_VERBS_RECORD},
    {"heap", "all objects, and what keeps them: of a process, or recorded", sxs_cmd_heap,
     &sxs_argp_heap, NULL, SXS_VERBS_RECORD},
    {"locks", "waits for locks, and who holds them", sxs_cmd_record, NULL, sxs_record_verb_argp,
     SXS_VERBS_RECORD},
    {"wait", "what threads wait for", sxs_cmd_record, NULL, sxs_record_verb_argp, SXS_VERBS_RECORD},
    {"exceptions", "where exceptions are thrown and handled", sxs_cmd_record, NULL,
     sxs_record_verb_argp, SXS_VERBS_RECORD},
    {"events", "compilations, collections, loads, threads", sxs_cmd_record, NULL,
     sxs_record_verb_argp, SXS_VERBS_RECORD},
    {"gc", "collections: why, how long, what they freed", sxs_cmd_record, NULL,
     sxs_record_verb_argp, SXS_VERBS_RECORD},
    {"instrument", "instrument methods as a file says", sxs_cmd_record, NULL, sxs_record_verb_argp,
     SXS_VERBS_RECORD},
    {"record", "several of these at once: record sample,alloc ...", sxs_cmd_record, NULL,
     sxs_record_verb_argp, SXS_VERBS_RECORD},
    {"stop", "end the session of a running process", sxs_cmd_stop, &sxs_argp_stop, NULL,
     SXS_VERBS_CONTROL},
    {"status", "print what is recorded in a running process", sxs_cmd_status, &sxs_argp_status,
     NULL, SXS_VERBS_CONTROL},
    {"snapshot", "copy what a running process has recorded so far", sxs_cmd_snapshot,
     &sxs_argp_snapshot, NULL, SXS_VERBS_CONTROL},
    {"detach", "end a recording in a process, and leave it", sxs_cmd_detach, &sxs_argp_detach, NULL,
     SXS_VERBS_CONTROL},
    {"report", "print what a recorded session did, or draw it", sxs_cmd_report, &sxs_argp_report,
     NULL, SXS_VERBS_READ},
    {"diff", "draw what changed between two sessions", sxs_cmd_diff, &sxs_argp_diff, NULL,
     SXS_VERBS_READ},
    {"top", "show what a process does now", sxs_cmd_top, &sxs_argp_top, NULL, SXS_VERBS_READ},
    {"serve", "show sessions in a browser while they grow", sxs_cmd_serve, &sxs_argp_serve, NULL,
     SXS_VERBS_READ},
    {"pack", "write a session with its names to one file", sxs_cmd_pack, &sxs_argp_pack, NULL,
     SXS_VERBS_READ},
    {"push", "send sessions to a server of profiles", sxs_cmd_push, &sxs_argp_push, NULL,
     SXS_VERBS_FLEET},
    {"fleet", "ask a ClickHouse server about many machines", sxs_cmd_fleet, &sxs_argp_fleet, NULL,
     SXS_VERBS_FLEET},
    {"ps", "list the running processes with .NET runtimes", sxs_cmd_ps, &sxs_argp_ps, NULL,
     SXS_VERBS_SETUP},
    {"doctor", "print what will be profiled, and what prevents it", sxs_cmd_doctor,
     &sxs_argp_doctor, NULL, SXS_VERBS_SETUP},
    {"env", "print the settings for a program that sxsprof does not start", sxs_cmd_env, NULL,
     sxs_env_argp, SXS_VERBS_SETUP},
    {"runtimes", "list the .NET runtimes installed here", sxs_cmd_runtimes, &sxs_argp_runtimes,
     NULL, SXS_VERBS_SETUP},
    {"check", "check instrumentation files, and print what they match", sxs_cmd_check,
     &sxs_argp_check, NULL, SXS_VERBS_SETUP},
    {"il", "print the IL of an assembly, checked", sxs_cmd_il, &sxs_argp_il, NULL, SXS_VERBS_SETUP},
    {"help", "print the help of a verb", NULL, NULL, NULL, SXS_VERBS_SETUP},
    {"run", "record in a command, with the tools of --tool", sxs_cmd_record, NULL,
     sxs_record_verb_argp, SXS_VERBS_UNLISTED},
    {"attach", "record in a running process, with the tools of --tool", sxs_cmd_record, NULL,
     sxs_record_verb_argp, SXS_VERBS_UNLISTED},
    {"start", "begin a session that goes on in a running process", sxs_cmd_record, NULL,
     sxs_record_verb_argp, SXS_VERBS_UNLISTED},
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
    return verb->argp || !verb->make ? verb->argp : verb->make(verb->name);
}

const char *sxs_verb_similar(const char *name)
{
    const char *names[64];
    size_t      n = 0;
    for (size_t i = 0; i < sxs_n_verbs && n < sizeof(names) / sizeof(names[0]); i++)
        names[n++] = sxs_verbs[i].name;
    return sxs_similar(name, names, n);
}

int sxs_verb_run(const struct sxs_verb *verb, int argc, char **argv)
{
    static char name[32]; /* static, because argp keeps the pointer until the process ends */
    snprintf(name, sizeof(name), "sxsprof %s", verb->name);
    argv[0] = name;
    return verb->run(argc, argv);
}
