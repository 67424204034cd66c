/* SPDX-License-Identifier: MIT */
/*
 * Packed sessions: archives with entries of every kind, damaged ones, and damaged tables of names.
 * fuzz.h has the options. An input is one byte and
 *
 *   0: a table of names (cmd/symbols/names.proto)
 *   1: a packed session (cmd/pack/pack.h), compressed or not
 *
 * A refused session must leave nothing behind; an accepted one has only files of a session.
 */
#define FUZZ_MAX (1u << 18)
#include "cmd/pack/pack.h"
#include "cmd/pack/private_folder.h"
#include "cmd/symbols/names_table.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_text.h"

#include <dirent.h>
#include <zlib.h>

static char tmp[80], pack_path[80];

static void remove_root(void)
{
    unlink(pack_path);
    rmdir(tmp);
    rmdir(fuzz_folder_path);
}

static void make_root(void)
{
    fuzz_folder_make();
    snprintf(tmp, sizeof(tmp), "%s/tmp", fuzz_folder_path);
    snprintf(pack_path, sizeof(pack_path), "%s/pack", fuzz_folder_path);
    if (mkdir(tmp, 0700) != 0 || setenv("TMPDIR", tmp, 1) != 0)
        exit(1);
    atexit(remove_root);
}

static bool is_empty(const char *dir)
{
    size_t n = 0;
    DIR   *d = opendir(dir);
    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n == 2; /* . and .. */
}

static void try_names(const uint8_t *bytes, size_t size)
{
    const char          *why;
    struct sxs_names_row row;
    size_t               encoded_size;
    struct sxs_names    *names = sxs_names_decode(bytes, size, &why);
    MUST((names == NULL) == (why != NULL));
    if (!names)
        return;
    fuzz_whole++;
    for (uint64_t key = 0; key < 64; key++)
        if (sxs_names_count(names) && sxs_names_find(names, 0, key, &row))
            MUST(strlen(row.symbol) < size && strlen(row.source) < size); /* may be one text */
    uint8_t          *encoded = sxs_names_encode(names, &encoded_size);
    struct sxs_names *again = sxs_names_decode(encoded, encoded_size, &why);
    MUST(again && sxs_names_count(again) == sxs_names_count(names));
    sxs_names_free(again);
    sxs_names_free(names);
    free(encoded);
}

static void try_pack(const uint8_t *bytes, size_t size)
{
    char        why[512] = "";
    const char *dir;
    FILE       *f = fopen(pack_path, "w");
    if (!f || (size && fwrite(bytes, size, 1, f) != 1) || fclose(f) != 0)
        exit(1);
    if (sxs_pack_open(pack_path, &dir, why, sizeof(why)) == 0) {
        struct sxs_session session;
        fuzz_whole++;
        MUST(strncmp(dir, tmp, strlen(tmp)) == 0);
        MUST(sxs_session_read(dir, &session) == 0);
        sxs_session_free(&session);
        sxs_private_remove(dir);
    } else {
        MUST(why[0] && !strchr(why, '\n'));
    }
    MUST(is_empty(tmp));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (!tmp[0])
        make_root();
    if (size && bytes[0] == 0)
        try_names(bytes + 1, size - 1);
    else if (size)
        try_pack(bytes + 1, size - 1);
    return 0;
}

/* ---- inputs ----------------------------------------------------------------------------------- */

#ifndef SXS_LIBFUZZER
static uLong  sum;
static size_t used;

/* Appends an entry of a tar archive in the format ustar. @type: '0' for a file. */
static void put_entry(uint8_t *out, const char *name, char type, const void *data, size_t size)
{
    static const char ustar[8] = {'u', 's', 't', 'a', 'r', 0, '0', '0'};
    char              header[512] = "", *at = header;
    unsigned          total = 0;
    uint8_t           size_bytes[8];
    if (used + 512 + size + 512 > FUZZ_MAX)
        return;
    snprintf(at, 100, "%s", name);
    snprintf(at + 100, 8, "%07o", 0600u);
    snprintf(at + 124, 12, "%011zo", roll(40) ? size : size * roll(1000000));
    snprintf(at + 136, 12, "%011o", 0u);
    memset(at + 148, ' ', 8);
    at[156] = type;
    snprintf(at + 157, 100, "%s", type == '0' ? "" : roll(2) ? "/tmp" : "4242/census");
    memcpy(at + 257, ustar, sizeof(ustar));
    for (size_t i = 0; i < sizeof(header); i++)
        total += (unsigned char)header[i];
    snprintf(at + 148, 8, "%06o", total);
    memcpy(out + used, header, sizeof(header));
    memcpy(out + used + 512, data, size);
    used += 512 + (size + 511) / 512 * 512;
    for (int i = 0; i < 8; i++)
        size_bytes[i] = (uint8_t)((uint64_t)size >> (8 * i));
    sum = crc32(sum, (const Bytef *)name, (uInt)strlen(name) + 1);
    sum = crc32(sum, size_bytes, 8);
    sum = crc32(sum, data, (uInt)size);
}

static size_t make_names(uint8_t *out)
{
    static const char *const texts[] = {"", "main", "a.cs", "System.String.Concat(string)"};
    struct sxs_names        *names = sxs_names_new();
    size_t                   size;
    for (uint64_t places = roll(4); places-- > 0;) {
        const uint8_t id[4] = {(uint8_t)roll(4)};
        uint32_t      place = sxs_names_add_place(names, roll(2), texts[roll(4)], id, roll(5));
        for (uint64_t rows = roll(20); rows-- > 0;) {
            struct sxs_names_row row = {texts[roll(4)], texts[roll(4)], (uint32_t)roll(500), 0};
            sxs_names_add(names, place, roll(64), &row);
        }
        if (!roll(3))
            sxs_names_set_problem(names, place, texts[1 + roll(3)]);
    }
    uint8_t *bytes = sxs_names_encode(names, &size);
    memcpy(out, bytes, size);
    free(bytes);
    sxs_names_free(names);
    return size;
}

static size_t make_pack(uint8_t *out)
{
    static const char *const files[] = {"4242/census", "4242/samples", "4242-2/calls",
                                        "1/events",    "4242/traced",  "4242/instrument"};
    static const char *const hostile[] = {"../evil", "/tmp/evil", "4242/../census",
                                          "4242",    "",          "4242/evil",
                                          "names",   "end",       "4242/census/x"};
    static uint8_t           names[1 << 14];
    char                     end[16];
    uint8_t                  data[2048];
    used = 0;
    sum = crc32(0, NULL, 0);
    memset(out, 0, FUZZ_MAX - 8);
    put_entry(out, "sxsprof-pack", '0', "1\n", 2);
    for (size_t i = 0; i < roll(7); i++) {
        for (size_t k = 0; k < sizeof(data); k++)
            data[k] = (uint8_t)roll(256);
        put_entry(out, roll(12) ? files[i % 6] : hostile[roll(9)],
                  roll(20) ? '0' : "123456"[roll(6)], data, roll(sizeof(data)));
    }
    put_entry(out, "names", '0', names, make_names(names));
    snprintf(end, sizeof(end), "%08lx\n", sum & 0xffffffffu);
    put_entry(out, "end", '0', end, 9);
    return used + 1024;
}

static size_t fuzz_make(uint8_t *out)
{
    size_t n;
    out[0] = (uint8_t)roll(2);
    n = out[0] ? make_pack(out + 1) : make_names(out + 1);
    if (roll(3))
        n = fuzz_mutate(out + 1, n);
    return n + 1;
}

int main(int argc, char **argv)
{
    return fuzz_main(argc, argv, "packed sessions and tables of names");
}
#endif
