/* SPDX-License-Identifier: MIT */
/* instr/metadata/metadata.c - find the streams and tables of metadata in a PE file, and read their
 * rows as a table of columns describes them. */
#include "instr/metadata/metadata.h"

#include <string.h>

#include "instr/metadata/compressed.h"

/* ---- columns --------------------------------------------------------------------------------- */

/* The columns of each table, one letter a column. '2', '4': a number of so many bytes. 'S', 'B',
 * 'G': an index into the heap of strings, blobs or GUIDs. '#': an index into the table whose number
 * is the next character. A lower-case letter: a coded index, see coded[]. */
static const char *const columns[SXS_N_TABLES] = {
    [0x00] = "2SGGG",
    [0x01] = "rSS",
    [0x02] = "4SSt#\x04#\x06",
    [0x03] = "#\x04",
    [0x04] = "2SB",
    [0x05] = "#\x06",
    [0x06] = "422SB#\x08",
    [0x07] = "#\x08",
    [0x08] = "22S",
    [0x09] = "#\x02t",
    [0x0a] = "pSB",
    [0x0b] = "2cB",
    [0x0c] = "auB",
    [0x0d] = "mB",
    [0x0e] = "2dB",
    [0x0f] = "24#\x02",
    [0x10] = "4#\x04",
    [0x11] = "B",
    [0x12] = "#\x02#\x14",
    [0x13] = "#\x14",
    [0x14] = "2St",
    [0x15] = "#\x02#\x17",
    [0x16] = "#\x17",
    [0x17] = "2SB",
    [0x18] = "2#\x06s",
    [0x19] = ("#\x02" "ee"),
    [0x1a] = "S",
    [0x1b] = "B",
    [0x1c] = "2fS#\x1a",
    [0x1d] = "4#\x04",
    [0x1e] = "44",
    [0x1f] = "4",
    [0x20] = "422224BSS",
    [0x21] = "4",
    [0x22] = "444",
    [0x23] = "22224BSSB",
    [0x24] = "4#\x23",
    [0x25] = "444#\x23",
    [0x26] = "4SB",
    [0x27] = "44SSi",
    [0x28] = "44Si",
    [0x29] = "#\x02#\x02",
    [0x2a] = "22oS",
    [0x2b] = "eB",
    [0x2c] = "#\x2at",
};

#define NO 0xff
static const struct coded {
    char    letter;
    uint8_t bits;
    uint8_t n;
    uint8_t tables[22];
} coded[] = {
    {'t', 2, 3, {0x02, 0x01, 0x1b}},
    {'c', 2, 3, {0x04, 0x08, 0x17}},
    {'a', 5, 22, {0x06, 0x04, 0x01, 0x02, 0x08, 0x09, 0x0a, 0x00, 0x0e, 0x17, 0x14,
                  0x11, 0x1a, 0x1b, 0x20, 0x23, 0x26, 0x27, 0x28, 0x2a, 0x2c, 0x2b}},
    {'m', 1, 2, {0x04, 0x08}},
    {'d', 2, 3, {0x02, 0x06, 0x20}},
    {'p', 3, 5, {0x02, 0x01, 0x1a, 0x06, 0x1b}},
    {'s', 1, 2, {0x14, 0x17}},
    {'e', 1, 2, {0x06, 0x0a}},
    {'f', 1, 2, {0x04, 0x06}},
    {'i', 2, 3, {0x26, 0x23, 0x27}},
    {'u', 3, 4, {NO, NO, 0x06, 0x0a}},
    {'r', 2, 4, {0x00, 0x1a, 0x23, 0x01}},
    {'o', 1, 2, {0x02, 0x06}},
};

static const struct coded *coded_of(char letter)
{
    for (size_t i = 0; i < sizeof(coded) / sizeof(coded[0]); i++)
        if (coded[i].letter == letter)
            return &coded[i];
    return NULL;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static uint32_t read_number(struct sxs_blob b, size_t at, unsigned size)
{
    uint32_t v = 0;
    if (at <= b.size && b.size - at >= size)
        memcpy(&v, b.at + at, size);
    return v;
}

static struct sxs_blob part_of(struct sxs_blob b, uint64_t at, uint64_t size)
{
    if (at > b.size || size > b.size - at)
        return (struct sxs_blob){b.at, 0};
    return (struct sxs_blob){b.at + at, (size_t)size};
}

/* ---- the file -------------------------------------------------------------------------------- */

#define CLI_SIZE 72

struct sxs_blob sxs_md_at_rva(const struct sxs_metadata *md, uint32_t rva)
{
    uint32_t left = 0;
    uint64_t at = sxs_pe_offset(&md->pe, rva, &left);
    return part_of(md->file, at, left);
}

/* Finds the CLI header, to which the PE header points. */
static struct sxs_blob find_cli(struct sxs_metadata *md)
{
    uint32_t rva = 0, size = 0;
    if (sxs_pe_parse(md->file.at, md->file.size, &md->pe) != 0)
        return (struct sxs_blob){md->file.at, 0};
    sxs_pe_directory(&md->pe, SXS_PE_CLI, &rva, &size);
    return part_of(sxs_md_at_rva(md, rva), 0, CLI_SIZE);
}

/* Finds the metadata root, to which the CLI header points. */
static struct sxs_blob find_root(struct sxs_metadata *md)
{
    struct sxs_blob cli = find_cli(md);
    return part_of(sxs_md_at_rva(md, read_number(cli, 8, 4)), 0, read_number(cli, 12, 4));
}

struct sxs_blob sxs_metadata_part(enum sxs_metadata_step step, const uint8_t *file, size_t size)
{
    struct sxs_metadata md = {.file = {file, size}};
    switch (step) {
    case SXS_METADATA_HEADERS:
        return part_of(md.file, 0, size < SXS_PE_HEADERS_SIZE ? size : SXS_PE_HEADERS_SIZE);
    case SXS_METADATA_CLI: return find_cli(&md);
    default: return find_root(&md);
    }
}

/* ---- streams --------------------------------------------------------------------------------- */

static struct sxs_blob find_streams(struct sxs_metadata *md, struct sxs_blob root)
{
    struct sxs_blob tables = {NULL, 0};
    size_t          at = 16 + read_number(root, 12, 4);
    uint32_t        n = read_number(root, at + 2, 2);
    at += 4;
    for (uint32_t i = 0; i < n && at < root.size; i++) {
        struct sxs_blob stream =
            part_of(root, read_number(root, at, 4), read_number(root, at + 4, 4));
        const char     *name = (const char *)root.at + at + 8;
        size_t          max = root.size > at + 8 ? root.size - at - 8 : 0;
        size_t          len = strnlen(max ? name : "", max < 32 ? max : 32);
        if (len == 2 && (!memcmp(name, "#~", 2) || !memcmp(name, "#-", 2)))
            tables = stream;
        else if (len == 8 && !memcmp(name, "#Strings", 8))
            md->strings = stream;
        else if (len == 5 && !memcmp(name, "#Blob", 5))
            md->blobs = stream;
        else if (len == 3 && !memcmp(name, "#US", 3))
            md->user_strings = stream;
        else if (len == 5 && !memcmp(name, "#GUID", 5))
            md->guids = stream;
        at += 8 + ((len + 4) & ~(size_t)3);
    }
    return tables;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static unsigned width_of(const struct sxs_metadata *md, char column, unsigned table, unsigned heaps)
{
    const struct coded *c;
    uint32_t            max = 0;
    switch (column) {
    case '2': return 2;
    case '4': return 4;
    case 'S': return heaps & 1 ? 4 : 2;
    case 'G': return heaps & 2 ? 4 : 2;
    case 'B': return heaps & 4 ? 4 : 2;
    case '#': return md->tables[table].n_rows > 0xffff ? 4 : 2;
    default: break;
    }
    c = coded_of(column);
    for (unsigned i = 0; i < c->n; i++)
        if (c->tables[i] != NO && md->tables[c->tables[i]].n_rows > max)
            max = md->tables[c->tables[i]].n_rows;
    return max > 0xffffu >> c->bits ? 4 : 2;
}

static void measure_table(struct sxs_metadata *md, struct sxs_md_table *t, const char *c,
                          unsigned heaps)
{
    unsigned n = 0;
    for (; *c; c++, n++) {
        char letter = *c;
        t->offsets[n] = t->row_size;
        t->widths[n] =
            (uint8_t)width_of(md, letter, letter == '#' ? (unsigned char)*++c : 0, heaps);
        t->row_size = (uint16_t)(t->row_size + t->widths[n]);
    }
}

static int find_tables(struct sxs_metadata *md, struct sxs_blob s)
{
    uint64_t valid = read_number(s, 8, 4) | (uint64_t)read_number(s, 12, 4) << 32;
    unsigned heaps = read_number(s, 6, 1);
    size_t   at = 24;
    if (s.size < at || valid >> SXS_N_TABLES)
        return -1;
    for (unsigned t = 0; t < SXS_N_TABLES; t++)
        if (valid >> t & 1) {
            md->tables[t].n_rows = read_number(s, at, 4);
            at += 4;
        }
    if (heaps & 0x40)
        at += 4;
    for (unsigned t = 0; t < SXS_N_TABLES; t++) {
        struct sxs_md_table *table = &md->tables[t];
        struct sxs_blob      rows;
        measure_table(md, table, columns[t], heaps);
        rows = part_of(s, at, (uint64_t)table->n_rows * table->row_size);
        if (table->n_rows && !rows.size)
            return -1;
        table->rows = rows.at;
        at += rows.size;
    }
    return 0;
}

int sxs_metadata_read(struct sxs_metadata *md, const uint8_t *file, size_t size)
{
    struct sxs_blob root, tables;
    memset(md, 0, sizeof(*md));
    md->file = (struct sxs_blob){file, size};
    root = find_root(md);
    if (read_number(root, 0, 4) != 0x424a5342)
        return -1;
    tables = find_streams(md, root);
    return tables.size ? find_tables(md, tables) : -1;
}

/* ---- rows ------------------------------------------------------------------------------------ */

uint32_t sxs_md_rows(const struct sxs_metadata *md, enum sxs_table table)
{
    return (unsigned)table < SXS_N_TABLES ? md->tables[table].n_rows : 0;
}

/* Returns the letter of a column; for '#' also the number of the table in *of. */
static char letter_of(enum sxs_table table, unsigned column, unsigned *of)
{
    const char *c = columns[table];
    for (unsigned n = 0; *c; c++, n++) {
        char letter = *c;
        if (letter == '#')
            *of = (unsigned char)*++c;
        if (n == column)
            return letter;
    }
    return 0;
}

uint32_t sxs_md_cell(const struct sxs_metadata *md, enum sxs_table table, uint32_t row,
                     unsigned column)
{
    const struct sxs_md_table *t;
    const struct coded        *c;
    unsigned                   of = 0, tag;
    uint32_t                   v = 0;
    char                       letter;
    if (!row || row > sxs_md_rows(md, table))
        return 0;
    t = &md->tables[table];
    memcpy(&v, t->rows + (size_t)(row - 1) * t->row_size + t->offsets[column], t->widths[column]);
    letter = letter_of(table, column, &of);
    if (letter == '#')
        return v <= 0xffffff ? sxs_token((enum sxs_table)of, v) : 0;
    c = letter >= 'a' ? coded_of(letter) : NULL;
    if (!c)
        return v;
    tag = v & ((1u << c->bits) - 1);
    return tag < c->n && c->tables[tag] != NO && v >> c->bits <= 0xffffff
               ? sxs_token((enum sxs_table)c->tables[tag], v >> c->bits)
               : 0;
}

/* ---- heaps ----------------------------------------------------------------------------------- */

const char *sxs_md_string(const struct sxs_metadata *md, uint32_t index)
{
    if (index >= md->strings.size || !memchr(md->strings.at + index, 0, md->strings.size - index))
        return "";
    return (const char *)md->strings.at + index;
}

static struct sxs_blob read_sized(struct sxs_blob heap, uint32_t index)
{
    uint32_t size = 0;
    unsigned head =
        index < heap.size ? sxs_compressed_read(heap.at + index, heap.at + heap.size, &size) : 0;
    return part_of(heap, (uint64_t)index + head, head ? size : 0);
}

struct sxs_blob sxs_md_blob(const struct sxs_metadata *md, uint32_t index)
{
    return read_sized(md->blobs, index);
}

struct sxs_blob sxs_md_user_string(const struct sxs_metadata *md, uint32_t token)
{
    struct sxs_blob b = read_sized(md->user_strings, token & 0xffffff);
    b.size &= ~(size_t)1;
    return b;
}

struct sxs_blob sxs_md_guid(const struct sxs_metadata *md)
{
    uint32_t at = sxs_md_cell(md, SXS_TABLE_MODULE, 1, 2); /* GUIDs are numbered from 1 */
    return at ? part_of(md->guids, 16 * (uint64_t)(at - 1), 16) : (struct sxs_blob){NULL, 0};
}

/* ---- tokens ---------------------------------------------------------------------------------- */

struct sxs_blob sxs_md_signature(const struct sxs_metadata *md, uint32_t token)
{
    enum sxs_table table = (enum sxs_table)(token >> 24);
    uint32_t       row = token & 0xffffff;
    unsigned       column;
    switch (table) {
    case SXS_TABLE_METHOD_DEF: column = SXS_METHOD_DEF_SIGNATURE; break;
    case SXS_TABLE_MEMBER_REF: column = SXS_MEMBER_REF_SIGNATURE; break;
    case SXS_TABLE_FIELD: column = SXS_FIELD_SIGNATURE; break;
    case SXS_TABLE_STAND_ALONE_SIG: column = SXS_STAND_ALONE_SIG_SIGNATURE; break;
    case SXS_TABLE_TYPE_SPEC: column = SXS_TYPE_SPEC_SIGNATURE; break;
    case SXS_TABLE_METHOD_SPEC:
        token = sxs_md_cell(md, table, row, SXS_METHOD_SPEC_METHOD);
        return token >> 24 == SXS_TABLE_METHOD_SPEC ? (struct sxs_blob){NULL, 0}
                                                    : sxs_md_signature(md, token);
    default: return (struct sxs_blob){md->blobs.at, 0};
    }
    return sxs_md_blob(md, sxs_md_cell(md, table, row, column));
}

/* Finds the last type whose list of methods or fields begins at or before the row. The list of a
 * type without any begins where the next type's list begins. */
uint32_t sxs_md_owner(const struct sxs_metadata *md, uint32_t token)
{
    unsigned column =
        token >> 24 == SXS_TABLE_FIELD ? SXS_TYPE_DEF_FIELDS : SXS_TYPE_DEF_METHODS;
    uint32_t low = 1, high = sxs_md_rows(md, SXS_TABLE_TYPE_DEF), row = token & 0xffffff;
    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;
        if ((sxs_md_cell(md, SXS_TABLE_TYPE_DEF, middle, column) & 0xffffff) <= row)
            low = middle;
        else
            high = middle - 1;
    }
    return high ? sxs_token(SXS_TABLE_TYPE_DEF, low) : 0;
}

/* A binary search: the table is sorted by the nested type. */
uint32_t sxs_md_enclosing(const struct sxs_metadata *md, uint32_t type_def)
{
    uint32_t low = 1, high = sxs_md_rows(md, SXS_TABLE_NESTED_CLASS);
    while (low <= high) {
        uint32_t middle = low + (high - low) / 2;
        uint32_t nested =
            sxs_md_cell(md, SXS_TABLE_NESTED_CLASS, middle, SXS_NESTED_CLASS_NESTED);
        if (nested == type_def)
            return sxs_md_cell(md, SXS_TABLE_NESTED_CLASS, middle, SXS_NESTED_CLASS_ENCLOSING);
        if (nested < type_def)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return 0;
}
