/* SPDX-License-Identifier: MIT */
/*
 * make_guests.c - writes the file "guests" of a process for tests of the command, whole or damaged.
 *
 *   make_guests DIR [FOLDER [KEY=VALUE]... [guest=RUNTIME,STATE,CALLBACKS,FAILURES,NS,PATH[,WHY]]...]
 *
 * FOLDER: 4242 unless given. Without arguments for guests, there are two. KEY: unlisted; damage: magic (text), version,
 * size, row_size, rows (stored number of rows), cut (bytes kept), fill=clsid|path|why (a text of the first row without
 * its final zero).
 */
#include "session/format/guests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static struct sxs_guests file;
static long              rows = -1, cut = -1;

static void add_guest(char *spec)
{
    struct sxs_guest_row *row = &file.rows[file.n_rows];
    char                 *field[7] = {0};
    for (size_t i = 0; i < 7 && spec; i++)
        field[i] = strsep(&spec, ",");
    if (!field[5])
        exit(2);
    row->runtime = (uint32_t)strtoul(field[0], NULL, 10);
    row->state = (uint32_t)strtoul(field[1], NULL, 10);
    row->callbacks = strtoull(field[2], NULL, 10);
    row->failures = strtoull(field[3], NULL, 10);
    row->ns = strtoull(field[4], NULL, 10);
    snprintf(row->path, sizeof(row->path), "%s", field[5]);
    snprintf(row->why, sizeof(row->why), "%s", field[6] ? field[6] : "");
    snprintf(row->clsid, sizeof(row->clsid), "{5E5C0001-0000-4000-8000-00000000%04X}", file.n_rows);
    row->priority = -3;
    row->callback_version = 10;
    row->low = 4;
    row->start_took_ns = 1500000;
    file.n_rows++;
}

static void fill(const char *what)
{
    struct sxs_guest_row *row = &file.rows[0];
    if (strcmp(what, "clsid") == 0)
        memset(row->clsid, 'c', sizeof(row->clsid));
    else if (strcmp(what, "path") == 0)
        memset(row->path, 'p', sizeof(row->path));
    else
        memset(row->why, 'w', sizeof(row->why));
}

static void apply(char *arg)
{
    char    *value = strchr(arg, '=');
    uint64_t n;
    if (!value)
        exit(2);
    *value++ = '\0';
    n = strtoull(value, NULL, 10);
    if (strcmp(arg, "guest") == 0)
        add_guest(value);
    else if (strcmp(arg, "unlisted") == 0)
        file.n_unlisted = (uint32_t)n;
    else if (strcmp(arg, "magic") == 0)
        memcpy(file.magic, value, strnlen(value, sizeof(file.magic)));
    else if (strcmp(arg, "version") == 0)
        file.version = (uint32_t)n;
    else if (strcmp(arg, "size") == 0)
        file.size = (uint32_t)n;
    else if (strcmp(arg, "row_size") == 0)
        file.row_size = (uint32_t)n;
    else if (strcmp(arg, "rows") == 0)
        rows = (long)n;
    else if (strcmp(arg, "cut") == 0)
        cut = (long)n;
    else if (strcmp(arg, "fill") == 0)
        fill(value);
    else
        exit(2);
}

int main(int argc, char **argv)
{
    char   path[4096], one[] = "1,2,640,3,6400,/opt/one/libone.so", two[] = "2,3,0,0,0,/opt/libtwo.so,no class";
    FILE  *f;
    size_t size;
    if (argc < 2)
        return 2;
    memcpy(file.magic, SXS_GUESTS_MAGIC, sizeof(file.magic));
    file.version = SXS_GUESTS_VERSION;
    file.size = sizeof(file);
    file.row_size = sizeof(file.rows[0]);
    for (int i = 3; i < argc; i++)
        apply(argv[i]);
    if (argc < 4) {
        add_guest(one);
        add_guest(two);
    }
    if (rows >= 0)
        file.n_rows = (uint32_t)rows;
    mkdir(argv[1], 0700);
    snprintf(path, sizeof(path), "%s/%s", argv[1], argc > 2 ? argv[2] : "4242");
    mkdir(path, 0700);
    strncat(path, "/" SXS_GUESTS_FILE, sizeof(path) - strlen(path) - 1);
    f = fopen(path, "w");
    size = cut >= 0 ? (size_t)cut : sizeof(file);
    return !f || fwrite(&file, 1, size, f) != size || fclose(f) != 0;
}
