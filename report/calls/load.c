/* SPDX-License-Identifier: MIT */
#include "report/calls/calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/file_read.h"
#include "report/processes.h"

static void add_problem(struct sxs_calls_report *r, const char *folder, const char *text)
{
    sxs_lines_add(&r->problems, &r->n_problems, "%s/" SXS_CALLS_FILE ": %s", folder, text);
}

static int load_process(void *to, const struct sxs_session_process *p, int folder_fd)
{
    struct sxs_calls_report  *r = to;
    struct sxs_calls_process *more;
    struct sxs_calls         *calls = NULL;
    char                      why[256];
    int                       err = sxs_calls_read(folder_fd, &calls, why, sizeof(why));
    if (err && err != ENOENT) /* without the file nothing was counted, which is no trouble */
        add_problem(r, p->folder, why);
    if (err)
        return err == ENOMEM ? err : 0;
    for (size_t i = 0; i < calls->n_problems; i++)
        add_problem(r, p->folder, calls->problems[i]);
    more = realloc(r->processes, (r->n + 1) * sizeof(*more));
    if (!more) {
        sxs_calls_free(calls);
        return ENOMEM;
    }
    r->processes = more;
    more[r->n++] = (struct sxs_calls_process){p, calls};
    return 0;
}

int sxs_calls_report_load(const char *dir, const struct sxs_session *session, const char *process,
                          struct sxs_calls_report *out)
{
    memset(out, 0, sizeof(*out));
    return sxs_processes_take(dir, session, process, load_process, out);
}

void sxs_calls_report_free(struct sxs_calls_report *r)
{
    for (size_t i = 0; i < r->n; i++)
        sxs_calls_free(r->processes[i].calls);
    sxs_lines_free(r->problems, r->n_problems);
    free(r->processes);
    memset(r, 0, sizeof(*r));
}

const char *sxs_calls_plain_name(const char *name, char *buf, size_t size)
{
    snprintf(buf, size, "%.*s", (int)strcspn(name, "("), name);
    return buf;
}
