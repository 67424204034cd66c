/* SPDX-License-Identifier: MIT */
/* Reads a Portable PDB: metadata tables (ECMA-335 II.24) with documents and sequence points. */
#include "cmd/symbols/portable_pdb.h"

#include "cmd/output/must.h"
#include "instr/metadata/compressed.h"

#include <string.h>
#include <unistd.h>

#define MAX_PATH_BYTES 4096u

struct span {
    const uint8_t *at;
    size_t         n;
};

struct sxs_pdb {
    uint8_t    *owned; /* the whole PDB; NULL when the caller owns the bytes */
    struct span blobs, documents, methods; /* documents, methods: tables, as consecutive rows */
    size_t      n_documents, n_methods;
    size_t      document_row, method_row; /* size of a row, bytes */
    uint8_t     blob_index, guid_index, document_index; /* size of an index, bytes */
    uint64_t    steps; /* bytes of methods that searches have read */
    uint32_t    named; /* the document whose name is in `name`; 0: none */
    char        name[MAX_PATH_BYTES];
};

/* ---- bytes ------------------------------------------------------------------------------------ */

/* Returns an unsigned little-endian number of @size bytes; 0 when it is beyond the end. */
static uint64_t number(struct span s, size_t at, size_t size)
{
    uint64_t v = 0;
    if (at > s.n || s.n - at < size)
        return 0;
    for (size_t i = size; i-- > 0;)
        v = v << 8 | s.at[at + i];
    return v;
}

static struct span part(struct span s, uint64_t at, uint64_t n)
{
    if (at > s.n || s.n - at < n)
        return (struct span){s.at, 0};
    return (struct span){s.at + at, (size_t)n};
}

/* Takes a compressed unsigned number (II.23.2) off the front of @s. Returns its size in bytes, or 0
 * when there is none. */
static unsigned take(struct span *s, uint32_t *out)
{
    unsigned size = sxs_compressed_read(s->at, s->at + s->n, out);
    *s = part(*s, size, s->n - size);
    return size;
}

static bool take_signed(struct span *s, int32_t *out)
{
    uint32_t v;
    unsigned size = take(s, &v);
    if (size)
        *out = sxs_compressed_signed(v, size);
    return size != 0;
}

static struct span blob(const struct sxs_pdb *p, uint64_t index)
{
    struct span rest = part(p->blobs, index, index <= p->blobs.n ? p->blobs.n - index : 1);
    uint32_t    size;
    if (!index || !take(&rest, &size))
        return (struct span){p->blobs.at, 0};
    return part(rest, 0, size);
}

/* ---- streams and tables ----------------------------------------------------------------------- */

enum { METADATA = 0x424a5342, DOCUMENT = 0x30, METHOD_DEBUG_INFORMATION = 0x31 };
enum { BIG_GUIDS = 2, BIG_BLOBS = 4, SMALL_ROWS = 0x10000 };

/* Finds the offset and the size of the stream with this name; false when there is none. @all: at
 * least the header with the list of streams. */
static bool find_stream(struct span all, const char *name, uint32_t *offset, uint32_t *size)
{
    uint64_t version = number(all, 12, 4), at = 16 + version;
    size_t   n = (size_t)number(all, at + 2, 2);
    at += 4;
    for (size_t i = 0; i < n && at + 8 < all.n; i++) {
        const char *text = (const char *)all.at + at + 8;
        size_t      len = strnlen(text, all.n - at - 8);
        if (at + 8 + len >= all.n)
            break;
        if (strcmp(text, name) == 0) {
            *offset = (uint32_t)number(all, at, 4);
            *size = (uint32_t)number(all, at + 4, 4);
            return true;
        }
        at += 8 + (len + 4) / 4 * 4;
    }
    return false;
}

/* Returns the stream with this name; empty when there is none. */
static struct span stream(struct span all, const char *name)
{
    uint32_t offset, size;
    if (!find_stream(all, name, &offset, &size))
        return (struct span){all.at, 0};
    return part(all, offset, size);
}

bool sxs_pdb_read_id(int fd, uint8_t *id)
{
    uint8_t     head[4096];
    uint32_t    offset, size;
    ssize_t     n = pread(fd, head, sizeof(head), 0);
    struct span all = {head, n > 0 ? (size_t)n : 0};
    return number(all, 0, 4) == METADATA && find_stream(all, "#Pdb", &offset, &size) &&
           size >= SXS_PDB_ID_SIZE &&
           pread(fd, id, SXS_PDB_ID_SIZE, offset) == (ssize_t)SXS_PDB_ID_SIZE;
}

/* Finds the two tables. A PDB contains none of the tables of a module, so these two are the
 * first. */
static bool read_tables(struct sxs_pdb *p, struct span tables)
{
    uint64_t valid = number(tables, 8, 8);
    uint8_t  heaps = (uint8_t)number(tables, 6, 1);
    size_t   at = 24 + 4 * (size_t)__builtin_popcountll(valid), rows = 24;
    if (valid & ((1ull << DOCUMENT) - 1) || !(valid >> METHOD_DEBUG_INFORMATION & 1))
        return false;
    if (valid >> DOCUMENT & 1) {
        p->n_documents = (size_t)number(tables, rows, 4);
        rows += 4;
    }
    p->n_methods = (size_t)number(tables, rows, 4);
    p->blob_index = heaps & BIG_BLOBS ? 4 : 2;
    p->guid_index = heaps & BIG_GUIDS ? 4 : 2;
    p->document_index = p->n_documents < SMALL_ROWS ? 2 : 4;
    p->document_row = 2u * p->blob_index + 2u * p->guid_index;
    p->method_row = p->document_index + p->blob_index;
    p->documents = part(tables, at, p->n_documents * p->document_row);
    p->methods = part(tables, at + p->n_documents * p->document_row, p->n_methods * p->method_row);
    return p->methods.n != 0 && p->documents.n != 0;
}

struct sxs_pdb *sxs_pdb_parse(const uint8_t *bytes, size_t size, const uint8_t *id)
{
    struct span     all = {bytes, size};
    struct sxs_pdb *p = sxs_must_zeroed(1, sizeof(*p));
    struct span     own = stream(all, "#Pdb");
    p->blobs = stream(all, "#Blob");
    if (number(all, 0, 4) == METADATA && own.n >= SXS_PDB_ID_SIZE &&
        (!id || memcmp(own.at, id, SXS_PDB_ID_SIZE) == 0) && read_tables(p, stream(all, "#~")))
        return p;
    free(p);
    return NULL;
}

struct sxs_pdb *sxs_pdb_take(uint8_t *bytes, size_t size, const uint8_t *id)
{
    struct sxs_pdb *p = bytes ? sxs_pdb_parse(bytes, size, id) : NULL;
    if (p)
        p->owned = bytes;
    else
        free(bytes);
    return p;
}

uint64_t sxs_pdb_steps(const struct sxs_pdb *p)
{
    return p->steps;
}

void sxs_pdb_close(struct sxs_pdb *p)
{
    if (p)
        free(p->owned);
    free(p);
}

/* ---- documents -------------------------------------------------------------------------------- */

/* Returns the name of a document, which is stored as a separator and the blobs of its parts; ""
 * when it has none. */
static const char *document_name(struct sxs_pdb *p, uint32_t document)
{
    size_t      len = 0, n_parts = 0;
    uint32_t    index;
    if (document == p->named)
        return p->name;
    p->named = document;
    p->name[0] = 0;
    if (!document || document > p->n_documents)
        return p->name;
    struct span parts =
        blob(p, number(p->documents, (document - 1) * p->document_row, p->blob_index));
    if (!parts.n)
        return p->name;
    char separator = (char)parts.at[0];
    parts = part(parts, 1, parts.n - 1);
    for (bool first = true; take(&parts, &index); first = false) {
        struct span text = blob(p, index);
        if (len + text.n + 2 > sizeof(p->name) || n_parts++ == sizeof(p->name))
            break;
        if (!first && separator)
            p->name[len++] = separator;
        memcpy(p->name + len, text.at, text.n);
        len += text.n;
    }
    p->name[len] = 0;
    return p->name;
}

/* ---- sequence points -------------------------------------------------------------------------- */

struct point {
    uint32_t il, line, document;
    bool     hidden;
};

struct points {
    struct span rest;
    struct point at;
    bool        begun, line_known;
};

static bool points_of(const struct sxs_pdb *p, uint32_t token, struct points *out)
{
    uint32_t row = token & 0xffffff, signature;
    size_t   at = (size_t)(row - 1) * p->method_row;
    memset(out, 0, sizeof(*out));
    if (token >> 24 != 6 || !row || row > p->n_methods)
        return false;
    out->at.document = (uint32_t)number(p->methods, at, p->document_index);
    out->rest = blob(p, number(p->methods, at + p->document_index, p->blob_index));
    return take(&out->rest, &signature) && (out->at.document || take(&out->rest, &out->at.document));
}

/* Takes the start of a visible point: absolute in the first one, then relative to the previous
 * one. */
static bool take_start(struct points *s)
{
    uint32_t line, column;
    int32_t  lines, columns;
    if (!s->line_known) {
        s->line_known = true;
        if (!take(&s->rest, &line) || !take(&s->rest, &column))
            return false;
        s->at.line = line;
        return true;
    }
    if (!take_signed(&s->rest, &lines) || !take_signed(&s->rest, &columns))
        return false;
    s->at.line += (uint32_t)lines;
    return true;
}

static bool next_point(struct points *s)
{
    uint32_t il, lines, columns;
    int32_t  signed_columns;
    while (take(&s->rest, &il)) {
        if (s->begun && il == 0) { /* the next points are in another document */
            if (!take(&s->rest, &s->at.document))
                return false;
            continue;
        }
        s->begun = true;
        s->at.il += il;
        if (!take(&s->rest, &lines) ||
            !(lines ? take_signed(&s->rest, &signed_columns) : take(&s->rest, &columns)))
            return false;
        s->at.hidden = !lines && !columns;
        return s->at.hidden || take_start(s);
    }
    return false;
}

static bool tell(struct sxs_pdb *p, const struct point *at, struct sxs_pdb_line *out)
{
    if (!at->line || at->line > INT32_MAX)
        return false;
    out->file = document_name(p, at->document);
    out->line = at->line;
    return out->file[0] != 0;
}

bool sxs_pdb_find(struct sxs_pdb *p, uint32_t token, uint32_t il, struct sxs_pdb_line *out)
{
    struct points s;
    struct point  best = {0};
    if (!points_of(p, token, &s))
        return false;
    size_t all = s.rest.n;
    while (next_point(&s)) {
        if (s.at.il > il && best.line)
            break;
        if (!s.at.hidden)
            best = s.at;
    }
    p->steps += all - s.rest.n;
    return tell(p, &best, out);
}
