/* SPDX-License-Identifier: MIT */
#include "session/read/guests_read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/read.h"
#include "session/read/file_read.h"

#define note(d, ...) sxs_lines_add(&(d)->problems, &(d)->n_problems, __VA_ARGS__)

static uint64_t get64(const _Atomic uint64_t *v)
{
    return atomic_load_explicit(v, memory_order_relaxed);
}

static uint32_t get32(const _Atomic uint32_t *v)
{
    return atomic_load_explicit(v, memory_order_relaxed);
}

/* Copies a text of the file, which may lack its zero. */
static void take_text(struct sxs_guests_data *d, size_t row, const char *what, char *to,
                      const char *from, size_t size)
{
    size_t len = strnlen(from, size);
    if (len == size) {
        note(d, "the %s in row %zu has no end: cut", what, row + 1);
        len = size - 1;
    }
    memcpy(to, from, len);
    to[len] = '\0';
}

/* Returns the state that reports show. */
static uint32_t shown_state(uint32_t state)
{
    return state == SXS_GUEST_STARTING ? SXS_GUEST_FAILED
           : state == SXS_GUEST_ENDED  ? SXS_GUEST_ACTIVE
                                       : state;
}

static void take_row(struct sxs_guests_data *d, size_t index, const struct sxs_guest_row *row)
{
    uint32_t               state = atomic_load_explicit(&row->state, memory_order_acquire);
    struct sxs_guest_read *g = &d->guests[d->n];
    if (state == SXS_GUEST_NONE) /* the row was just being filled */
        return;
    if (state > SXS_GUEST_ENDED) {
        note(d, "row %zu left out: state %u is not one of 1 to %u", index + 1, state,
             (unsigned)SXS_GUEST_ENDED);
        return;
    }
    d->n++;
    g->runtime = row->runtime;
    g->state = shown_state(state);
    g->callbacks = get64(&row->callbacks);
    g->failures = get64(&row->failures);
    g->ns = get64(&row->ns);
    g->info_calls = get64(&row->info_calls);
    g->info_refused = get64(&row->info_refused);
    g->low = get32(&row->low);
    g->high = get32(&row->high);
    g->result = get32(&row->result);
    g->callback_version = row->callback_version;
    g->priority = row->priority;
    g->start_took_ns = get64(&row->start_took_ns);
    take_text(d, index, "class ID", g->clsid, row->clsid, sizeof(g->clsid));
    take_text(d, index, "path", g->path, row->path, sizeof(g->path));
    take_text(d, index, "reason", g->why, row->why, sizeof(g->why));
    if (state == SXS_GUEST_STARTING && !g->why[0])
        snprintf(g->why, sizeof(g->why),
                 "it was still starting when the process ended or was read");
}

/* Returns 0 when the header has the format that this reader knows; else -1 after writing to @why. */
static int check_header(const struct sxs_guests *f, size_t size, char *why, size_t why_size)
{
    if (size < offsetof(struct sxs_guests, rows))
        snprintf(why, why_size, "cut: %zu bytes, a header has %zu", size,
                 offsetof(struct sxs_guests, rows));
    else if (memcmp(f->magic, SXS_GUESTS_MAGIC, sizeof(f->magic)) != 0)
        snprintf(why, why_size,
                 "not a file of guests: it does not begin with \"" SXS_GUESTS_MAGIC "\"");
    else if (f->version != SXS_GUESTS_VERSION)
        snprintf(why, why_size, "format version %u, this command reads version %u", f->version,
                 SXS_GUESTS_VERSION);
    else if (f->size != sizeof(*f) || f->row_size != sizeof(f->rows[0]))
        snprintf(why, why_size,
                 "says it has %u bytes in rows of %u, version %u has %zu in rows of %zu", f->size,
                 f->row_size, SXS_GUESTS_VERSION, sizeof(*f), sizeof(f->rows[0]));
    else
        return 0;
    return -1;
}

/* Returns the number of rows to read: those in use, but not more than the format has and not more
 * than lie in the @size bytes of the file. */
static size_t usable_rows(struct sxs_guests_data *d, const struct sxs_guests *f, size_t size)
{
    size_t rows = atomic_load_explicit(&f->n_rows, memory_order_acquire);
    size_t whole = (size - offsetof(struct sxs_guests, rows)) / sizeof(f->rows[0]);
    if (rows > SXS_GUESTS_ROWS) {
        note(d, "says %zu rows, at most %u can be", rows, SXS_GUESTS_ROWS);
        rows = SXS_GUESTS_ROWS;
    }
    if (whole >= rows)
        return rows;
    note(d, "cut: %zu of %zu rows are whole", whole, rows);
    return whole;
}

static int by_runtime(const void *a, const void *b)
{
    const struct sxs_guest_read *x = a, *y = b;
    return (x->runtime > y->runtime) - (x->runtime < y->runtime);
}

/* Sorts by runtime; glibc's qsort() may change the order of equal elements, and this does not. */
static void sort_guests(struct sxs_guests_data *d)
{
    for (size_t i = 1; i < d->n; i++) {
        struct sxs_guest_read moved = d->guests[i];
        size_t                at = i;
        for (; at > 0 && by_runtime(&d->guests[at - 1], &moved) > 0; at--)
            d->guests[at] = d->guests[at - 1];
        d->guests[at] = moved;
    }
}

static int take_file(struct sxs_guests_data *d, const struct sxs_guests *f, size_t size, char *why,
                     size_t why_size)
{
    size_t rows;
    if (check_header(f, size, why, why_size) != 0)
        return EINVAL;
    rows = usable_rows(d, f, size);
    d->guests = calloc(rows ? rows : 1, sizeof(*d->guests));
    if (!d->guests)
        return ENOMEM;
    d->n_unlisted = get32(&f->n_unlisted);
    d->has_children = get32(&f->has_children) != 0;
    for (size_t i = 0; i < rows; i++)
        take_row(d, i, &f->rows[i]);
    sort_guests(d);
    return 0;
}

/* The file is copied, not mapped, because a mapped file that shrinks would end this process by
 * SIGBUS. */
int sxs_guests_read(const struct sxs_files *folder, struct sxs_guests_data **out, char *why,
                    size_t why_size)
{
    uint64_t                size;
    struct sxs_guests      *f = NULL;
    struct sxs_guests_data *d = NULL;
    ssize_t                 got;
    int                     err, fd = sxs_file_open(folder, SXS_GUESTS_FILE, &size, why, why_size);
    *out = NULL;
    if (fd < 0)
        return -fd;
    f = calloc(1, sizeof(*f));
    d = calloc(1, sizeof(*d));
    got = f && d ? sxs_read_up_to(fd, f, sizeof(*f)) : 0;
    err = !f || !d ? ENOMEM : got < 0 ? errno : 0;
    close(fd);
    if (err)
        snprintf(why, why_size, "%s", strerror(err));
    else
        err = take_file(d, f, (size_t)got, why, why_size);
    free(f);
    if (err) {
        sxs_guests_free(d);
        return err;
    }
    *out = d;
    return 0;
}

void sxs_guests_free(struct sxs_guests_data *d)
{
    if (!d)
        return;
    free(d->guests);
    sxs_lines_free(d->problems, d->n_problems);
    free(d);
}
