/* SPDX-License-Identifier: MIT */
#include "cmd/guests/guests.h"
#include "cmd/output/print.h"

#include "cmd/output/processes.h"
#include "cmd/output/text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

static const char *base_name(const struct sxs_guest_read *g)
{
    const char *slash = strrchr(g->path, '/');
    return slash ? slash + 1 : g->path;
}

/* Returns true when another guest has a library of the same name: a library can have several classes. */
static bool is_ambiguous(const struct sxs_guests_report *r, const struct sxs_guest_read *g)
{
    for (size_t p = 0; p < r->n; p++)
        for (size_t i = 0; i < r->processes[p].data->n; i++) {
            const struct sxs_guest_read *other = &r->processes[p].data->guests[i];
            if (strcmp(other->clsid, g->clsid) != 0 && strcmp(base_name(other), base_name(g)) == 0)
                return true;
        }
    return false;
}

/* Writes the name of the guest's library without its folders, safe to print; with its class if another guest
 * has the same name. */
static const char *library_name(const struct sxs_guests_report *r, const struct sxs_guest_read *g,
                                char *buf, size_t size)
{
    char whole[600];
    bool with_class = is_ambiguous(r, g);
    snprintf(whole, sizeof(whole), "%s%s%s", base_name(g), with_class ? " " : "",
             with_class ? g->clsid : "");
    sxs_text_clean(whole, buf, size);
    return buf;
}

/* Writes the time of one callback, or "-" without callbacks. */
static const char *ns_each(const struct sxs_guest_read *g, char *buf, size_t size)
{
    if (g->callbacks)
        snprintf(buf, size, "%.0f", (double)g->ns / (double)g->callbacks);
    else
        snprintf(buf, size, "-");
    return buf;
}

/* Returns true when hooks of the guest make the runtime call all hooks on its slow path. */
static bool is_slow(const struct sxs_guest_read *g)
{
    return (g->low & SXS_GUEST_HOOKS) && (g->low & SXS_GUEST_SLOW);
}

static void put_slow(FILE *to, const char *before)
{
    sxs_print_to(
        to,
        "%sits hooks ask for arguments, results or frames: runtimes then do not keep whole "
        "vector registers, so results of the program can be wrong, with this profiler "
        "alone, too\n",
        before);
}

static void put_row(FILE *to, const struct sxs_guests_report *r, const struct sxs_guest_read *g,
                    int width)
{
    char name[200], time[32], each[32], start[32], why[300];
    sxs_text_clean(g->why, why, sizeof(why));
    sxs_print_to(to, "%7" PRIu32 "  %-*s  %-8s  %10" PRIu64 "  %8" PRIu64 "  %9s  %11s  %9s%s%s\n",
                 g->runtime, width, library_name(r, g, name, sizeof(name)),
                 sxs_guest_state_text(g->state), g->callbacks, g->failures,
                 sxs_text_duration(g->ns, time, sizeof(time)), ns_each(g, each, sizeof(each)),
                 sxs_text_duration(g->start_took_ns, start, sizeof(start)), why[0] ? "  " : "",
                 why);
    if (g->info_refused)
        sxs_print_to(
            to, "%7s  %" PRIu64 " of its calls had an ID of another runtime and were refused\n", "",
            g->info_refused);
    if (is_slow(g))
        put_slow(to, "         ");
}

static bool is_shown(const struct sxs_guest_read *g, uint32_t runtime)
{
    return runtime == 0 || g->runtime == runtime;
}

/* Counts the rows to show, and widens *width to their longest name. */
static size_t measure(const struct sxs_guests_report *r, uint32_t runtime, int *width)
{
    char   name[200];
    size_t n = 0;
    for (size_t p = 0; p < r->n; p++)
        for (size_t i = 0; i < r->processes[p].data->n; i++) {
            const struct sxs_guest_read *g = &r->processes[p].data->guests[i];
            int                          len = (int)strlen(library_name(r, g, name, sizeof(name)));
            if (!is_shown(g, runtime))
                continue;
            n++;
            *width = len > *width ? len : *width;
        }
    return n;
}

void sxs_guests_text(FILE *to, const struct sxs_guests_report *r, uint32_t runtime)
{
    int width = (int)strlen("guest");
    if (measure(r, runtime, &width) == 0)
        return;
    sxs_print_to(to, "%7s  %-*s  %-8s  %10s  %8s  %9s  %11s  %9s\n", "runtime", width, "guest",
                 "state", "callbacks", "failures", "time", "ns/callback", "start");
    for (size_t p = 0; p < r->n; p++) {
        const struct sxs_guests_data *d = r->processes[p].data;
        if (r->n > 1)
            sxs_print_to(to, "process %" PRIu32 ":\n", r->processes[p].process->pid);
        if (d->has_children)
            sxs_print_to(to, "forked children had no memory of their own: their guests are counted here\n");
        for (size_t i = 0; i < d->n; i++)
            if (is_shown(&d->guests[i], runtime))
                put_row(to, r, &d->guests[i], width);
        if (d->n_unlisted)
            sxs_print_to(to, "%" PRIu32 " more guests on runtimes are not listed\n", d->n_unlisted);
    }
}

/* ---- summary ---------------------------------------------------------------------------------- */

/* Returns true when an earlier row has the same guest. */
static bool is_repeated(const struct sxs_guests_report *r, size_t p, size_t i)
{
    const struct sxs_guest_read *g = &r->processes[p].data->guests[i];
    for (size_t q = 0; q <= p; q++) {
        const struct sxs_guests_data *d = r->processes[q].data;
        for (size_t k = 0; k < (q == p ? i : d->n); k++)
            if (strcmp(d->guests[k].path, g->path) == 0 &&
                strcmp(d->guests[k].clsid, g->clsid) == 0)
                return true;
    }
    return false;
}

void sxs_guests_summary(FILE *to, const struct sxs_guests_report *r)
{
    size_t n = 0, n_inactive = 0;
    char   name[200], why[300];
    for (size_t p = 0; p < r->n; p++)
        for (size_t i = 0; i < r->processes[p].data->n; i++) {
            const struct sxs_guest_read *g = &r->processes[p].data->guests[i];
            if (is_slow(g) && !is_repeated(r, p, i)) {
                sxs_print_to(to, "guest %s: ", library_name(r, g, name, sizeof(name)));
                put_slow(to, "");
            }
            n += !is_repeated(r, p, i);
            if (g->state == SXS_GUEST_ACTIVE)
                continue;
            n_inactive++;
            sxs_text_clean(g->why, why, sizeof(why));
            sxs_print_to(to, "guest %s: %s on runtime %" PRIu32 "%s%s\n",
                         library_name(r, g, name, sizeof(name)), sxs_guest_state_text(g->state),
                         g->runtime, why[0] ? ": " : "", why);
        }
    if (n && !n_inactive)
        sxs_print_to(to, "guests: %zu\n", n);
}
