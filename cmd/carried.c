/* SPDX-License-Identifier: MIT */
#include "cmd/carried.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mask.h"
#include "base/tree.h"
#include "cmd/output/print.h"
#include "session/format/calls.h"
#include "session/format/events.h"
#include "session/format/instrument.h"
#include "session/format/samples.h"
#include "session/format/traced.h"
#include "session/read/file_read.h"
#include "session/read/heap_read.h"

/* ---- which kinds of data ----------------------------------------------------------------------- */

#define KINDS(X)                                                   \
    X(STACKS, "stacks with names of methods and files")            \
    X(TYPES, "types of objects")                                   \
    X(TRACES, "ids of traces and names of endpoints")              \
    X(METHODS, "names of methods")                                 \
    X(CALLS, "single calls with arguments and results")            \
    X(RUNTIMES, "names of types, modules and threads")             \
    X(EXCEPTIONS, "exceptions with their messages")                \
    X(HEAP, "objects of the heap with values that were asked for") \
    X(COMMAND, "command lines")
enum {
#define X(name, text) KIND_##name,
    KINDS(X)
#undef X
        N_KINDS
};
static const char *const kind_texts[] = {
#define X(name, text) text,
    KINDS(X)
#undef X
};
#define BIT(kind) (1u << KIND_##kind)
#define PUSHED    (BIT(STACKS) | BIT(TYPES) | BIT(TRACES))

/* Reads the first @size bytes of a file. Returns true if it has so many. */
static bool read_head(const struct sxs_files *folder, const char *name, void *head, size_t size)
{
    struct stat st;
    int         fd = sxs_file_open_regular(folder, name, &st);
    if (fd < 0)
        return false;
    bool whole = sxs_file_read_at(fd, head, size, 0) == size;
    close(fd);
    return whole;
}

static unsigned of_samples(const struct sxs_files *folder)
{
    struct sxs_samples_header h;
    unsigned                  found = 0;
    if (!read_head(folder, SXS_SAMPLES_FILE, &h, sizeof(h)))
        return 0;
    for (unsigned kind = 1; kind < SXS_N_COST_KINDS; kind++)
        if (h.cost_interval[kind] || h.n_costs[kind])
            found |= kind == SXS_COST_NATIVE ? BIT(STACKS) : BIT(STACKS) | BIT(TYPES);
    found |= h.mode || h.n_samples ? BIT(STACKS) : 0;
    return found | (h.has_contexts ? BIT(TRACES) : 0);
}

static unsigned of_calls(const struct sxs_files *folder)
{
    struct sxs_calls_header h;
    if (!read_head(folder, SXS_CALLS_FILE, &h, sizeof(h)))
        return 0;
    return BIT(METHODS) | (h.max_blocks ? BIT(CALLS) : 0);
}

static unsigned of_events(const struct sxs_files *folder)
{
    struct sxs_events_header h;
    if (!read_head(folder, SXS_EVENTS_FILE, &h, sizeof(h)))
        return 0;
    return (h.tools & SXS_EVENTS_OF_EXCEPTIONS ? BIT(EXCEPTIONS) : 0) |
           (h.tools & SXS_EVENTS_OF_RUNTIMES ? BIT(METHODS) | BIT(RUNTIMES) : 0);
}

static unsigned of_instrument(const struct sxs_files *folder)
{
    struct sxs_instrument_header h;
    struct sxs_traced_header     traced;
    unsigned found = read_head(folder, SXS_INSTRUMENT_FILE, &h, sizeof(h)) ? BIT(METHODS) : 0;
    if (read_head(folder, SXS_TRACED_FILE, &traced, sizeof(traced)) && traced.n_chunks)
        found |= BIT(METHODS) | BIT(CALLS);
    return found;
}

static unsigned of_heap(const struct sxs_files *folder)
{
    DIR           *d = sxs_tree_list(folder->fd, ".");
    unsigned       found = 0;
    struct dirent *e;
    while (d && !found && (e = readdir(d)))
        found = sxs_heap_number_of(e->d_name) ? BIT(HEAP) : 0;
    if (d)
        closedir(d);
    return found;
}

static int look_at(void *arg, const struct sxs_process_part *part)
{
    *(unsigned *)arg |= of_samples(part->files) | of_calls(part->files) | of_events(part->files) |
                        of_instrument(part->files) | of_heap(part->files) | BIT(COMMAND);
    return 0;
}

/* ---- which values ------------------------------------------------------------------------------ */

/* What the masks of the processes have in common. */
struct masks {
    size_t n[SXS_MASK_ALL + 1]; /* processes of each */
    size_t all;
};

static struct masks masks_of(const struct sxs_session *s)
{
    struct masks m = {.all = s->n_processes};
    for (size_t i = 0; i < s->n_processes; i++)
        m.n[s->processes[i].mask > SXS_MASK_ALL ? SXS_MASK_ALL : s->processes[i].mask]++;
    return m;
}

static const char *values_text(enum sxs_mask mask)
{
    return mask == SXS_MASK_OFF    ? "all"
           : mask == SXS_MASK_TEXT ? "of texts the length only"
                                   : "none";
}

const char *sxs_carried(const struct sxs_opened *v, enum sxs_carried_by by, char *buf, size_t size)
{
    struct masks m = masks_of(&v->session);
    unsigned     found = 0;
    size_t       len = 0;
    (void)sxs_opened_take(v, NULL, 0, look_at, &found);
    if (by == SXS_CARRIED_BY_PUSH)
        found &= PUSHED;
    if (found & BIT(STACKS))
        found &= ~BIT(METHODS); /* said already */
    buf[0] = '\0';
    for (unsigned i = 0; i < N_KINDS && len < size; i++)
        if (found & 1u << i)
            len += (size_t)snprintf(buf + len, size - len, "%s%s",
                                    len ? ", " : "carries: ", kind_texts[i]);
    enum sxs_mask weakest = m.n[SXS_MASK_OFF]    ? SXS_MASK_OFF
                            : m.n[SXS_MASK_TEXT] ? SXS_MASK_TEXT
                                                 : SXS_MASK_ALL;
    if (len && len < size && by == SXS_CARRIED_BY_PUSH && !(found & BIT(TRACES)))
        snprintf(buf + len, size - len, "; no values");
    else if (len && len < size && m.all)
        snprintf(buf + len, size - len, "; values: %s (SXSPROF_MASK=%s when it was recorded%s)",
                 values_text(weakest), sxs_mask_name(weakest),
                 m.n[weakest] < m.all ? ", more in some processes" : "");
    return buf;
}
