/* SPDX-License-Identifier: MIT */
#include "cmd/fleet/names.h"

#include "cmd/clickhouse/encode.h"
#include "cmd/output/must.h"

#include <string.h>

/* IDs in one statement: with 20 digits each, it stays below the server's limit of 256 KiB. */
enum { IDS_AT_ONCE = 8000 };

static int by_id(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b; /* the first member of each type that is sorted here */
    return (*x > *y) - (*x < *y);
}

static size_t sort_unique(uint64_t *ids, size_t n)
{
    size_t kept = 0;
    if (n)
        qsort(ids, n, sizeof(*ids), by_id);
    for (size_t i = 0; i < n; i++)
        if (!kept || ids[kept - 1] != ids[i])
            ids[kept++] = ids[i];
    return kept;
}

/* Takes one row of an answer. */
typedef void take_row(struct sxs_fleet_names *names, struct sxs_rows_reader *r);

/* Asks for the rows of all IDs. @select: "SELECT ... FROM ...", @key: name of the IDs' column. */
static int ask(struct sxs_fleet_names *names, struct sxs_fleet_server *server, const char *select,
               const char *key, const uint64_t *ids, size_t n, take_row *take, char *why,
               size_t size)
{
    int err = 0;
    for (size_t i = 0; i < n && !err;) {
        struct sxs_fleet_answer answer;
        char                   *sql = NULL;
        size_t                  sql_size = 0;
        FILE                   *to = sxs_must(open_memstream(&sql, &sql_size));
        fprintf(to, "%s WHERE %s IN (", select, key);
        for (size_t end = n - i < IDS_AT_ONCE ? n : i + IDS_AT_ONCE, first = i; i < end; i++)
            fprintf(to, "%s%llu", i == first ? "" : ",", (unsigned long long)ids[i]);
        fputs(") FORMAT RowBinary", to);
        fclose(to);
        err = sxs_fleet_query(server, sxs_must(sql), true, &answer, why, size);
        struct sxs_rows_reader r = {(const uint8_t *)answer.bytes,
                                    (const uint8_t *)answer.bytes + answer.size, false};
        while (!err && sxs_rows_more(&r))
            take(names, &r);
        if (!err && r.failed) {
            snprintf(why, size, "the server's answer about %s is damaged", key);
            err = -1;
        }
        sxs_fleet_answer_free(&answer);
        free(sql);
    }
    return err;
}

static char *get_text(struct sxs_rows_reader *r)
{
    size_t      size;
    const char *text = sxs_rows_get_text(r, &size);
    return sxs_must(strndup(text, size));
}

static void take_stack(struct sxs_fleet_names *names, struct sxs_rows_reader *r)
{
    struct sxs_fleet_stack s = {.id = sxs_rows_get_u64(r)};
    s.thread = get_text(r);
    s.root = sxs_rows_get_u8(r);
    s.first = (uint32_t)names->n_ids;
    s.n = (uint32_t)sxs_rows_get_count(r, 8);
    for (uint32_t i = 0; i < s.n; i++) {
        SXS_GROW(names->ids, names->n_ids, names->cap_ids);
        names->ids[names->n_ids++] = sxs_rows_get_u64(r);
    }
    SXS_GROW(names->stacks, names->n_stacks, names->cap_stacks);
    names->stacks[names->n_stacks++] = s;
}

static void take_frame(struct sxs_fleet_names *names, struct sxs_rows_reader *r)
{
    struct sxs_fleet_frame f = {.id = sxs_rows_get_u64(r)};
    f.name = get_text(r);
    f.file = get_text(r);
    f.runtime = get_text(r);
    f.flags = sxs_rows_get_u16(r);
    SXS_GROW(names->frames, names->n_frames, names->cap_frames);
    names->frames[names->n_frames++] = f;
}

int sxs_fleet_names_stacks(struct sxs_fleet_names *names, struct sxs_fleet_server *server,
                           uint64_t *ids, size_t n, char *why, size_t size)
{
    int err = ask(names, server, "SELECT stack, thread, root, frames FROM stacks", "stack", ids,
                  sort_unique(ids, n), take_stack, why, size);
    if (names->n_stacks)
        qsort(names->stacks, names->n_stacks, sizeof(*names->stacks), by_id);
    return err;
}

int sxs_fleet_names_frames(struct sxs_fleet_names *names, struct sxs_fleet_server *server,
                           uint64_t *ids, size_t n, char *why, size_t size)
{
    int err = ask(names, server, "SELECT frame, name, file, runtime, flags FROM frames", "frame",
                  ids, sort_unique(ids, n), take_frame, why, size);
    if (names->n_frames)
        qsort(names->frames, names->n_frames, sizeof(*names->frames), by_id);
    return err;
}

const struct sxs_fleet_stack *sxs_fleet_stack(const struct sxs_fleet_names *names, uint64_t id)
{
    return names->n_stacks
               ? bsearch(&id, names->stacks, names->n_stacks, sizeof(*names->stacks), by_id)
               : NULL;
}

const struct sxs_fleet_frame *sxs_fleet_frame(const struct sxs_fleet_names *names, uint64_t id)
{
    return names->n_frames
               ? bsearch(&id, names->frames, names->n_frames, sizeof(*names->frames), by_id)
               : NULL;
}

void sxs_fleet_names_free(struct sxs_fleet_names *names)
{
    for (size_t i = 0; i < names->n_stacks; i++)
        free(names->stacks[i].thread);
    for (size_t i = 0; i < names->n_frames; i++) {
        free(names->frames[i].name);
        free(names->frames[i].file);
        free(names->frames[i].runtime);
    }
    free(names->stacks);
    free(names->ids);
    free(names->frames);
    memset(names, 0, sizeof(*names));
}

static uint32_t add_text(struct sxs_model *m, const char *text)
{
    return sxs_strings_add(&m->strings, text, strlen(text));
}

/* Returns index + 1 of the runtime of this version, added when new; 0 for "". */
static uint16_t runtime_of(struct sxs_model *m, const char *version)
{
    uint32_t text = add_text(m, version);
    if (!*version)
        return 0;
    for (size_t i = 0; i < m->n_runtimes; i++)
        if (m->runtimes[i].version == text)
            return (uint16_t)(i + 1);
    return (uint16_t)(sxs_model_runtime(m, (uint32_t)m->n_runtimes + 1, text, add_text(m, "")) + 1);
}

uint32_t sxs_fleet_model_frame(struct sxs_model *m, const struct sxs_fleet_names *names,
                               uint64_t id)
{
    const struct sxs_fleet_frame *known = sxs_fleet_frame(names, id);
    struct sxs_model_frame        f = {.name = add_text(m, known ? known->name : "?"),
                                       .file = add_text(m, known ? known->file : "[unknown]"),
                                       .flags = known ? (uint8_t)known->flags : SXS_FRAME_UNKNOWN};
    if (known && known->flags & SXS_CLICKHOUSE_MANAGED)
        f.runtime = runtime_of(m, known->runtime);
    else if (known && known->flags & SXS_CLICKHOUSE_HOME)
        f.home = runtime_of(m, known->runtime);
    return sxs_model_frame(m, &f);
}
