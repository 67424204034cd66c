/* SPDX-License-Identifier: MIT */
#include "cmd/selection.h"

#include <stdio.h>

#include "cmd/command.h"
#include "cmd/output/processes.h"
#include "cmd/output/shown.h"

enum { MAX_LISTED = 20 };

/* A list "1, 2, 3", cut after MAX_LISTED items. */
struct number_list {
    char   text[MAX_LISTED * 260];
    size_t len;
    size_t n;
};

static void add(struct number_list *list, const char *item)
{
    if (list->n <= MAX_LISTED && list->len < sizeof(list->text))
        list->len +=
            (size_t)snprintf(list->text + list->len, sizeof(list->text) - list->len, "%s%s",
                             list->n ? ", " : "", list->n < MAX_LISTED ? item : "...");
    list->n++;
}

/* Adds each runtime of the requested process to @list, each number once. Returns true when @number is
 * one of them, or may be one that the session does not list. */
static bool list_runtimes(const struct sxs_session *session, const char *process, uint32_t number,
                          struct number_list *list)
{
    uint64_t seen[SXS_MAX_RUNTIMES / 64 + 1] = {0};
    for (size_t i = 0; i < session->n_processes; i++) {
        const struct sxs_session_process *p = &session->processes[i];
        if (!sxs_process_wanted(p, process))
            continue;
        if (p->n_unlisted)
            return true;
        for (size_t k = 0; k < p->n_runtimes; k++) {
            uint32_t here = p->runtimes[k].number;
            char     item[128];
            if (here == number)
                return true;
            if (here > SXS_MAX_RUNTIMES || seen[here / 64] >> here % 64 & 1)
                continue;
            seen[here / 64] |= UINT64_C(1) << here % 64;
            snprintf(item, sizeof(item), "%u (%s)", here, p->runtimes[k].version);
            add(list, item);
        }
    }
    return !list->n;
}

int sxs_selection_check(const char *dir, const struct sxs_session *session, const char *process,
                        uint32_t runtime)
{
    struct number_list list = {.n = 0};
    size_t             wanted = 0;
    if (session->n_problems || session->n_processes == 0)
        return SXS_EXIT_OK;
    for (size_t i = 0; i < session->n_processes; i++) {
        add(&list, session->processes[i].folder);
        wanted += sxs_process_wanted(&session->processes[i], process);
    }
    if (!wanted)
        return sxs_wrong_input("--process: '%s': %s has no such process; expected %s%s", process,
                               sxs_shown(dir), list.n > 1 ? "one of " : "", list.text);
    list = (struct number_list){.n = 0};
    if (!runtime || list_runtimes(session, process, runtime, &list))
        return SXS_EXIT_OK;
    return sxs_wrong_input("--runtime: %u: %s has no such runtime; expected %s%s", runtime,
                           sxs_shown(dir), list.n > 1 ? "one of " : "", list.text);
}
