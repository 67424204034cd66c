/* SPDX-License-Identifier: MIT */
#include "cmd/symbols/native.h"

#include "base/index.h"
#include "cmd/output/must.h"
#include "cmd/output/table_hash.h"
#include "cmd/symbols/answers.h"
#include "cmd/symbols/debuginfod.h"
#include "cmd/symbols/elf_names.h"
#include "cmd/symbols/worker.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct native_file {
    char                 *path; /* owned */
    size_t                path_size;
    uint8_t               build_id[SXS_BUILD_ID];
    size_t                build_id_size;
    struct sxs_file_owner owner;
    unsigned              opened;    /* the worker's process that has opened it; 0: none */
    bool                  is_usable; /* it was, or will be, opened; else it gives no names */
    bool                  is_ours;   /* as in struct sxs_elf_opened */
    char                 *problem;   /* owned; NULL: none */
    uint32_t              place;     /* in lookup.table */
    uint32_t              kept;      /* in lookup.record */
};

/* Names that were found, one place for each hash value: the segments of a ring ask for the same addresses. */
enum { CACHE_PLACES = 1 << 14, CACHED_TEXT = 512 };

struct cached_name {
    uint64_t address;
    uint32_t file; /* number + 1; 0: the place is free */
    uint32_t line, at_line;
    uint32_t source; /* where it begins in `text` */
    char    *text;   /* owned; symbol and source */
};

struct sxs_natives {
    struct sxs_lookup         lookup;
    struct sxs_file_owner     owner; /* of the files that are added */
    struct native_file       *files;
    struct sxs_index          index;
    size_t                    n, cap;
    struct sxs_symbol_worker *worker;
    char                     *text; /* owned; texts of the last answer */
    size_t                    text_room;
    struct cached_name       *cache; /* owned; CACHE_PLACES places */
};

struct sxs_natives *sxs_natives_new(const struct sxs_lookup *lookup)
{
    struct sxs_natives *all = sxs_must_zeroed(1, sizeof(*all));
    all->lookup = *lookup;
    all->cache = sxs_must_zeroed(CACHE_PLACES, sizeof(*all->cache));
    all->worker = sxs_symbol_worker_new(sxs_elf_names_answer, lookup->symbols);
    return all;
}

void sxs_natives_owner(struct sxs_natives *all, const struct sxs_file_owner *owner)
{
    all->owner = *owner;
}

static bool is_file(const struct native_file *f, const struct native_file *wanted)
{
    return f->path_size == wanted->path_size && f->build_id_size == wanted->build_id_size &&
           f->owner.uid == wanted->owner.uid &&
           memcmp(f->path, wanted->path, wanted->path_size) == 0 &&
           memcmp(f->build_id, wanted->build_id, wanted->build_id_size) == 0;
}

/* Adds a file whose path is borrowed until then. */
static void add_file(struct sxs_natives *all, struct native_file *f)
{
    f->path = sxs_must(strndup(f->path, f->path_size));
    if (all->lookup.record)
        f->kept =
            sxs_names_add_place(all->lookup.record, false, f->path, f->build_id, f->build_id_size);
    if (all->lookup.table)
        f->place =
            sxs_names_place(all->lookup.table, false, f->path, f->build_id, f->build_id_size);
    SXS_GROW(all->files, all->n, all->cap);
    all->files[all->n++] = *f;
}

uint32_t sxs_natives_add(struct sxs_natives *all, const char *path, size_t path_size,
                         const uint8_t *build_id, size_t build_id_size)
{
    struct native_file f = {.path = (char *)(uintptr_t)path,
                            .path_size = strnlen(path, path_size),
                            .build_id_size = build_id_size,
                            .owner = all->owner,
                            .is_usable = true,
                            .place = SXS_NO_PLACE,
                            .kept = SXS_NO_PLACE};
    memcpy(f.build_id, build_id, build_id_size);
    uint32_t number, hash = (uint32_t)sxs_table_hash(f.build_id, build_id_size,
                                                     sxs_table_hash(path, f.path_size, 0));
    size_t   at = hash;
    if (sxs_index_reserve(&all->index) != 0)
        sxs_must(NULL);
    for (; (number = sxs_index_next(&all->index, hash, &at)) != 0; at++)
        if (is_file(&all->files[number - 1], &f))
            return number - 1;
    sxs_index_put(&all->index, at, hash, all->n);
    add_file(all, &f);
    return (uint32_t)all->n - 1;
}

const char *sxs_natives_path(const struct sxs_natives *all, uint32_t file)
{
    return all->files[file].path;
}

static void set_problem(struct native_file *f, const char *why)
{
    free(f->problem);
    f->problem = why && *why ? sxs_must(strdup(why)) : NULL;
}

/* Lets the worker open a file. @passed: a descriptor that it uses, borrowed, or -1. @o: receives what it
 * says. Returns false when it does not answer: the file gives no names. */
static bool open_file(struct sxs_natives *all, uint32_t file, bool has_debug, int passed,
                      struct sxs_elf_opened *o)
{
    struct native_file     *f = &all->files[file];
    size_t                  size = sizeof(struct sxs_elf_request) + f->path_size, got;
    struct sxs_elf_request *r = sxs_must_zeroed(size, 1);
    const char             *why;
    *r = (struct sxs_elf_request){.file = file,
                                  .is_open = true,
                                  .by_id = all->lookup.table != NULL,
                                  .has_debug = has_debug,
                                  .build_id_size = (uint8_t)f->build_id_size,
                                  .owner = f->owner};
    memcpy(r->build_id, f->build_id, f->build_id_size);
    memcpy(r + 1, f->path, f->path_size);
    const void *answer = sxs_symbol_worker_ask(all->worker, r, size, true, &passed, &got, &why);
    free(r);
    if (passed >= 0)
        close(passed);
    bool is_answer = answer && sxs_elf_opened_read(answer, got, o);
    if (answer && !is_answer)
        why = sxs_symbol_worker_refuse(all->worker);
    f->opened = sxs_symbol_worker_starts(all->worker);
    f->is_usable = is_answer && o->is_usable;
    f->is_ours = is_answer && o->is_ours;
    if (!is_answer)
        set_problem(f, why);
    else if (o->is_usable || o->problem[0])
        set_problem(f, o->problem);
    return is_answer;
}

/* Downloads the debug file of a file that has none here. */
static void ask_servers(struct sxs_natives *all, uint32_t file, const struct sxs_elf_opened *o)
{
    struct native_file *f = &all->files[file];
    const uint8_t      *id = o->is_usable ? o->build_id : f->build_id;
    size_t              size = o->is_usable ? o->build_id_size : f->build_id_size;
    bool                is_usable = o->is_usable;
    int                 fd = sxs_debuginfod_find(f->path, id, size);
    sxs_debuginfod_done();
    if (fd < 0)
        return;
    struct sxs_elf_opened again;
    open_file(all, file, is_usable, fd, &again);
    close(fd);
}

static void open_names(struct sxs_natives *all, uint32_t file)
{
    struct native_file *f = &all->files[file];
    if (!f->opened && all->lookup.table)
        set_problem(f, sxs_names_problem(all->lookup.table, f->place));
    if (f->path[0] != '/') {
        bool of_kernel = f->path[0] == '[' || strncmp(f->path, "linux-vdso", 10) == 0;
        if (!of_kernel)
            set_problem(f, "not an absolute path");
        f->is_usable = false;
        return;
    }
    struct sxs_elf_opened o;
    if (open_file(all, file, false, -1, &o) && (!o.is_usable || o.no_debug) &&
        sxs_debuginfod_enabled())
        ask_servers(all, file, &o);
}

/* Makes the texts of an answer the caller's. */
static void take_texts(struct sxs_natives *all, const struct sxs_elf_named *n, const char *text,
                       struct sxs_native_name *out)
{
    size_t room = (size_t)n->symbol_size + n->source_size + 2;
    if (room > all->text_room) {
        all->text = sxs_must(realloc(all->text, room));
        all->text_room = room;
    }
    char *source = all->text + n->symbol_size + 1;
    memcpy(all->text, text, n->symbol_size);
    all->text[n->symbol_size] = 0;
    memcpy(source, text + n->symbol_size, n->source_size);
    source[n->source_size] = 0;
    if (n->symbol_size)
        *out = (struct sxs_native_name){all->text, source, n->line, n->at_line};
}

static struct cached_name *cache_place(struct sxs_natives *all, uint32_t file, uint64_t address)
{
    return &all->cache[sxs_table_hash(&address, sizeof(address), file) % CACHE_PLACES];
}

static void keep_cached(struct cached_name *k, uint32_t file, uint64_t address,
                        const struct sxs_native_name *name)
{
    size_t symbol = strlen(name->symbol) + 1, source = strlen(name->source) + 1;
    if (symbol + source > CACHED_TEXT)
        return;
    k->text = sxs_must(realloc(k->text, symbol + source));
    memcpy(k->text, name->symbol, symbol);
    memcpy(k->text + symbol, name->source, source);
    *k = (struct cached_name){address,       file + 1,         name->line,
                              name->at_line, (uint32_t)symbol, k->text};
}

/* Looks up a name in the ELF file and its debug file. */
static void name_from_file(struct sxs_natives *all, uint32_t file, uint64_t address,
                           struct sxs_native_name *out)
{
    struct native_file *f = &all->files[file];
    struct cached_name *cached = cache_place(all, file, address);
    if (cached->file == file + 1 && cached->address == address) {
        *out = (struct sxs_native_name){cached->text, cached->text + cached->source, cached->line,
                                        cached->at_line};
        return;
    }
    if (f->is_usable && f->opened != sxs_symbol_worker_starts(all->worker))
        open_names(all, file);
    if (!f->is_usable)
        return;
    const struct sxs_elf_request r = {.file = file, .address = address};
    struct sxs_elf_named         n;
    const char                  *why, *texts;
    size_t                       got;
    int                          fd = -1;
    const void                  *answer =
        sxs_symbol_worker_ask(all->worker, &r, sizeof(r), !f->is_ours, &fd, &got, &why);
    if (fd >= 0)
        close(fd);
    if (answer && sxs_elf_named_read(answer, got, &n, &texts)) {
        take_texts(all, &n, texts, out);
        keep_cached(cached, file, address, out);
        return;
    }
    if (answer)
        why = sxs_symbol_worker_refuse(all->worker);
    f->is_usable = false;
    set_problem(f, why);
}

static void keep(struct sxs_names *record, const struct native_file *f, uint64_t address,
                 const struct sxs_native_name *name)
{
    struct sxs_names_row row = {name->symbol, name->source, name->line, name->at_line};
    if (strcmp(name->symbol, "?") != 0)
        sxs_names_add(record, f->kept, address, &row);
    if (f->problem)
        sxs_names_set_problem(record, f->kept, f->problem);
}

void sxs_natives_name(struct sxs_natives *all, uint32_t file, uint64_t address,
                      struct sxs_native_name *out)
{
    struct native_file  *f = &all->files[file];
    struct sxs_names_row row;
    *out = (struct sxs_native_name){"?", "", 0, 0};
    if (all->lookup.table && sxs_names_find(all->lookup.table, f->place, address, &row)) {
        *out = (struct sxs_native_name){row.symbol, row.source, row.line, row.at_line};
    } else {
        name_from_file(all, file, address, out);
    }
    if (all->lookup.record)
        keep(all->lookup.record, f, address, out);
}

const char *sxs_natives_problem(const struct sxs_natives *all, uint32_t file, bool *end)
{
    *end = file >= all->n;
    return *end ? NULL : all->files[file].problem;
}

void sxs_natives_free(struct sxs_natives *all)
{
    if (!all)
        return;
    for (size_t i = 0; i < all->n; i++) {
        free(all->files[i].path);
        free(all->files[i].problem);
    }
    for (size_t i = 0; i < CACHE_PLACES; i++)
        free(all->cache[i].text);
    sxs_symbol_worker_free(all->worker);
    sxs_index_free(&all->index);
    free(all->files);
    free(all->text);
    free(all->cache);
    free(all);
}
