/* SPDX-License-Identifier: MIT */
#include "report/events/events.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void add_problem(struct sxs_events_report *r, const char *folder, const char *text)
{
    char **more = realloc(r->problems, (r->n_problems + 1) * sizeof(*more));
    if (!more)
        return;
    r->problems = more;
    if (asprintf(&more[r->n_problems], "%s/" SXS_EVENTS_FILE ": %s", folder, text) >= 0)
        r->n_problems++;
}

static int load_process(struct sxs_events_report *r, int dir_fd,
                        const struct sxs_session_process *p)
{
    char                    why[256];
    struct sxs_events_data *data = NULL;
    int fd = openat(dir_fd, p->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), err;
    if (fd < 0)
        return 0; /* the session's own reader has said so */
    err = sxs_events_read(fd, &data, why, sizeof(why));
    close(fd);
    if (err) {
        if (err != ENOENT) /* without the file the tools were off, which is no trouble */
            add_problem(r, p->folder, why);
        return err == ENOMEM ? err : 0;
    }
    for (size_t i = 0; i < data->n_problems; i++)
        add_problem(r, p->folder, data->problems[i]);
    struct sxs_events_process *more = realloc(r->processes, (r->n + 1) * sizeof(*more));
    if (!more) {
        sxs_events_free(data);
        return ENOMEM;
    }
    r->processes = more;
    more[r->n++] = (struct sxs_events_process){p, data};
    return 0;
}

static bool is_wanted(const struct sxs_session_process *p, const char *process)
{
    char pid[16];
    snprintf(pid, sizeof(pid), "%u", p->pid);
    return !process || strcmp(process, p->folder) == 0 || strcmp(process, pid) == 0;
}

int sxs_events_report_load(const char *dir, const struct sxs_session *session,
                           const char *process, struct sxs_events_report *out)
{
    int err = 0, fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    memset(out, 0, sizeof(*out));
    if (fd < 0)
        return errno;
    for (size_t i = 0; i < session->n_processes && !err; i++)
        if (is_wanted(&session->processes[i], process))
            err = load_process(out, fd, &session->processes[i]);
    close(fd);
    return err;
}

void sxs_events_report_free(struct sxs_events_report *r)
{
    for (size_t i = 0; i < r->n; i++)
        sxs_events_free(r->processes[i].data);
    for (size_t i = 0; i < r->n_problems; i++)
        free(r->problems[i]);
    free(r->processes);
    free(r->problems);
    memset(r, 0, sizeof(*r));
}

const char *sxs_events_version(const struct sxs_events_process *p, uint32_t number)
{
    for (size_t i = 0; i < p->process->n_runtimes; i++)
        if (p->process->runtimes[i].number == number)
            return p->process->runtimes[i].version;
    return "?";
}

const char *sxs_events_tier(uint8_t tier)
{
    static const char *const texts[] = {"",    "tier 0", "tier 1",  "OSR",
                                        "R2R", "stub",   "dynamic", "optimized"};
    return tier < sizeof(texts) / sizeof(texts[0]) ? texts[tier] : "";
}

const char *sxs_events_reason(uint32_t reason)
{
    static const char *const texts[] = {
        "other", "garbage collection", "application domain shutdown", "code pitching", "shutdown",
        "unknown", "debugger", "background garbage collection", "ReJIT", "profiler"};
    return reason < sizeof(texts) / sizeof(texts[0]) ? texts[reason] : "unknown";
}
