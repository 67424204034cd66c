/* SPDX-License-Identifier: MIT */
#include "cmd/output/opened.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/output/must.h"
#include "session/read/samples_read.h"

/* ---- what a folder has ------------------------------------------------------------------------ */

static const struct sxs_session_process *process_of(const struct sxs_opened      *v,
                                                    const struct sxs_opened_part *part)
{
    size_t n = v->session.n_processes;
    return part->process < n ? &v->session.processes[part->process]
                             : &v->session.unread[part->process - n];
}

static int open_folder(const struct sxs_opened *v, const char *folder)
{
    int fd = openat(v->fd, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/* Returns which files the folder @fd has. */
static uint32_t list_files(int fd)
{
    uint32_t files = 0;
    int      copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    DIR     *d = copy < 0 ? NULL : fdopendir(copy);
    if (!d && copy >= 0)
        close(copy);
    for (struct dirent *e; d && (e = readdir(d));)
        files |= sxs_session_file_bit(e->d_name);
    if (d)
        closedir(d);
    return files;
}

/* Tells of a kind of file that sessions have. Others may be there, although they were not listed. */
static bool lacks_file(const struct sxs_kept_files *kept, const char *name)
{
    uint32_t bit = sxs_session_file_bit(name);
    return bit && !(kept->present & bit);
}

static void note_costs(const struct sxs_samples_header *h, struct sxs_recorded *r)
{
    for (unsigned kind = 1; kind < SXS_N_COST_KINDS; kind++)
        if (sxs_costs_on(h, (enum sxs_cost_kind)kind)) {
            r->costs |= 1u << kind;
            r->live |= h->cost_live[kind] ? 1u << kind : 0;
        }
}

static void note_samples(const struct sxs_files *files, struct sxs_recorded *r)
{
    struct sxs_samples *reader = NULL;
    char                why[256];
    int                 err = sxs_samples_open(files, &reader, why, sizeof(why));
    if (!err) {
        const struct sxs_samples_header *h = sxs_samples_head(reader);
        bool sampled = h->mode || atomic_load_explicit(&h->n_samples, memory_order_relaxed);
        r->sampled |= sampled;
        r->sampled_waiting |= sampled && h->mode == SXS_MODE_WALL;
        r->has_contexts |= h->has_contexts != 0;
        note_costs(h, r);
    } else {
        r->sampled |= err != ENOENT && err != ELOOP;
    }
    sxs_samples_close(reader);
}

/* Notes which files a folder has, and what their headers say. @counters: of its process; NULL: it has none. */
static void look_at(struct sxs_opened *v, struct sxs_opened_part *part, uint64_t *counters)
{
    struct sxs_kept_files kept = {0};
    int fd = open_folder(v, sxs_process_part_folder(process_of(v, part), part->number));
    if (fd < 0) {
        part->err = -fd;
        return;
    }
    const struct sxs_files files = {fd, &kept};
    part->files = kept.present = list_files(fd);
    kept.lacks = lacks_file;
    v->recorded.files |= part->files;
    if (part->files & sxs_session_file_bit(SXS_SAMPLES_FILE))
        note_samples(&files, &v->recorded);
    if (counters)
        sxs_missing_count(&files, counters);
    sxs_kept_files_close(&kept);
    close(fd);
}

static void look_at_all(struct sxs_opened *v)
{
    size_t n_counters;
    (void)sxs_missing_counters(&n_counters);
    v->missing = sxs_must_zeroed(v->session.n_processes + 1, n_counters * sizeof(*v->missing));
    for (size_t i = 0; i < v->session.n_processes + v->session.n_unread; i++) {
        struct sxs_opened_part at = {.process = i};
        for (size_t k = 0; k < sxs_process_n_parts(process_of(v, &at)); k++) {
            SXS_GROW(v->parts, v->n_parts, v->cap_parts);
            v->parts[v->n_parts] = (struct sxs_opened_part){.process = i, .number = k};
            look_at(v, &v->parts[v->n_parts++],
                    i < v->session.n_processes ? v->missing + i * n_counters : NULL);
        }
    }
}

/* ---- opening ---------------------------------------------------------------------------------- */

/* Finishes an opening, of which reading the session gave @err. */
static int open_rest(struct sxs_opened *v, int err)
{
    if (!err && (v->fd = open(v->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
        err = errno;
    if (!err)
        look_at_all(v);
    return err;
}

int sxs_opened_open(const char *dir, const struct sxs_period *period, struct sxs_opened *out)
{
    *out = (struct sxs_opened){.dir = dir, .fd = -1};
    return open_rest(out, sxs_session_read_joined(dir, period, &out->session, &out->segments));
}

int sxs_opened_open_one(const char *dir, struct sxs_opened *out)
{
    *out = (struct sxs_opened){.dir = dir, .fd = -1};
    return open_rest(out, sxs_session_read(dir, &out->session));
}

int sxs_opened_open_read(const char *dir, struct sxs_session *session, struct sxs_opened *out)
{
    *out = (struct sxs_opened){.dir = dir, .fd = -1, .session = *session};
    *session = (struct sxs_session){0};
    return open_rest(out, 0);
}

void sxs_opened_close(struct sxs_opened *v)
{
    if (v->dir && v->fd >= 0)
        close(v->fd);
    free(v->parts);
    free(v->missing);
    sxs_segments_free(&v->segments);
    sxs_session_free(&v->session);
    *v = (struct sxs_opened){.fd = -1};
}

bool sxs_opened_has_file(const struct sxs_opened *v, const char *name)
{
    return (v->recorded.files & sxs_session_file_bit(name)) != 0;
}

void sxs_opened_missing(const struct sxs_opened *v, const char *process, struct sxs_missing *out)
{
    sxs_missing_read(&v->session, v->missing, process, out);
}

/* ---- reading ---------------------------------------------------------------------------------- */

static bool is_reader_of(const struct sxs_opened *v, const struct sxs_opened_part *part,
                         const struct sxs_opened_reader *r)
{
    bool complete = part->process < v->session.n_processes;
    if (r->err || (!complete && !r->all))
        return false;
    return part->err ? r->all : !r->files || (r->files & part->files);
}

/* Calls the readers of a folder. */
static void read_part(const struct sxs_opened *v, const struct sxs_opened_part *at,
                      struct sxs_opened_reader *readers, size_t n)
{
    struct sxs_kept_files   kept = {.present = at->files, .lacks = lacks_file};
    struct sxs_files        files = {-1, &kept};
    struct sxs_process_part part = {.process = process_of(v, at),
                                    .number = at->number,
                                    .files = &files,
                                    .period = &v->session.period};
    bool                    any = false;
    for (size_t i = 0; i < n; i++)
        any |= is_reader_of(v, at, &readers[i]);
    if (!any)
        return;
    part.folder = sxs_process_part_folder(part.process, part.number);
    part.fd = files.fd = open_folder(v, part.folder);
    if (part.fd < 0) {
        part.err = -part.fd;
        part.fd = files.fd = -1;
    }
    for (size_t i = 0; i < n; i++)
        if (is_reader_of(v, at, &readers[i]) && (!part.err || readers[i].all))
            readers[i].err = readers[i].take(readers[i].arg, &part);
    sxs_kept_files_close(&kept);
    if (part.fd >= 0)
        close(part.fd);
}

int sxs_opened_read(const struct sxs_opened *v, const char *process,
                    struct sxs_opened_reader *readers, size_t n)
{
    for (size_t i = 0; i < v->n_parts; i++)
        if (sxs_process_wanted(process_of(v, &v->parts[i]), process))
            read_part(v, &v->parts[i], readers, n);
    for (size_t i = 0; i < n; i++)
        if (readers[i].end)
            readers[i].end(readers[i].arg);
    for (size_t i = 0; i < n; i++)
        if (readers[i].err)
            return readers[i].err;
    return 0;
}

int sxs_opened_take(const struct sxs_opened *v, const char *process, uint32_t files,
                    sxs_process_take *take, void *arg)
{
    struct sxs_opened_reader reader = {.take = take, .arg = arg, .files = files};
    return sxs_opened_read(v, process, &reader, 1);
}
