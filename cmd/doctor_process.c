/* SPDX-License-Identifier: MIT */
/* Examines a running process: lists what a recording would record, what it would not, and the reasons. Makes the
 * same checks as a recording with -p makes before it begins. Nothing in the process is changed. */
#include "cmd/attach/target.h"
#include "cmd/command.h"
#include "cmd/doctor.h"
#include "cmd/named_processes.h"
#include "cmd/output/text.h"
#include "cmd/processes/deadline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* All tools that a process that runs can be asked for. */
#define TOOLS "sample;wait;alloc;locks;exceptions;events;gc;heap;calls;native;instrument"

/* A process can keep a reader of its /proc waiting in the kernel. Then SIGALRM ends the reader. */
enum { LIMIT_S = 15 };

/* Prints the lines of @text, "sxsprof: PID: ...", without what is before the last part. */
static void put_lines(char *text, pid_t pid)
{
    char before[40], *save = NULL;
    int  len = snprintf(before, sizeof(before), "sxsprof: %d: ", (int)pid);
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        sxs_found_note("%s", strncmp(line, before, (size_t)len) == 0 ? line + len : line);
}

static void put_tools(struct sxs_findings *f, const struct sxs_target *t,
                      const struct sxs_target_request *request)
{
    char  *text = NULL;
    size_t size = 0;
    FILE  *to = open_memstream(&text, &size);
    if (!to)
        return;
    unsigned n = sxs_target_explain(t, request, to);
    fclose(to);
    if (n)
        sxs_found_ok("sxsprof WHAT -p %d records with %u of the tools", (int)t->p.pid, n);
    else
        sxs_found_problem(f, "no tool can record in it");
    if (text)
        put_lines(text, t->p.pid);
    free(text);
}

static void put_runtimes(const struct sxs_target *t)
{
    for (size_t i = 0; i < t->n_runtimes; i++) {
        const struct sxs_target_runtime *r = &t->runtimes[i];
        char                             version[64];
        sxs_text_clean(r->version, version, sizeof(version));
        if (r->live)
            sxs_found_ok("runtime %s has the profiler's library", version);
        else if (r->reached >= 0)
            sxs_found_ok("runtime %s answers on its diagnostics port", version);
        else
            sxs_found_note("runtime %s: no diagnostics port answers for it", version);
    }
}

void sxs_doctor_process(struct sxs_findings *f, const struct sxs_library *lib, pid_t pid)
{
    static struct sxs_target     t;
    const struct sxs_target_request request = {.tools = TOOLS, .library = lib->profiler};
    char                         why[SXS_TARGET_WHY], title[160], name[64] = "?";
    alarm(LIMIT_S);
    sxs_deadline_begin(SXS_TARGET_READ_MS);
    int status = sxs_target_read(&t, pid, why);
    if (!status) {
        sxs_text_clean(t.p.name, name, sizeof(name));
        sxs_deadline_begin(SXS_TARGET_MS);
        status = sxs_target_check(&t, &request, why);
    }
    snprintf(title, sizeof(title), "Process %d (%s):", (int)pid, name);
    sxs_found_title(title);
    if (status) {
        sxs_found_problem(f, "%s", why);
    } else {
        put_runtimes(&t);
        put_tools(f, &t, &request);
    }
    sxs_target_close(&t);
    alarm(0);
}
