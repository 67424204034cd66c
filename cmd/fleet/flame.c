/* SPDX-License-Identifier: MIT */
#include "cmd/fleet/flame.h"

#include "cmd/fleet/names.h"
#include "cmd/fleet/rows.h"
#include "cmd/output/must.h"
#include "cmd/report/costs.h"
#include "cmd/report/data_kind.h"

#include <string.h>

/* A row that the server answers: a stack, how many samples, their weight. */
enum { STACK, COUNT, VALUE, WIDTH };

/* ---- asking ---------------------------------------------------------------------------------- */

static int ask_stacks(struct sxs_fleet_server *server, const struct sxs_fleet_selection *s,
                      size_t limit, struct sxs_fleet_rows *rows, char *why, size_t size)
{
    char  *sql = NULL;
    size_t sql_size = 0;
    FILE  *to = sxs_must(open_memstream(&sql, &sql_size));
    fputs("SELECT stack, sum(count) AS n, sum(value) AS v FROM samples WHERE ", to);
    sxs_fleet_where(to, s, false);
    fprintf(to, " GROUP BY stack WITH TOTALS ORDER BY v DESC, stack LIMIT %zu FORMAT TabSeparated",
            limit);
    fclose(to);
    int err = sxs_fleet_rows(server, sxs_must(sql), WIDTH, rows, why, size);
    free(sql);
    return err;
}

static int ask_names(struct sxs_fleet_server *server, const struct sxs_fleet_rows *rows,
                     struct sxs_fleet_names *names, char *why, size_t size)
{
    size_t    n = rows->n / WIDTH;
    uint64_t *ids = sxs_must_zeroed(n, sizeof(*ids));
    for (size_t i = 0; i < n; i++)
        ids[i] = rows->all[i * WIDTH + STACK];
    int err = sxs_fleet_names_stacks(names, server, ids, n, why, size);
    free(ids);
    if (err)
        return err;
    ids = sxs_must_zeroed(names->n_ids, sizeof(*ids));
    if (names->n_ids)
        memcpy(ids, names->ids, names->n_ids * sizeof(*ids));
    err = sxs_fleet_names_frames(names, server, ids, names->n_ids, why, size);
    free(ids);
    return err;
}

/* ---- the model ------------------------------------------------------------------------------- */

static void begin_model(struct sxs_model *m, const struct sxs_fleet_selection *s)
{
    static const enum sxs_data data[SXS_CLICKHOUSE_N_KINDS] = {
        SXS_DATA_SAMPLES, SXS_DATA_SAMPLES, SXS_DATA_SAMPLES,     SXS_DATA_ALLOC, SXS_DATA_NATIVE,
        SXS_DATA_LOCKS,   SXS_DATA_LIVE,    SXS_DATA_NATIVE_LIVE, SXS_DATA_WAIT};
    memset(m, 0, sizeof(*m));
    m->data = data[s->kind];
    m->unit = sxs_data_kind(m->data)->unit;
    sxs_strings_add(&m->strings, "", 0);
    SXS_GROW(m->processes, m->n_processes, m->cap_processes);
    m->processes[0] = (struct sxs_model_process){.folder = sxs_must(strdup("fleet"))};
    m->n_processes = 1;
    struct sxs_samples_header *h = &m->processes[0].head;
    char                      *says = NULL;
    size_t                     size = 0;
    FILE                      *to = sxs_must(open_memstream(&says, &size));
    sxs_fleet_says(to, s);
    fclose(to);
    snprintf(h->command, sizeof(h->command), "%s", (char *)sxs_must(says));
    sxs_strings_clean(h->command, strlen(h->command));
    free(says);
    h->mode = s->kind == SXS_CLICKHOUSE_WALL || s->kind == SXS_CLICKHOUSE_WAIT ? SXS_MODE_WALL
                                                                               : SXS_MODE_CPU;
    h->started_realtime_ns = (uint64_t)s->from * 1000000000u;
    if (sxs_data_is_cost(m->data)) {
        m->costs = sxs_must_zeroed(1, sizeof(*m->costs));
        m->costs->kind = sxs_data_kind(m->data)->cost;
        m->costs->n_processes = 1;
        m->costs->live = m->costs->live_known = sxs_data_kind(m->data)->live;
    }
}

/* Returns the root of the thread of this name, added when new. Its tid is its number until the model is
 * whole. */
static uint32_t root_of(struct sxs_model *m, const char *name, uint8_t root)
{
    uint32_t text = sxs_strings_add(&m->strings, name, strlen(name));
    for (size_t i = 0; i < m->n_threads; i++)
        if (m->threads[i].name == text && m->nodes[m->threads[i].root].flags == root)
            return m->threads[i].root;
    uint32_t t = sxs_model_thread(m, 0, (uint32_t)m->n_threads + 1);
    m->threads[t].name = text;
    m->nodes[m->threads[t].root].flags = root;
    return m->threads[t].root;
}

static void add_weight(struct sxs_model *m, uint32_t node, uint64_t count, uint64_t value)
{
    struct sxs_model_thread *t = &m->threads[m->nodes[node].thread];
    m->nodes[node].self += count;
    m->nodes[node].self_ns += value;
    t->samples += count;
    t->weight_ns += value;
    m->total += count;
    m->total_ns += value;
}

static uint32_t add_child(struct sxs_model *m, uint32_t parent, uint32_t frame)
{
    uint32_t child = sxs_model_child(m, parent, frame, 0, 0);
    m->merged += child == parent;
    return child;
}

/* Adds a node for a text that stands for no function. */
static uint32_t add_note(struct sxs_model *m, const char *text)
{
    struct sxs_model_frame f = {.name = sxs_strings_add(&m->strings, text, strlen(text)),
                                .flags = SXS_FRAME_WAIT | SXS_FRAME_TYPE};
    return add_child(m, root_of(m, text, 0), sxs_model_frame(m, &f));
}

static void add_stack(struct sxs_model *m, const struct sxs_fleet_names *names, const uint64_t *row,
                      uint32_t *frames)
{
    const struct sxs_fleet_stack *stack = sxs_fleet_stack(names, row[STACK]);
    if (!stack) {
        add_weight(m, add_note(m, "(unknown stack)"), row[COUNT], row[VALUE]);
        return;
    }
    uint32_t node = root_of(m, stack->thread, stack->root);
    for (uint32_t i = 0; i < stack->n; i++) {
        uint64_t id = names->ids[stack->first + i];
        /* numbers of frames are kept by position in `names`, because texts are slow to find */
        const struct sxs_fleet_frame *f = sxs_fleet_frame(names, id);
        uint32_t                     *number = f ? &frames[f - names->frames] : NULL;
        if (number && !*number)
            *number = sxs_fleet_model_frame(m, names, id) + 1;
        node = add_child(m, node, number ? *number - 1 : sxs_fleet_model_frame(m, names, id));
    }
    add_weight(m, node, row[COUNT], row[VALUE]);
}

static void put_cost_nodes(struct sxs_model *m)
{
    struct sxs_model_costs *c = m->costs;
    c->nodes = sxs_must_zeroed(m->n_nodes, sizeof(*c->nodes));
    c->n_nodes = m->n_nodes;
    for (size_t i = 0; i < m->n_nodes; i++) {
        c->nodes[i].n = (double)m->nodes[i].self;
        c->nodes[i].value = (double)m->nodes[i].self_ns;
    }
    c->all.n = (double)m->total;
    c->all.value = (double)m->total_ns;
    c->all.records = m->total;
    if (!c->live)
        return;
    for (size_t i = 0; i < m->n_nodes; i++) {
        c->nodes[i].live_n = c->nodes[i].n;
        c->nodes[i].live_value = c->nodes[i].value;
    }
    c->alive = c->known = c->all;
}

static void fill(struct sxs_model *m, const struct sxs_fleet_rows *rows,
                 const struct sxs_fleet_names *names)
{
    uint64_t  count = 0, value = 0;
    uint32_t *frames = sxs_must_zeroed(names->n_frames, sizeof(*frames));
    for (const uint64_t *row = rows->all; row < rows->all + rows->n; row += WIDTH) {
        add_stack(m, names, row, frames);
        count += row[COUNT];
        value += row[VALUE];
    }
    free(frames);
    if (rows->totals[VALUE] > value || rows->totals[COUNT] > count)
        add_weight(m, add_note(m, SXS_FLEET_OTHERS), rows->totals[COUNT] - count,
                   rows->totals[VALUE] - value);
    for (size_t i = 0; i < m->n_threads; i++)
        m->threads[i].tid = 0;
    m->off_timeline = m->total; /* there are no single samples */
    if (m->costs)
        put_cost_nodes(m);
    sxs_model_sum(m);
}

int sxs_fleet_model(struct sxs_fleet_server *server, const struct sxs_fleet_selection *s,
                    size_t limit, struct sxs_model *out, char *why, size_t size)
{
    struct sxs_fleet_rows  rows;
    struct sxs_fleet_names names = {0};
    begin_model(out, s);
    int err = ask_stacks(server, s, limit, &rows, why, size);
    if (!err)
        err = ask_names(server, &rows, &names, why, size);
    if (!err)
        fill(out, &rows, &names);
    sxs_fleet_names_free(&names);
    sxs_fleet_rows_free(&rows);
    return err;
}
