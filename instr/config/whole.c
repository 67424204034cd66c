/* SPDX-License-Identifier: MIT */
/* instr/config/whole.c - build a config from files, and sort its rules and problems. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "instr/config/config_internal.h"
#include "base/base.h"

struct config_whole *config_whole_new(void)
{
    return calloc(1, sizeof(struct config_whole));
}

/* Makes room for one more element in @array, which has @n. Returns the array, which may have moved,
 * or NULL without memory; then the array is unchanged. */
static void *make_room(void *array, uint32_t n, uint32_t *room, size_t size)
{
    uint32_t more = *room ? 2 * *room : 8;
    void    *grown;
    if (n < *room)
        return array;
    grown = reallocarray(array, more, size);
    if (grown)
        *room = more;
    return grown;
}

void config_whole_add(struct config_whole *whole, struct config_file *file)
{
    struct config_file **files =
        make_room(whole->files, whole->n_files, &whole->files_room, sizeof(*files));
    if (!files) {
        whole->failed = 1;
        config_file_unref(file);
        return;
    }
    whole->files = files;
    whole->files[whole->n_files++] = file;
}

struct config_file *config_whole_find(const struct sxs_config *config, const char *path)
{
    const struct config_whole *whole;
    if (!config)
        return NULL;
    whole = container_of(config, struct config_whole, shown);
    for (uint32_t i = 0; i < whole->n_files; i++)
        if (!strcmp(whole->files[i]->path, path))
            return whole->files[i];
    return NULL;
}

static const char *copy(struct config_whole *whole, const char *text)
{
    return text ? config_strdup(&whole->arena, text) : NULL;
}

void config_whole_problem(struct config_whole *whole, const struct sxs_problem *problem)
{
    struct sxs_problem *problems, p = *problem;
    p.file = copy(whole, p.file);
    p.what = copy(whole, p.what);
    p.expected = copy(whole, p.expected);
    problems =
        make_room(whole->problems, whole->shown.n_problems, &whole->problems_room, sizeof(p));
    if (problems)
        whole->problems = problems;
    if (whole->arena.failed || !problems) {
        whole->failed = 1;
        return;
    }
    whole->problems[whole->shown.n_problems++] = p;
    whole->shown.n_errors += !p.warning;
    whole->shown.n_warnings += p.warning != 0;
}

/* ---- orders ---------------------------------------------------------------------------------- */

static int by_order(const void *a, const void *b)
{
    const struct sxs_rule *x = *(const struct sxs_rule *const *)a;
    const struct sxs_rule *y = *(const struct sxs_rule *const *)b;
    int                    files;
    if (x->priority != y->priority)
        return x->priority > y->priority ? -1 : 1;
    files = strcmp(x->file, y->file);
    if (files)
        return files;
    return x < y ? -1 : x > y; /* rules of one file are in one array, in the file's order */
}

static int by_place(const void *a, const void *b)
{
    const struct sxs_problem *x = a, *y = b;
    int                       files = strcmp(x->file, y->file);
    if (files)
        return files;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return strcmp(x->what, y->what);
}

static int collect_rules(struct config_whole *whole)
{
    const struct sxs_rule **rules;
    size_t                  n = 0;
    for (uint32_t i = 0; i < whole->n_files; i++)
        n += whole->files[i]->n_rules;
    rules = calloc(n + 1, sizeof(struct sxs_rule *));
    if (!rules)
        return -1;
    for (uint32_t i = 0; i < whole->n_files; i++)
        for (uint32_t r = 0; r < whole->files[i]->n_rules; r++)
            rules[whole->shown.n_rules++] = &whole->files[i]->rules[r];
    qsort(rules, n, sizeof(struct sxs_rule *), by_order);
    whole->shown.rules = rules;
    return 0;
}

struct sxs_config *config_whole_finish(struct config_whole *whole)
{
    if (!whole)
        return NULL;
    if (whole->failed || collect_rules(whole)) {
        sxs_config_free(&whole->shown);
        return NULL;
    }
    if (whole->shown.n_problems)
        qsort(whole->problems, whole->shown.n_problems, sizeof(*whole->problems), by_place);
    whole->shown.problems = whole->problems;
    return &whole->shown;
}

void sxs_config_free(struct sxs_config *config)
{
    struct config_whole *whole;
    if (!config)
        return;
    whole = container_of(config, struct config_whole, shown);
    for (uint32_t i = 0; i < whole->n_files; i++)
        config_file_unref(whole->files[i]);
    free(whole->files);
    free(whole->problems);
    free((void *)(uintptr_t)config->rules);
    config_arena_clear(&whole->arena);
    free(whole);
}

size_t sxs_config_put_problem(const struct sxs_problem *problem, char *text, size_t size)
{
    char place[32] = "";
    int  n;
    if (problem->line)
        snprintf(place, sizeof(place), "%u:%u:", problem->line, problem->column);
    n = snprintf(text, size, "%s:%s %s%s%s%s", problem->file, place,
                 problem->warning ? "warning: " : "", problem->what,
                 problem->expected ? "; expected " : "",
                 problem->expected ? problem->expected : "");
    return n < 0 ? 0 : (size_t)n;
}
