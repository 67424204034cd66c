/* SPDX-License-Identifier: MIT */
#include "report/instrument/instrument.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/file_read.h"
#include "report/processes.h"

static void add_problem(struct sxs_instrument_report *r, const char *folder, const char *text)
{
    sxs_lines_add(&r->problems, &r->n_problems, "%s/" SXS_INSTRUMENT_FILE ": %s", folder, text);
}

static int load_process(void *to, const struct sxs_session_process *p, int folder_fd)
{
    struct sxs_instrument_report  *r = to;
    struct sxs_instrument_process *more;
    struct sxs_instrument_data    *data = NULL;
    char                           why[256];
    int                            err = sxs_instrument_read(folder_fd, &data, why, sizeof(why));
    if (err && err != ENOENT) /* without the file the tools were off, which is no trouble */
        add_problem(r, p->folder, why);
    if (err)
        return err == ENOMEM ? err : 0;
    for (size_t i = 0; i < data->n_problems; i++)
        add_problem(r, p->folder, data->problems[i]);
    more = realloc(r->processes, (r->n + 1) * sizeof(*more));
    if (!more) {
        sxs_instrument_free(data);
        return ENOMEM;
    }
    r->processes = more;
    more[r->n++] = (struct sxs_instrument_process){p, data};
    return 0;
}

int sxs_instrument_report_load(const char *dir, const struct sxs_session *session,
                               const char *process, struct sxs_instrument_report *out)
{
    memset(out, 0, sizeof(*out));
    return sxs_processes_take(dir, session, process, load_process, out);
}

void sxs_instrument_report_free(struct sxs_instrument_report *r)
{
    for (size_t i = 0; i < r->n; i++)
        sxs_instrument_free(r->processes[i].data);
    sxs_lines_free(r->problems, r->n_problems);
    free(r->processes);
    memset(r, 0, sizeof(*r));
}
