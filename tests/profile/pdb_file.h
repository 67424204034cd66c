/* SPDX-License-Identifier: MIT */
/* pdb_file.h - writes a small assembly (PE headers only) and its Portable PDB with known lines. */
#ifndef SXS_TESTS_PROFILE_PDB_FILE_H
#define SXS_TESTS_PROFILE_PDB_FILE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

struct bytes {
    uint8_t at[8192];
    size_t  n;
};

static inline void put(struct bytes *b, uint64_t v, size_t size)
{
    for (size_t i = 0; i < size; i++)
        b->at[b->n++] = i < 8 ? (uint8_t)(v >> (8 * i)) : 0;
}

static inline void put_bytes(struct bytes *b, const void *from, size_t size)
{
    memcpy(b->at + b->n, from, size);
    b->n += size;
}

static inline void pad(struct bytes *b, size_t to)
{
    while (b->n % to)
        b->at[b->n++] = 0;
}

static inline void set(struct bytes *b, size_t at, uint64_t v, size_t size)
{
    struct bytes there = {.n = 0};
    put(&there, v, size);
    memcpy(b->at + at, there.at, size);
}

/* Appends a blob after its length, which must be below 128. Returns the index of the blob. */
static inline size_t put_blob(struct bytes *heap, const void *from, size_t size)
{
    size_t index = heap->n;
    put(heap, size, 1);
    put_bytes(heap, from, size);
    return index;
}

static const uint8_t pdb_file_id[20] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
                                        0xaa, 0xbb, 0xcc, 0xdd};

/*
 * Writes a Portable PDB of two documents, /src/a.cs and /src/b.cs; three methods:
 *   1: a.cs: IL 0 line 10, IL 5 hidden, IL 9 line 300, IL 200 line 8
 *   2: no lines
 *   3: a.cs: IL 0 line 20; b.cs: IL 4 line 7
 */
static inline void make_pdb(struct bytes *out)
{
    static const uint8_t one[] = {0,                          /* no locals */
                                  0, 0, 5, 10, 1,             /* IL 0: columns +5, line 10, column 1 */
                                  5, 0, 0,                    /* IL 5: hidden */
                                  4, 1, 0, 0x82, 0x44, 0,     /* IL 9: line +290 */
                                  0x80, 0xbf, 0, 5, 0xbd, 0xb9, 0}; /* IL 200: line -292 */
    static const uint8_t three[] = {0, 1, 0, 0, 5, 20, 1, 0, 2, 4, 0, 5, 0x7b, 0};
    static const char *const names[] = {"#Pdb", "#~", "#Blob", "#GUID"};
    struct bytes             blob = {.n = 0}, table = {.n = 0}, own = {.n = 0};
    uint8_t                  path[4] = {'/', 0, 0, 0};
    size_t                   heads[4];
    put(&blob, 0, 1);
    uint8_t src = (uint8_t)put_blob(&blob, "src", 3);
    uint8_t a = (uint8_t)put_blob(&blob, "a.cs", 4), b = (uint8_t)put_blob(&blob, "b.cs", 4);
    path[2] = src;
    path[3] = a;
    size_t path_a = put_blob(&blob, path, 4);
    path[3] = b;
    size_t path_b = put_blob(&blob, path, 4);
    size_t points_1 = put_blob(&blob, one, sizeof(one));
    size_t points_3 = put_blob(&blob, three, sizeof(three));

    put(&table, 0, 4);
    put(&table, 0x10002, 4); /* version 2.0, small heaps */
    put(&table, 3ull << 0x30, 8);
    put(&table, 0, 8);
    put(&table, 2, 4);
    put(&table, 3, 4);
    const size_t paths[] = {path_a, path_b};
    for (int i = 0; i < 2; i++) { /* Document: name, hash algorithm, hash, language */
        put(&table, paths[i], 2);
        put(&table, 0, 6);
    }
    put(&table, 1, 2);
    put(&table, points_1, 2);
    put(&table, 0, 4);
    put(&table, 0, 2);
    put(&table, points_3, 2);

    put_bytes(&own, pdb_file_id, 20);
    put(&own, 0, 12);

    const struct bytes *streams[] = {&own, &table, &blob, &blob};
    memset(out, 0, sizeof(*out));
    put(out, 0x424a5342, 4);
    put(out, 0x10001, 4);
    put(out, 0, 4);
    put(out, 12, 4);
    put_bytes(out, "PDB v1.0\0\0\0", 12);
    put(out, 4ull << 16, 4);
    for (int i = 0; i < 4; i++) {
        heads[i] = out->n;
        put(out, 0, 8);
        put_bytes(out, names[i], strlen(names[i]) + 1);
        pad(out, 4);
    }
    for (int i = 0; i < 4; i++) {
        size_t n = i == 3 ? 0 : streams[i]->n;
        pad(out, 4);
        set(out, heads[i], out->n, 4);
        set(out, heads[i] + 4, n, 4);
        put_bytes(out, streams[i]->at, n);
    }
}

/* Writes a PE32+ with one section. Its debug directory has the ID of the PDB and, if @pdb, embeds @pdb. */
static inline void make_assembly(struct bytes *out, const struct bytes *pdb)
{
    enum { PE = 64, OPTIONAL = PE + 24, SECTIONS = OPTIONAL + 240, RAW = 512, ADDRESS = 0x2000 };
    uint8_t  packed[8192];
    z_stream z = {0};
    memset(out, 0, sizeof(*out));
    memcpy(out->at, "MZ", 2);
    set(out, 60, PE, 4);
    memcpy(out->at + PE, "PE\0\0", 4);
    set(out, PE + 6, 1, 2);
    set(out, PE + 20, 240, 2);
    set(out, OPTIONAL, 0x20b, 2);
    set(out, OPTIONAL + 108, 16, 4);
    set(out, OPTIONAL + 112 + 8 * 6, ADDRESS, 4);
    set(out, OPTIONAL + 112 + 8 * 6 + 4, pdb ? 56 : 28, 4);
    set(out, SECTIONS + 8, 4096, 4);
    set(out, SECTIONS + 12, ADDRESS, 4);
    set(out, SECTIONS + 16, 4096, 4);
    set(out, SECTIONS + 20, RAW, 4);
    memcpy(out->at + RAW + 4, pdb_file_id + 16, 4);
    set(out, RAW + 12, 2, 4); /* CodeView */
    set(out, RAW + 16, 32, 4);
    set(out, RAW + 24, RAW + 64, 4);
    memcpy(out->at + RAW + 64, "RSDS", 4);
    memcpy(out->at + RAW + 68, pdb_file_id, 16);
    memcpy(out->at + RAW + 88, "x.pdb", 6);
    out->n = RAW + 128;
    if (!pdb)
        return;
    if (deflateInit2(&z, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        exit(1);
    z.next_in = (Bytef *)(uintptr_t)pdb->at;
    z.avail_in = (uInt)pdb->n;
    z.next_out = packed;
    z.avail_out = sizeof(packed);
    deflate(&z, Z_FINISH);
    deflateEnd(&z);
    set(out, RAW + 28 + 12, 17, 4); /* embedded */
    set(out, RAW + 28 + 16, z.total_out + 8, 4);
    set(out, RAW + 28 + 24, out->n, 4);
    put_bytes(out, "MPDB", 4);
    put(out, pdb->n, 4);
    put_bytes(out, packed, z.total_out);
}

static inline void write_bytes(const char *path, const struct bytes *b)
{
    FILE *f = fopen(path, "w");
    if (!f || fwrite(b->at, 1, b->n, f) != b->n || fclose(f) != 0)
        exit(1);
}

#endif
