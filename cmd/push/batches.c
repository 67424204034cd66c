/* SPDX-License-Identifier: MIT */
#include "cmd/push/batches.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cmd/costs/costs.h"
#include "cmd/output/must.h"
#include "cmd/output/print.h"
#include "cmd/output/strings.h"
#include "cmd/processes/written.h"
#include "cmd/report/costs.h"
#include "cmd/report/data_kind.h"
#include "cmd/report/slices.h"
#include "session/read/samples_read.h"

const enum sxs_data sxs_push_data[] = {SXS_DATA_SAMPLES,     SXS_DATA_ALLOC, SXS_DATA_NATIVE,
                                       SXS_DATA_LOCKS,       SXS_DATA_WAIT,  SXS_DATA_LIVE,
                                       SXS_DATA_NATIVE_LIVE, SXS_DATA_ANY};
enum { MAX_MODELS = 7 };

struct loaded {
    struct sxs_model  models[MAX_MODELS];
    struct sxs_slices slices[MAX_MODELS];
    size_t            n;
};

/* Reads the header of the process's samples. Returns false when there are none that can be read. */
static bool read_head(const char *dir, const struct sxs_session_process *process,
                      struct sxs_samples_header *out)
{
    struct sxs_samples *reader = NULL;
    char                path[4400], why[256];
    snprintf(path, sizeof(path), "%s/%s", dir, process->folder);
    int  fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool found = fd >= 0 && sxs_samples_open(SXS_FILES_OF(fd), &reader, why, sizeof(why)) == 0;
    if (found)
        memcpy(out, sxs_samples_head(reader), sizeof(*out));
    sxs_samples_close(reader);
    if (fd >= 0)
        close(fd);
    return found;
}

struct sxs_push_clock sxs_push_clock_of(const char *dir, const struct sxs_session_process *process)
{
    struct sxs_samples_header head;
    struct sxs_push_clock     clock = {0};
    if (!read_head(dir, process, &head))
        return clock;
    clock.began_ns = head.started_realtime_ns;
    clock.ended = atomic_load_explicit(&head.ended_ns, memory_order_relaxed) != 0 ||
                  sxs_session_written(dir, process) == SXS_WRITTEN_NO;
    return clock;
}

static bool has_data(const struct sxs_samples_header *head, enum sxs_data data)
{
    const struct sxs_data_kind *kind = sxs_data_kind(data);
    if (data == SXS_DATA_WAIT && head->mode != SXS_MODE_WALL)
        return false;
    return kind->cost
               ? sxs_costs_on(head, kind->cost) && (!kind->live || head->cost_live[kind->cost])
               : head->mode || atomic_load_explicit(&head->n_samples, memory_order_relaxed);
}

static bool was_reported(const struct loaded *l, size_t n, const char *line)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < l->models[i].n_problems; k++)
            if (strcmp(l->models[i].problems[k], line) == 0)
                return true;
    return false;
}

static void tell_problems(const struct loaded *l, size_t number, bool quiet, bool *damaged)
{
    const struct sxs_model *m = &l->models[number];
    *damaged |= m->n_damage != 0;
    for (size_t i = 0; i < m->n_problems && !quiet; i++)
        if (!was_reported(l, number, m->problems[i]))
            sxs_print_to(stderr, "sxsprof: %s\n", m->problems[i]);
}

/* Loads all @n kinds of data in one go. What is alive is a state, of the present: it has no slices. */
static void load(const struct sxs_push_cut *cut, const struct sxs_session_process *process,
                 const struct sxs_push_span *span, const enum sxs_data *data, size_t n,
                 struct loaded *l, bool *damaged)
{
    struct sxs_report_options o[MAX_MODELS];
    struct sxs_model_loading *loadings[MAX_MODELS];
    struct sxs_opened_reader  readers[MAX_MODELS];
    for (size_t i = 0; i < n; i++) {
        l->slices[i] = (struct sxs_slices){
            .width_ns = cut->width_ns, .from_ns = span->from_ns, .to_ns = span->to_ns};
        o[i] = (struct sxs_report_options){.process = process->folder,
                                           .symbols = cut->symbols,
                                           .slices =
                                               sxs_data_kind(data[i])->live ? NULL : &l->slices[i]};
        loadings[i] =
            sxs_model_loading_new(cut->session, &o[i], data[i], SXS_DETAIL_LINES, &l->models[i]);
        readers[i] = sxs_model_loading_reader(loadings[i]);
    }
    (void)sxs_opened_read(cut->session, process->folder, readers, n);
    for (size_t i = 0; i < n; i++)
        sxs_model_loading_end(loadings[i]);
    for (size_t i = 0; i < n; i++) {
        struct sxs_model *m = &l->models[i];
        tell_problems(l, i, cut->quiet, damaged);
        if (m->costs && o[i].slices)
            m->costs->live_known = false; /* what a later minute frees is not known in this one */
        sxs_slices_begin(&l->slices[i]);
    }
    l->n = n;
    for (size_t i = 0; i < l->n; i++) {
        if (data[i] != SXS_DATA_WAIT || l->models[i].has_reasons)
            continue; /* else nobody asked what threads wait for */
        sxs_slices_free(&l->slices[i]);
        sxs_model_free(&l->models[i]);
        l->n--;
        memmove(&l->slices[i], &l->slices[i + 1], (l->n - i) * sizeof(l->slices[0]));
        memmove(&l->models[i], &l->models[i + 1], (l->n - i) * sizeof(l->models[0]));
        break;
    }
}

static uint64_t first_slice(const struct loaded *l)
{
    uint64_t first = UINT64_MAX;
    for (size_t i = 0; i < l->n; i++) {
        uint64_t slice = sxs_slices_first(&l->slices[i]);
        first = slice < first ? slice : first;
    }
    return first;
}

/* The end of the last batch of a process that is not recorded any longer: the end of its last
 * record. */
static uint64_t end_of(const struct loaded *l)
{
    uint64_t end = 0;
    for (size_t i = 0; i < l->n; i++) {
        const struct sxs_model *m = &l->models[i];
        if (!m->n_processes || !m->last_ns)
            continue;
        const struct sxs_samples_header *h = &m->processes[0].head;
        uint64_t at = h->started_realtime_ns + (m->last_ns - h->started_ns) + 1;
        end = at > end ? at : end;
    }
    return end;
}

/* The same data give the same id; the format has no part in it, because no receiver gets two. */
static void set_id(const struct sxs_push_cut *cut, const struct sxs_push_settings *settings,
                   struct sxs_push_batch *b)
{
    uint64_t hash[2] = {11, 12};
    for (size_t i = 0; i < 2; i++) {
        const uint64_t numbers[5] = {b->process->pid, b->process->started_ns, b->from_ns, b->to_ns,
                                     cut->data};
        hash[i] = sxs_hash_bytes(numbers, sizeof(numbers), hash[i]);
        hash[i] = sxs_hash_bytes(settings->machine, strlen(settings->machine), hash[i]);
        hash[i] = sxs_hash_bytes(b->service, strlen(b->service), hash[i]);
        hash[i] = sxs_hash_bytes(b->session, strlen(b->session), hash[i]);
        hash[i] |= 1;
    }
    memcpy(b->id, hash, sizeof(b->id));
}

static int take_slice(const struct sxs_push_cut *cut, const struct sxs_push_settings *settings,
                      struct loaded *l, struct sxs_push_batch *b, sxs_push_take *take, void *arg,
                      const struct sxs_push_span *span)
{
    const struct sxs_model *models[MAX_MODELS];
    uint64_t                slice = first_slice(l), end = span->to_ns ? span->to_ns : end_of(l);
    if (slice == UINT64_MAX) /* only a state, of the end */
        slice = cut->width_ns ? (end - 1) / cut->width_ns : 0;
    b->n_models = 0;
    for (size_t i = 0; i < l->n; i++)
        if (!sxs_data_kind(l->models[i].data)->live &&
            sxs_slices_apply(&l->slices[i], slice, &l->models[i]))
            models[b->n_models++] = &l->models[i];
    bool last = first_slice(l) == UINT64_MAX;
    for (size_t i = 0; i < l->n; i++)
        if (last && sxs_data_kind(l->models[i].data)->live)
            models[b->n_models++] = &l->models[i];
    b->models = models;
    b->from_ns = slice * cut->width_ns > span->from_ns ? slice * cut->width_ns : span->from_ns;
    b->to_ns = (slice + 1) * cut->width_ns < end ? (slice + 1) * cut->width_ns : end;
    set_id(cut, settings, b);
    int result = take(arg, b, b->to_ns);
    b->models = NULL;
    return result;
}

/* Returns true when the batch has nothing but objects that are alive, and these were not pushed before. */
static bool has_only_live(const struct loaded *l, const struct sxs_push_span *span)
{
    bool     any = false;
    uint64_t end = span->to_ns ? span->to_ns : end_of(l);
    for (size_t i = 0; i < l->n; i++)
        any |= sxs_data_kind(l->models[i].data)->live && l->models[i].total;
    return any && end > span->from_ns && first_slice(l) == UINT64_MAX;
}

int sxs_push_cut(const struct sxs_push_cut *cut, const struct sxs_push_settings *settings,
                 const struct sxs_session_process *process, const struct sxs_push_span *span,
                 sxs_push_take *take, void *arg, bool *damaged)
{
    struct sxs_samples_header head;
    struct loaded            *l = sxs_must_zeroed(1, sizeof(*l));
    char                      service[256];
    struct sxs_push_batch     b = {.session = cut->name, .process = process};
    struct sxs_push_span      s = *span;
    uint32_t                  wanted = cut->data ? cut->data : cut->more | SXS_PUSH_COMMON_DATA;
    enum sxs_data             data[MAX_MODELS];
    size_t                    n = 0;
    int                       err = 0;
    b.service = settings->service ? settings->service
                                  : sxs_push_service_of(process->command, service, sizeof(service));
    if (read_head(cut->session->dir, process, &head)) {
        s.from_ns = s.from_ns > head.started_realtime_ns ? s.from_ns : head.started_realtime_ns;
        for (size_t i = 0; sxs_push_data[i] != SXS_DATA_ANY; i++)
            if (has_data(&head, sxs_push_data[i]) && (wanted >> sxs_push_data[i] & 1))
                data[n++] = sxs_push_data[i];
        load(cut, process, &s, data, n, l, damaged);
        if (!err && has_only_live(l, &s))
            err = take_slice(cut, settings, l, &b, take, arg, &s);
        while (!err && first_slice(l) != UINT64_MAX)
            err = take_slice(cut, settings, l, &b, take, arg, &s);
    }
    for (size_t i = 0; i < l->n; i++) {
        sxs_model_free(&l->models[i]);
        sxs_slices_free(&l->slices[i]);
    }
    free(l);
    return err;
}

/* Returns the word of a command line at @from, or after it; @size: receives its length. */
static const char *next_word(const char *from, size_t *size)
{
    from += strspn(from, " ");
    *size = strcspn(from, " ");
    return from;
}

static bool is_dotnet(const char *name, size_t size)
{
    return size == 6 && memcmp(name, "dotnet", 6) == 0;
}

const char *sxs_push_service_of(const char *command, char *buf, size_t size)
{
    size_t      len;
    const char *word = next_word(command, &len), *slash;
    while ((slash = memchr(word, '/', len)) != NULL) {
        len -= (size_t)(slash + 1 - word);
        word = slash + 1;
    }
    if (is_dotnet(word, len)) { /* its first argument that is no option, and not "exec" */
        const char *arg = word;
        size_t      n = len;
        do
            arg = next_word(arg + n, &n);
        while (n && (*arg == '-' || (n == 4 && memcmp(arg, "exec", 4) == 0)));
        while (n && (slash = memchr(arg, '/', n)) != NULL) {
            n -= (size_t)(slash + 1 - arg);
            arg = slash + 1;
        }
        if (n) {
            word = arg;
            len = n;
        }
    }
    if (len > 4 && memcmp(word + len - 4, ".dll", 4) == 0)
        len -= 4;
    snprintf(buf, size, "%.*s", (int)(len < size ? len : size - 1), word);
    sxs_strings_clean(buf, strlen(buf));
    if (!*buf)
        snprintf(buf, size, "unknown");
    return buf;
}
