/* SPDX-License-Identifier: MIT */
/*
 * make_census.c - writes a session for tests of the command: the file DIR/FOLDER/census, whole or damaged.
 *
 *   make_census DIR FOLDER [KEY=VALUE]...
 *       [runtime=NUMBER,VERSION,STATE,MODULES,METHODS,THREADS,GCS,EXCEPTIONS,SIGNALS[,PATH]]...
 *
 * KEY: pid, started (ns), command, unlisted, unwanted, signals_off; damage: magic (text),
 * version, size, row_size, rows (stored number of runtimes), cut (bytes kept), pad (bytes added),
 * fill=command|version|path (a text without its final zero; version and path of the first runtime).
 */
#include "session/format/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct plan {
    struct sxs_census census;
    long              rows, cut, pad;
};

static void add_runtime(struct sxs_census *c, char *spec)
{
    uint32_t n = c->n_runtimes;
    struct sxs_census_runtime *r = &c->runtimes[n];
    char *field[10] = {0};
    if (n >= SXS_MAX_RUNTIMES)
        exit(2);
    for (size_t i = 0; i < 10 && spec; i++)
        field[i] = strsep(&spec, ",");
    if (!field[8])
        exit(2);
    r->number = (uint32_t)strtoul(field[0], NULL, 10);
    snprintf(r->version, sizeof(r->version), "%s", field[1]);
    r->state = (uint32_t)strtoul(field[2], NULL, 10);
    r->modules = strtoull(field[3], NULL, 10);
    r->methods = strtoull(field[4], NULL, 10);
    r->threads = strtoull(field[5], NULL, 10);
    r->gcs = strtoull(field[6], NULL, 10);
    r->exceptions = strtoull(field[7], NULL, 10);
    r->signals = strtoull(field[8], NULL, 10);
    snprintf(r->path, sizeof(r->path), "%s", field[9] ? field[9] : "/runtimes/libcoreclr.so");
    c->n_runtimes = n + 1;
}

static void fill(struct sxs_census *c, const char *what)
{
    if (strcmp(what, "command") == 0)
        memset(c->command, 'x', sizeof(c->command));
    else if (strcmp(what, "version") == 0)
        memset(c->runtimes[0].version, '9', sizeof(c->runtimes[0].version));
    else
        memset(c->runtimes[0].path, '/', sizeof(c->runtimes[0].path));
}

static void apply(struct plan *p, char *arg)
{
    struct sxs_census *c = &p->census;
    char *value = strchr(arg, '=');
    if (!value)
        exit(2);
    *value++ = '\0';
    uint64_t n = strtoull(value, NULL, 10);
    if (strcmp(arg, "runtime") == 0)
        add_runtime(c, value);
    else if (strcmp(arg, "pid") == 0)
        c->pid = (uint32_t)n;
    else if (strcmp(arg, "started") == 0)
        c->started_ns = n;
    else if (strcmp(arg, "command") == 0)
        snprintf(c->command, sizeof(c->command), "%s", value);
    else if (strcmp(arg, "unlisted") == 0)
        c->n_unlisted = (uint32_t)n;
    else if (strcmp(arg, "mask") == 0)
        c->mask = (uint16_t)n;
    else if (strcmp(arg, "children") == 0)
        c->has_children = n != 0;
    else if (strcmp(arg, "unwanted") == 0)
        c->signals_unwanted = n;
    else if (strcmp(arg, "signals_off") == 0)
        c->signals_off = (uint16_t)n;
    else if (strcmp(arg, "magic") == 0)
        memcpy(c->magic, value, strnlen(value, sizeof(c->magic)));
    else if (strcmp(arg, "version") == 0)
        c->version = (uint32_t)n;
    else if (strcmp(arg, "size") == 0)
        c->size = (uint32_t)n;
    else if (strcmp(arg, "row_size") == 0)
        c->row_size = (uint32_t)n;
    else if (strcmp(arg, "rows") == 0)
        p->rows = (long)n;
    else if (strcmp(arg, "cut") == 0)
        p->cut = (long)n;
    else if (strcmp(arg, "pad") == 0)
        p->pad = (long)n;
    else if (strcmp(arg, "fill") == 0)
        fill(c, value);
    else
        exit(2);
}

static int write_file(const char *path, const struct plan *p)
{
    FILE  *f = fopen(path, "w");
    size_t size = p->cut >= 0 ? (size_t)p->cut : sizeof(p->census);
    if (!f || fwrite(&p->census, 1, size, f) != size)
        return 1;
    for (long i = 0; i < p->pad; i++)
        fputc('p', f);
    return fclose(f) != 0;
}

int main(int argc, char **argv)
{
    static struct plan p = {.rows = -1, .cut = -1};
    char               path[4096];
    if (argc < 3) {
        fputs("usage: make_census DIR FOLDER [KEY=VALUE]...\n", stderr);
        return 2;
    }
    memcpy(p.census.magic, SXS_CENSUS_MAGIC, sizeof(p.census.magic));
    p.census.version = SXS_CENSUS_VERSION;
    p.census.size = sizeof(p.census);
    p.census.row_size = sizeof(p.census.runtimes[0]);
    p.census.pid = (uint32_t)strtoul(argv[2], NULL, 10);
    p.census.preloaded = 1;
    snprintf(p.census.command, sizeof(p.census.command), "app %s", argv[2]);
    for (int i = 3; i < argc; i++)
        apply(&p, argv[i]);
    if (p.rows >= 0)
        p.census.n_runtimes = (uint32_t)p.rows;
    mkdir(argv[1], 0700);
    snprintf(path, sizeof(path), "%s/%s", argv[1], argv[2]);
    mkdir(path, 0700);
    snprintf(path, sizeof(path), "%s/%s/%s", argv[1], argv[2], SXS_CENSUS_FILE);
    return write_file(path, &p);
}
