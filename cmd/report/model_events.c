/* SPDX-License-Identifier: MIT */
/* The processes of a model, and the records of the tools "exceptions", "events" and
 * "gc" in each. */
#include "cmd/report/model.h"

#include "cmd/output/must.h"
#include "cmd/output/processes.h"
#include "cmd/output/shown.h"
#include "session/read/collection_spans.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

static uint32_t add_text(struct sxs_model *m, const char *text)
{
    return sxs_strings_add(&m->strings, text, strlen(text));
}

bool sxs_thread_wanted(const struct sxs_report_options *o, uint32_t tid, const char *name)
{
    char id[16];
    snprintf(id, sizeof(id), "%u", tid);
    return !o->thread || strcmp(id, o->thread) == 0 || fnmatch(o->thread, name, 0) == 0;
}

bool sxs_model_thread_wanted(const struct sxs_report_options *o, const struct sxs_model *m,
                             uint32_t thread)
{
    const struct sxs_model_thread *t = &m->threads[thread];
    return sxs_thread_wanted(o, t->tid, sxs_model_text(m, t->name)) ||
           (t->kernel[0] && sxs_thread_wanted(o, t->tid, t->kernel));
}

void sxs_model_name_thread(struct sxs_model *m, uint32_t thread)
{
    struct sxs_model_thread *t = &m->threads[thread];
    if (t->process >= m->n_processes)
        return;
    const struct sxs_model_process *p = &m->processes[t->process];
    const struct sxs_thread_known   known = {.tid = t->tid,
                                             .kernel = t->kernel,
                                             .kernel_ns = t->kernel_ns,
                                             .from_ns = t->started_ns,
                                             .to_ns = t->ended_ns};
    t->name = add_text(m, sxs_thread_name_pick(&p->thread_names, p->pid, &known));
}

void sxs_model_name_threads(struct sxs_model *m, uint32_t process)
{
    for (size_t i = 0; i < m->n_threads; i++)
        if (m->threads[i].process == process)
            sxs_model_name_thread(m, (uint32_t)i);
}

void sxs_model_read_names(struct sxs_model *m, uint32_t process,
                          const struct sxs_process_part *part)
{
    struct sxs_model_process *p = &m->processes[process];
    if (part->number < p->n_named_parts)
        return;
    p->n_named_parts = part->number + 1;
    if (sxs_thread_names_read(part->files, &p->thread_names) != 0)
        sxs_must(NULL);
    if (p->thread_names.lost)
        sxs_model_problem(m, "%s/" SXS_THREAD_NAMES_FILE ": %llu names of threads found no room",
                          part->folder, (unsigned long long)p->thread_names.lost);
    sxs_model_name_threads(m, process);
}

struct sxs_model_process *sxs_model_process(struct sxs_model                 *m,
                                            const struct sxs_session_process *census)
{
    for (size_t i = m->n_processes; i-- > 0;)
        if (strcmp(m->processes[i].folder, census->folder) == 0)
            return &m->processes[i];
    SXS_GROW(m->processes, m->n_processes, m->cap_processes);
    struct sxs_model_process *p = &m->processes[m->n_processes++];
    memset(p, 0, sizeof(*p));
    p->folder = sxs_must(strdup(census->folder));
    p->pid = census->pid;
    p->runtimes = sxs_must_zeroed(census->n_runtimes, sizeof(*p->runtimes));
    p->n_runtimes = census->n_runtimes;
    for (size_t i = 0; i < census->n_runtimes; i++) {
        const struct sxs_session_runtime *r = &census->runtimes[i];
        p->runtimes[i] = (struct sxs_model_census){r->number, add_text(m, r->version),
                                                   add_text(m, r->path)};
    }
    return p;
}

/* Returns 0, or ENOMEM: then @events is freed. */
static int keep_events(struct sxs_model_process *p, struct sxs_events_data *events, bool first)
{
    if (!first && p->events)
        return sxs_events_join(p->events, events);
    sxs_events_free(p->events);
    p->events = events;
    return 0;
}

void sxs_model_events(struct sxs_model *m, const char *dir, const struct sxs_process_part *part)
{
    struct sxs_events_data *events = NULL;
    char                    why[256];
    int                     err = sxs_events_read(part->files, &events, why, sizeof(why));
    if (err && err != ENOENT) /* ENOENT is no problem: the tools were off */
        sxs_model_problem(m, "%s/%s/" SXS_EVENTS_FILE ": %s", sxs_shown(dir), part->folder, why);
    if (err)
        return;
    for (size_t i = 0; i < events->n_problems; i++)
        sxs_model_problem(m, "%s/%s/" SXS_EVENTS_FILE ": %s", sxs_shown(dir), part->folder,
                          events->problems[i]);
    sxs_events_cut(events, part->period);
    if (sxs_events_show_collections(events) != 0)
        sxs_model_problem(m, "%s/%s/" SXS_EVENTS_FILE ": out of memory", sxs_shown(dir),
                          part->folder);
    struct sxs_model_process *p = sxs_model_process(m, part->process);
    sxs_model_read_names(m, (uint32_t)(p - m->processes), part);
    if (!p->head.command[0]) {
        memcpy(p->head.command, events->head.command, sizeof(p->head.command));
        sxs_strings_clean(p->head.command, strlen(p->head.command));
    }
    if (keep_events(p, events, part->number == 0) != 0)
        sxs_model_problem(m, "%s/%s/" SXS_EVENTS_FILE ": out of memory", sxs_shown(dir),
                          part->folder);
}

void sxs_model_events_end(struct sxs_model *m)
{
    for (size_t i = 0; i < m->n_processes; i++)
        if (m->processes[i].events)
            sxs_events_joined(m->processes[i].events);
}

struct taking {
    struct sxs_model *m;
    const char       *dir;
};

static int take_process(void *arg, const struct sxs_process_part *part)
{
    const struct taking *t = arg;
    sxs_model_events(t->m, t->dir, part);
    return 0;
}

void sxs_model_all_events(struct sxs_model *m, const struct sxs_opened *v,
                          const struct sxs_report_options *o)
{
    struct taking t = {m, v->dir};
    sxs_opened_take(v, o->process, sxs_session_file_bit(SXS_EVENTS_FILE), take_process, &t);
    sxs_model_events_end(m);
}
