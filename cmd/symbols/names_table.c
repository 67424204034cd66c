/* SPDX-License-Identifier: MIT */
#include "cmd/symbols/names_table.h"

#include "cmd/output/must.h"
#include "cmd/output/strings.h"
#include "names.pb-c.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { VERSION = 1 };

/* Memory that decoding can take, as a multiple of the size of the message: several times of what a
 * table with rows and texts takes. A message of empty places would take a hundred times its size. */
#define MEMORY_FACTOR 16u
#define MEMORY_BASE   (1u << 20)

struct name_row {
    uint64_t key;
    uint32_t symbol, source; /* strings */
    uint32_t line, at_line;
};

struct named_module {
    bool             managed;
    char            *path;     /* owned; as in the session, not cleaned */
    uint8_t         *build_id; /* owned */
    size_t           id_size;
    char            *problem; /* owned; NULL: none */
    struct name_row *rows;    /* owned */
    size_t           n, cap;
    size_t           sorted; /* how many rows are in order of keys, each key once */
};

struct sxs_names {
    struct sxs_strings   strings;
    struct named_module *places;
    size_t               n, cap;
};

struct sxs_names *sxs_names_new(void)
{
    struct sxs_names *names = sxs_must_zeroed(1, sizeof(*names));
    sxs_strings_add(&names->strings, "", 0);
    return names;
}

uint32_t sxs_names_place(const struct sxs_names *names, bool managed, const char *path,
                         const uint8_t *build_id, size_t id_size)
{
    for (size_t i = 0; i < names->n; i++) {
        const struct named_module *p = &names->places[i];
        if (p->managed == managed && p->id_size == id_size && strcmp(p->path, path) == 0 &&
            (!id_size || memcmp(p->build_id, build_id, id_size) == 0))
            return (uint32_t)i;
    }
    return SXS_NO_PLACE;
}

uint32_t sxs_names_add_place(struct sxs_names *names, bool managed, const char *path,
                             const uint8_t *build_id, size_t id_size)
{
    uint32_t found = sxs_names_place(names, managed, path, build_id, id_size);
    if (found != SXS_NO_PLACE)
        return found;
    SXS_GROW(names->places, names->n, names->cap);
    struct named_module *p = &names->places[names->n];
    *p = (struct named_module){
        .managed = managed, .path = sxs_must(strdup(path)), .id_size = id_size};
    p->build_id = sxs_must_zeroed(id_size, 1);
    if (id_size)
        memcpy(p->build_id, build_id, id_size);
    return (uint32_t)names->n++;
}

/* ---- rows ------------------------------------------------------------------------------------- */

static int by_key(const void *a, const void *b)
{
    const struct name_row *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static void sort_rows(struct named_module *p)
{
    size_t n = 0;
    if (p->sorted == p->n)
        return;
    qsort(p->rows, p->n, sizeof(*p->rows), by_key);
    for (size_t i = 0; i < p->n; i++)
        if (!n || p->rows[n - 1].key != p->rows[i].key)
            p->rows[n++] = p->rows[i];
    p->n = p->sorted = n;
}

void sxs_names_add(struct sxs_names *names, uint32_t place, uint64_t key,
                   const struct sxs_names_row *row)
{
    struct named_module *p = &names->places[place];
    if (p->n == p->cap) {
        sort_rows(p); /* removes rows whose key was added before, which are many */
        if (!p->rows || p->n > p->cap / 2) {
            p->cap = p->cap ? p->cap * 2 : 64;
            p->rows = sxs_must(reallocarray(p->rows, p->cap, sizeof(*p->rows)));
        }
    }
    p->rows[p->n++] = (struct name_row){
        .key = key,
        .symbol = sxs_strings_add(&names->strings, row->symbol, strlen(row->symbol)),
        .source = sxs_strings_add(&names->strings, row->source, strlen(row->source)),
        .line = row->line,
        .at_line = row->at_line,
    };
}

void sxs_names_set_problem(struct sxs_names *names, uint32_t place, const char *problem)
{
    struct named_module *p = &names->places[place];
    free(p->problem);
    p->problem = sxs_must(strdup(problem));
}

const char *sxs_names_problem(const struct sxs_names *names, uint32_t place)
{
    return place == SXS_NO_PLACE ? NULL : names->places[place].problem;
}

bool sxs_names_find(const struct sxs_names *names, uint32_t place, uint64_t key,
                    struct sxs_names_row *out)
{
    struct name_row wanted = {.key = key};
    if (place == SXS_NO_PLACE)
        return false;
    const struct named_module *p = &names->places[place];
    const struct name_row     *r =
        p->n ? bsearch(&wanted, p->rows, p->n, sizeof(*p->rows), by_key) : NULL;
    if (!r)
        return false;
    *out =
        (struct sxs_names_row){sxs_strings_text(&names->strings, r->symbol),
                               sxs_strings_text(&names->strings, r->source), r->line, r->at_line};
    return true;
}

size_t sxs_names_count(const struct sxs_names *names)
{
    size_t n = 0;
    for (size_t i = 0; i < names->n; i++)
        n += names->places[i].n;
    return n;
}

/* ---- encoding --------------------------------------------------------------------------------- */

static ProtobufCBinaryData text_bytes(char *text)
{
    return (ProtobufCBinaryData){text ? strlen(text) : 0, (uint8_t *)text};
}

/* Fills in @out. Its columns are parts of one owned allocation, which begins at out->key. */
static void encode_place(const struct named_module *p, Sxs__Names__Place *out)
{
    sxs__names__place__init(out);
    out->managed = p->managed;
    out->path = text_bytes(p->path);
    out->build_id = (ProtobufCBinaryData){p->id_size, p->build_id};
    out->problem = text_bytes(p->problem);
    out->key = sxs_must_zeroed(p->n, sizeof(*out->key) + 4 * sizeof(*out->line));
    out->symbol = (uint32_t *)(out->key + p->n);
    out->source = out->symbol + p->n;
    out->line = out->source + p->n;
    out->at_line = out->line + p->n;
    out->n_key = out->n_symbol = out->n_source = out->n_line = out->n_at_line = p->n;
    for (size_t i = 0; i < p->n; i++) {
        out->key[i] = p->rows[i].key;
        out->symbol[i] = p->rows[i].symbol;
        out->source[i] = p->rows[i].source;
        out->line[i] = p->rows[i].line;
        out->at_line[i] = p->rows[i].at_line;
    }
}

uint8_t *sxs_names_encode(struct sxs_names *names, size_t *size)
{
    Sxs__Names__Names    all = SXS__NAMES__NAMES__INIT;
    Sxs__Names__Place   *places = sxs_must_zeroed(names->n, sizeof(*places));
    Sxs__Names__Place  **list = sxs_must_zeroed(names->n, sizeof(*list));
    ProtobufCBinaryData *texts = sxs_must_zeroed(names->strings.n, sizeof(*texts));
    for (size_t i = 0; i < names->n; i++) {
        sort_rows(&names->places[i]);
        encode_place(&names->places[i], &places[i]);
        list[i] = &places[i];
    }
    for (size_t i = 0; i < names->strings.n; i++)
        texts[i] = text_bytes(names->strings.all[i].text);
    all.version = VERSION;
    all.place = list;
    all.n_place = names->n;
    all.text = texts;
    all.n_text = names->strings.n;
    uint8_t *bytes = sxs_must_zeroed(sxs__names__names__get_packed_size(&all), 1);
    *size = sxs__names__names__pack(&all, bytes);
    for (size_t i = 0; i < names->n; i++)
        free(places[i].key);
    free(places);
    free(list);
    free(texts);
    return bytes;
}

/* ---- decoding --------------------------------------------------------------------------------- */

/* An allocator with a limit; see MEMORY_FACTOR. */
static void *alloc_limited(void *left, size_t size)
{
    size_t *bytes = left;
    if (size > *bytes)
        return NULL;
    *bytes -= size;
    return malloc(size);
}

static void free_limited(void *left, void *p)
{
    (void)left;
    free(p);
}

/* Returns the bytes as owned text; NULL when they contain a zero byte. */
static char *copy_text(const ProtobufCBinaryData *b)
{
    if (b->len && memchr(b->data, 0, b->len))
        return NULL;
    return sxs_must(strndup(b->len ? (const char *)b->data : "", b->len));
}

/* @text: the strings of the table, by index in the message. */
static bool decode_rows(const Sxs__Names__Place *from, struct named_module *p, const uint32_t *text,
                        size_t n_text)
{
    size_t n = from->n_key;
    if (from->n_symbol != n || from->n_source != n || from->n_line != n || from->n_at_line != n)
        return false;
    p->rows = sxs_must_zeroed(n, sizeof(*p->rows));
    p->n = p->cap = p->sorted = n;
    for (size_t i = 0; i < n; i++) {
        if (from->symbol[i] >= n_text || from->source[i] >= n_text ||
            (i && from->key[i] <= from->key[i - 1]))
            return false;
        p->rows[i] = (struct name_row){from->key[i], text[from->symbol[i]], text[from->source[i]],
                                       from->line[i], from->at_line[i]};
    }
    return true;
}

static bool decode_place(struct sxs_names *names, const Sxs__Names__Place *from,
                         const uint32_t *text, size_t n_text)
{
    char *path = copy_text(&from->path), *problem = copy_text(&from->problem);
    bool  ok = path && problem;
    if (ok) {
        SXS_GROW(names->places, names->n, names->cap);
        struct named_module *p = &names->places[names->n++];
        *p = (struct named_module){
            .managed = from->managed, .path = path, .id_size = from->build_id.len};
        p->build_id = sxs_must_zeroed(p->id_size, 1);
        if (p->id_size)
            memcpy(p->build_id, from->build_id.data, p->id_size);
        if (*problem) {
            sxs_strings_clean(problem, strlen(problem));
            p->problem = problem;
            problem = NULL;
        }
        path = NULL;
        ok = decode_rows(from, p, text, n_text);
    }
    free(path);
    free(problem);
    return ok;
}

struct sxs_names *sxs_names_decode(const uint8_t *bytes, size_t size, const char **why)
{
    size_t             left = size * MEMORY_FACTOR + MEMORY_BASE;
    ProtobufCAllocator limited = {alloc_limited, free_limited, &left};
    Sxs__Names__Names *all = sxs__names__names__unpack(&limited, size, bytes);
    struct sxs_names  *names = NULL;
    bool               ok = all != NULL;
    *why = "damaged";
    if (all && all->version != VERSION) {
        *why = "a format that this version does not read";
        ok = false;
    }
    if (ok) {
        uint32_t *text = sxs_must_zeroed(all->n_text, sizeof(*text));
        names = sxs_names_new();
        for (size_t i = 0; i < all->n_text; i++)
            text[i] = sxs_strings_add(&names->strings,
                                      all->text[i].len ? (const char *)all->text[i].data : "",
                                      all->text[i].len);
        for (size_t i = 0; ok && i < all->n_place; i++)
            ok = decode_place(names, all->place[i], text, all->n_text);
        free(text);
    }
    if (all)
        sxs__names__names__free_unpacked(all, &limited);
    if (!ok) {
        sxs_names_free(names);
        return NULL;
    }
    *why = NULL;
    return names;
}

struct sxs_names *sxs_names_read(int dir_fd, const char **why)
{
    struct stat       st;
    struct sxs_names *names = NULL;
    int fd = openat(dir_fd, SXS_NAMES_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    *why = fd < 0 && errno != ENOENT ? strerror(errno) : NULL;
    if (fd < 0)
        return NULL;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > (off_t)SXS_MAX_NAMES) {
        *why = "not a file of names";
    } else {
        size_t   size = (size_t)st.st_size;
        uint8_t *bytes = sxs_must_zeroed(size, 1);
        if (pread(fd, bytes, size, 0) == (ssize_t)size)
            names = sxs_names_decode(bytes, size, why);
        else
            *why = "cannot be read";
        free(bytes);
    }
    close(fd);
    return names;
}

void sxs_names_free(struct sxs_names *names)
{
    if (!names)
        return;
    for (size_t i = 0; i < names->n; i++) {
        free(names->places[i].path);
        free(names->places[i].build_id);
        free(names->places[i].problem);
        free(names->places[i].rows);
    }
    free(names->places);
    sxs_strings_free(&names->strings);
    free(names);
}
