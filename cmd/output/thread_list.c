/* SPDX-License-Identifier: MIT */
#include "cmd/output/thread_list.h"

#include <string.h>

#include "cmd/output/print.h"

void sxs_thread_list_add(struct sxs_thread_list *list, uint32_t tid, const char *name)
{
    for (size_t i = list->n; i-- > 0;)
        if (list->all[i].tid == tid && strcmp(list->all[i].name, name) == 0)
            return;
    if (list->n == SXS_THREAD_LIST_MAX) {
        list->n_left_out++;
        return;
    }
    list->all[list->n].tid = tid;
    list->all[list->n++].name = name;
}

void sxs_thread_list_print(FILE *to, const struct sxs_thread_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        sxs_print_to(to, "thread %u is %s\n", list->all[i].tid, list->all[i].name);
    if (list->n_left_out)
        sxs_print_to(to, "and further threads; the format json names all\n");
}
