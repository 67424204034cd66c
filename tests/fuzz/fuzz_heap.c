/* SPDX-License-Identifier: MIT */
/*
 * Damaged heap snapshots, as fuzz.h has it. Each goes through the reader, the analysis, every format, and the
 * comparison with itself. The bytes and objects of both ways to count must be the same.
 */
#include "cmd/heap/counts.h"
#include "cmd/heap/heap.h"

#include <fcntl.h>
#include <stdbool.h>

#include "tests/fuzz/fuzz.h"

int make_heap(int argc, char **argv);

#define main make_heap
#include "tests/profile/make_heap.c" /* NOLINT(bugprone-suspicious-include) */
#undef main

static char dir[64];
static int  folder_fd = -1;
static bool undamaged; /* the input that is at work */

static void path_of(char *out, size_t size, const char *name)
{
    snprintf(out, size, "%s/%d/%s", dir, PID, name);
}

static void remove_dir(void)
{
    static const char *const names[] = {SXS_CENSUS_FILE, SXS_HEAP_FILE "1", ""};
    char                     path[160];
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        path_of(path, sizeof(path), names[i]);
        remove(path);
    }
    rmdir(dir);
}

static void make(const char *graph, const char *n)
{
    char program[] = "make_heap", number[] = "1", kind[16], count[16];
    char *args[] = {program, dir, number, kind, count, NULL};
    snprintf(kind, sizeof(kind), "%s", graph);
    snprintf(count, sizeof(count), "%s", n);
    if (make_heap(5, args) != 0)
        exit(1);
}

/* One session folder for all runs. */
static void make_dir(void)
{
    char path[160];
    if (folder_fd >= 0)
        return;
    strcpy(dir, "/tmp/fuzz-heap-XXXXXX");
    if (!mkdtemp(dir))
        exit(1);
    atexit(remove_dir);
    make("known", "0");
    path_of(path, sizeof(path), "");
    folder_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void compare(const struct sxs_heap_report *r, const struct sxs_heap_counts *c)
{
    uint64_t objects = 0, bytes = 0, same_objects = 0, same_bytes = 0;
    for (size_t i = 0; i < c->n; i++) {
        objects += c->all[i].objects;
        bytes += c->all[i].bytes;
    }
    for (size_t i = 0; i < r->s->n; i++) {
        same_objects += r->s->graphs[i].n;
        same_bytes += r->all[i].bytes;
    }
    /* The graph joins objects with the same address; the counts join those that follow one another. */
    MUST(objects >= same_objects);
    MUST(!undamaged || (objects == same_objects && bytes == same_bytes && r->s->n_problems == 0));
    fuzz_whole += r->s->n_problems == 0;
}

static void write_all(const struct sxs_heap_snapshot *s, const struct sxs_heap_counts *c)
{
    char                   *text = NULL;
    size_t                  size = 0;
    FILE                   *to = open_memstream(&text, &size);
    struct sxs_heap_report  r = {.top = 5};
    struct sxs_heap_sides   sides = {.before = "s/1/heap-1", .now = "s/1/heap-2"};
    struct sxs_heap_counts  none = {0};
    struct sxs_heap_changes changes = sxs_heap_changes(c, c, 0);
    struct sxs_heap_changes grown = sxs_heap_changes(&none, c, 0);
    sxs_heap_analyze(s, &r);
    compare(&r, c);
    sxs_heap_write_text(to, &r);
    r.type = "App.*";
    sxs_heap_write_text(to, &r);
    sxs_heap_write_json(to, &r);
    sxs_heap_write_html(to, &r);
    sxs_heap_write_heapsnapshot(to, s);
    sxs_heap_write_changes(to, &sides, &changes, 5, true);
    sxs_heap_write_changes(to, &sides, &grown, 5, false);
    sxs_heap_write_changes_json(to, &sides, &grown);
    sxs_heap_write_changes_html(to, &sides, &grown);
    MUST(changes.n == 0 && changes.sum.bytes[0] == changes.sum.bytes[1]);
    MUST(grown.n + grown.n_unchanged == changes.n_unchanged);
    sxs_heap_report_free(&r);
    fclose(to);
    free(text);
    sxs_heap_changes_free(&changes);
    sxs_heap_changes_free(&grown);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct sxs_heap_snapshot s;
    struct sxs_heap_counts   c;
    char                     path[160], why[256];
    make_dir();
    path_of(path, sizeof(path), SXS_HEAP_FILE "1");
    FILE *f = fopen(path, "w");
    if (!f || (size && fwrite(bytes, size, 1, f) != 1) || fclose(f) != 0)
        exit(1);
    int err = sxs_heap_load(folder_fd, 1, 0, &s, why, sizeof(why));
    MUST(sxs_heap_counts_load(folder_fd, 1, 0, &c, why, sizeof(why)) == err);
    if (err) {
        MUST(why[0]);
        return 0;
    }
    write_all(&s, &c);
    sxs_heap_counts_free(&c);
    sxs_heap_free(&s);
    return 0;
}

#ifndef SXS_LIBFUZZER
/* A damaged snapshot: of the known graph, or of a random one. */
static size_t fuzz_make(uint8_t *bytes)
{
    static const char *const graphs[] = {"known", "random", "list", "web"};
    char                     path[160];
    make_dir();
    make(graphs[roll(4)], "300");
    path_of(path, sizeof(path), SXS_HEAP_FILE "1");
    FILE  *f = fopen(path, "r");
    size_t size = f ? fread(bytes, 1, FUZZ_MAX, f) : 0;
    if (f)
        fclose(f);
    undamaged = roll(20) == 0;
    if (undamaged)
        return size;
    /* Most damage is after the header, which is mostly zeros. */
    if (size > SXS_HEAP_HEADER_SIZE && roll(10))
        return SXS_HEAP_HEADER_SIZE +
               fuzz_mutate(bytes + SXS_HEAP_HEADER_SIZE, size - SXS_HEAP_HEADER_SIZE);
    return fuzz_mutate(bytes, size);
}

int main(int argc, char **argv)
{
    return fuzz_main(argc, argv, "heap snapshots");
}
#endif
