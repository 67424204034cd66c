/* SPDX-License-Identifier: MIT */
#include "cmd/report/text_pools.h"

#include "cmd/output/print.h"

struct pool {
    uint32_t threads, queued;
    uint64_t starved, n;
};

static void add_change(struct pool *p, const struct sxs_model_pool *c)
{
    p->n++;
    if (c->change == SXS_POOL_QUEUED)
        p->queued = c->value > p->queued ? c->value : p->queued;
    else if (c->change == SXS_POOL_ADJUSTED)
        p->starved += c->reason == SXS_POOL_REASON_STARVATION;
    else
        p->threads = c->value > p->threads ? c->value : p->threads;
}

void sxs_text_pools(const struct sxs_model *m, FILE *to)
{
    if (m->n_pools)
        fputs("\nthread pools\n  threads    queued   starved  runtime\n", to);
    for (size_t process = 0; m->n_pools && process < m->n_processes; process++) {
        for (size_t r = 0; r < m->n_runtimes; r++) {
            struct pool p = {0};
            for (size_t i = 0; i < m->n_pools; i++)
                if (m->pools[i].process == process && m->pools[i].runtime == r + 1)
                    add_change(&p, &m->pools[i]);
            if (p.n)
                sxs_print_to(to, "  %7u  %8u  %8llu  runtime %u, %.64s, process %u\n", p.threads,
                             p.queued, (unsigned long long)p.starved, m->runtimes[r].number,
                             sxs_model_text(m, m->runtimes[r].version), m->processes[process].pid);
        }
    }
}
