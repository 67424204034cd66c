/* SPDX-License-Identifier: MIT */
#include "cmd/heap/values.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/text/plain_type.h"
#include "cmd/output/json_document.h"
#include "cmd/output/must.h"
#include "cmd/output/print.h"
#include "cmd/report/format.h"

const char *sxs_heap_values_text(const struct sxs_heap_values *v, uint32_t number)
{
    return sxs_strings_text(&v->strings, number);
}

/* ---- loading ---- */

bool sxs_heap_values_answer(const struct sxs_heap_values *v, const struct sxs_heap_line *line,
                            const struct sxs_heap_wanted *wanted)
{
    const char *name = sxs_heap_values_text(v, line->name);
    char        a[1024], b[1024];
    if (wanted->address)
        return strncmp(name, "0x", 2) == 0 &&
               (strtoull(name, NULL, 16) == wanted->address || line->address == wanted->address);
    return strcmp(name, wanted->text) == 0 ||
           strcmp(sxs_plain_type(name, a, sizeof(a)), sxs_plain_type(wanted->text, b, sizeof(b))) ==
               0;
}

static uint32_t keep(struct sxs_heap_values *v, struct sxs_heap_text text)
{
    return sxs_strings_add(&v->strings, text.at, text.size);
}

static void note_values(struct sxs_heap_values *v, struct sxs_heap_reader *r,
                        const struct sxs_heap_wanted *wanted, size_t n)
{
    struct sxs_heap_value_item i;
    while (sxs_heap_take_value(r, &i)) {
        struct sxs_heap_line line = {
            r->runtime, i.what,          i.depth,          i.address,       i.offset,        i.size,
            i.object,   keep(v, i.name), keep(v, i.owner), keep(v, i.type), keep(v, i.value)};
        if (i.depth == 0) {
            v->open = false;
            for (size_t k = 0; k < n; k++)
                v->open |= sxs_heap_values_answer(v, &line, &wanted[k]);
        }
        if (!v->open)
            continue;
        SXS_GROW(v->all, v->n, v->cap);
        v->all[v->n++] = line;
    }
}

static void note_block(struct sxs_heap_values *v, struct sxs_heap_reader *r,
                       const struct sxs_heap_wanted *wanted, size_t n)
{
    struct sxs_heap_bounds_item  bounds;
    struct sxs_heap_runtime_item runtime;
    if (r->kind == SXS_HEAP_VALUES)
        note_values(v, r, wanted, n);
    if (r->kind == SXS_HEAP_RUNTIME && r->runtime < ARRAY_LEN(v->versions) &&
        sxs_heap_take_runtime(r, &runtime))
        v->versions[r->runtime] = keep(v, runtime.version);
    while (r->kind == SXS_HEAP_BOUNDS && sxs_heap_take_bounds(r, &bounds)) {
        SXS_GROW(v->bounds, v->n_bounds, v->cap_bounds);
        SXS_GROW(v->bounds_of, v->n_bounds, v->cap_bounds_of);
        v->bounds[v->n_bounds] = bounds;
        v->bounds_of[v->n_bounds++] = r->runtime;
    }
}

int sxs_heap_values_load(int folder_fd, uint32_t number, uint32_t runtime,
                         const struct sxs_heap_wanted *wanted, size_t n,
                         struct sxs_heap_values *out, char *why, size_t why_size)
{
    struct sxs_heap_reader r;
    int err = sxs_heap_reader_open(&r, SXS_FILES_OF(folder_fd), number, why, why_size);
    memset(out, 0, sizeof(*out));
    if (err)
        return err;
    sxs_strings_add(&out->strings, "", 0);
    while (sxs_heap_reader_next(&r))
        if (!runtime || r.runtime == runtime)
            note_block(out, &r, wanted, n);
    sxs_heap_reader_close(&r);
    return sxs_thread_names_read(SXS_FILES_OF(folder_fd), &out->threads);
}

void sxs_heap_values_free(struct sxs_heap_values *v)
{
    free(v->all);
    free(v->bounds);
    free(v->bounds_of);
    sxs_thread_names_free(&v->threads);
    sxs_strings_free(&v->strings);
}

/* ---- writing ---- */

const char *sxs_heap_values_version(const struct sxs_heap_values *v, uint32_t runtime)
{
    return runtime < ARRAY_LEN(v->versions) ? sxs_heap_values_text(v, v->versions[runtime]) : "";
}

static unsigned generation_of(const struct sxs_heap_values *v, const struct sxs_heap_line *line)
{
    for (size_t i = 0; i < v->n_bounds; i++)
        if (v->bounds_of[i] == line->runtime && line->address >= v->bounds[i].start &&
            line->address - v->bounds[i].start < v->bounds[i].size)
            return v->bounds[i].generation;
    return 0;
}

static void write_head(FILE *to, const struct sxs_heap_values *v, const struct sxs_heap_line *line)
{
    const char *value = sxs_heap_values_text(v, line->value),
               *name = sxs_heap_values_text(v, line->name);
    const char *thread = sxs_thread_names_of(&v->threads, (uint32_t)line->offset, 0, 0, NULL);
    sxs_print_to(to, "%s", name);
    if (line->what == SXS_HEAP_VALUE_OBJECT && line->address != strtoull(name, NULL, 16))
        sxs_print_to(to, ", moved to 0x%" PRIx64, line->address);
    fputs(": ", to);
    if (!sxs_heap_line_has_value(line)) {
        sxs_print_to(to, "%s (runtime %u, %s)\n", value, line->runtime,
                     sxs_heap_values_version(v, line->runtime));
        return;
    }
    sxs_print_to(to, "%s%s%s", sxs_heap_values_text(v, line->type), *value ? " = " : "", value);
    if (line->what != SXS_HEAP_VALUE_OBJECT && line->object)
        sxs_print_to(to, " @0x%" PRIx64, line->object);
    sxs_print_to(to, " (runtime %u, %s", line->runtime, sxs_heap_values_version(v, line->runtime));
    if (line->size)
        sxs_print_to(to, "; %" PRIu64 " bytes", line->size);
    if (line->what == SXS_HEAP_VALUE_OBJECT && v->n_bounds)
        sxs_print_to(to, "; %s", sxs_heap_generation_text(generation_of(v, line)));
    if (line->what == SXS_HEAP_VALUE_THREAD_STATIC)
        sxs_print_to(to, "; thread %" PRIu64 "%s%s", line->offset, *thread ? " " : "", thread);
    if (line->what == SXS_HEAP_VALUE_RVA_STATIC)
        fputs("; in the file of its module", to);
    fputs(")\n", to);
}

static void write_part(FILE *to, const struct sxs_heap_values *v, const struct sxs_heap_line *line)
{
    const char *value = sxs_heap_values_text(v, line->value),
               *owner = sxs_heap_values_text(v, line->owner);
    const char *type = sxs_heap_values_text(v, line->type);
    sxs_print_to(to, "  %+6" PRId64 "  %*s%s", (int64_t)line->offset, (int)(line->depth - 1) * 2,
                 "", sxs_heap_values_text(v, line->name));
    if (*type)
        sxs_print_to(to, ": %s", type);
    if (*value)
        sxs_print_to(to, " = %s", value);
    if (line->object)
        sxs_print_to(to, " @0x%" PRIx64, line->object);
    if (*owner)
        sxs_print_to(to, " (of %s)", owner);
    fputs("\n", to);
}

void sxs_heap_write_values(FILE *to, const struct sxs_heap_values *v)
{
    for (size_t i = 0; i < v->n; i++) {
        const struct sxs_heap_line *line = &v->all[i];
        if (line->depth)
            write_part(to, v, line);
        else if (line->what != SXS_HEAP_VALUE_UNKNOWN)
            write_head(to, v, line);
    }
}

static void write_text(FILE *to, const struct sxs_heap_values *v, const char *name, uint32_t number)
{
    sxs_print_to(to, "\"%s\": ", name);
    sxs_json_string(to, sxs_heap_values_text(v, number));
    fputs(", ", to);
}

static void write_json_line(FILE *to, const struct sxs_heap_values *v,
                            const struct sxs_heap_line *line)
{
    static const char *const whats[] = {"field",      "object", "static", "thread static",
                                        "rva static", "none",   "unknown"};
    sxs_print_to(to, "{\"runtime\": %u, \"what\": \"%s\", \"depth\": %u, ", line->runtime,
                 line->what < ARRAY_LEN(whats) ? whats[line->what] : "?", line->depth);
    write_text(to, v, "name", line->name);
    write_text(to, v, "owner", line->owner);
    write_text(to, v, "type", line->type);
    write_text(to, v, "value", line->value);
    if (line->what == SXS_HEAP_VALUE_OBJECT)
        sxs_print_to(to, "\"generation\": %u, ", generation_of(v, line));
    sxs_print_to(to,
                 "\"address\": \"0x%" PRIx64 "\", \"object\": \"0x%" PRIx64 "\", \"%s\": %" PRIu64
                 ", \"size_bytes\": %" PRIu64 "}",
                 line->address, line->object,
                 line->what == SXS_HEAP_VALUE_THREAD_STATIC ? "thread_number" : "offset_bytes",
                 line->offset, line->size);
}

void sxs_heap_write_values_json(FILE *to, const struct sxs_heap_values *v)
{
    sxs_json_document_begin(to, SXS_JSON_HEAP_VALUES);
    fputs(",\n\"heap_values\": [", to);
    for (size_t i = 0; i < v->n; i++) {
        fputs(i ? ",\n" : "\n", to);
        write_json_line(to, v, &v->all[i]);
    }
    fputs("]\n}\n", to);
}
