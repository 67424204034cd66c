/* SPDX-License-Identifier: MIT */
/* instr/config/difference.c - find the rules that changed from one load to the next. */
#include <stdlib.h>
#include <string.h>

#include "instr/config/config.h"

#define NOT_THERE UINT32_MAX

/* A rule and its index in config->rules. */
struct placed {
    const struct sxs_rule *rule;
    uint32_t               place;
};

static int compare_content(const struct sxs_rule *x, const struct sxs_rule *y)
{
    if (x->identity != y->identity)
        return x->identity < y->identity ? -1 : 1;
    return strcmp(x->content, y->content);
}

static int by_content(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    int                  order = compare_content(x->rule, y->rule);
    return order ? order : (x->place > y->place) - (x->place < y->place);
}

/* Returns the rules of @config sorted by content; NULL: no memory. */
static struct placed *sort_rules(const struct sxs_config *config)
{
    uint32_t       n = config ? config->n_rules : 0;
    struct placed *all = calloc((size_t)n + 1, sizeof(*all));
    if (!all || !n)
        return all;
    for (uint32_t i = 0; i < n; i++)
        all[i] = (struct placed){config->rules[i], i};
    qsort(all, n, sizeof(*all), by_content);
    return all;
}

/* Pairs rules with equal content, the first with the first. @is: receives, for each place in the
 * old order, the place of its partner in the new order; @was: the reverse. NOT_THERE: no
 * partner. */
static void pair_rules(const struct placed *old, uint32_t n_old, const struct placed *now,
                       uint32_t n_now, uint32_t *is, uint32_t *was)
{
    uint32_t i = 0, j = 0;
    memset(is, 0xff, (size_t)n_old * sizeof(*is));
    memset(was, 0xff, (size_t)n_now * sizeof(*was));
    while (i < n_old && j < n_now) {
        int order = compare_content(old[i].rule, now[j].rule);
        if (!order) {
            is[old[i].place] = now[j].place;
            was[now[j].place] = old[i].place;
        }
        i += order <= 0;
        j += order >= 0;
    }
}

/* Fills the lists of @d, in the order of the rules. */
static int fill_difference(struct sxs_config_difference *d, const struct sxs_config *old,
                           uint32_t n_old, const struct sxs_config *now, uint32_t n_now,
                           const uint32_t *is, const uint32_t *was)
{
    uint32_t last = 0;
    d->went = calloc((size_t)n_old + 1, sizeof(struct sxs_rule *));
    d->came = calloc((size_t)n_now + 1, sizeof(struct sxs_rule *));
    d->stayed = calloc((size_t)n_now + 1, sizeof(struct sxs_rule *));
    if (!d->went || !d->came || !d->stayed)
        return -1;
    for (uint32_t i = 0; i < n_old; i++)
        if (is[i] == NOT_THERE)
            d->went[d->n_went++] = old->rules[i];
    for (uint32_t i = 0; i < n_now; i++) {
        if (was[i] == NOT_THERE) {
            d->came[d->n_came++] = now->rules[i];
            continue;
        }
        d->stayed[d->n_stayed++] = now->rules[i];
        d->reordered |= was[i] < last;
        last = was[i];
    }
    return 0;
}

int sxs_config_difference(const struct sxs_config *old, const struct sxs_config *new_,
                          struct sxs_config_difference *difference)
{
    uint32_t       n_old = old ? old->n_rules : 0, n_now = new_ ? new_->n_rules : 0;
    struct placed *a = sort_rules(old), *b = sort_rules(new_);
    uint32_t      *is = calloc((size_t)n_old + 1, sizeof(*is));
    uint32_t      *was = calloc((size_t)n_now + 1, sizeof(*was));
    int            failed = 1;
    memset(difference, 0, sizeof(*difference));
    if (a && b && is && was) {
        pair_rules(a, n_old, b, n_now, is, was);
        failed = fill_difference(difference, old, n_old, new_, n_now, is, was);
    }
    free(a);
    free(b);
    free(is);
    free(was);
    if (!failed)
        return 0;
    sxs_config_difference_clear(difference);
    return -1;
}

void sxs_config_difference_clear(struct sxs_config_difference *difference)
{
    free(difference->went);
    free(difference->came);
    free(difference->stayed);
    memset(difference, 0, sizeof(*difference));
}
