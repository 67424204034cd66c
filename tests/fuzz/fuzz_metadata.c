/* SPDX-License-Identifier: MIT */
/* fuzz_metadata.c - bytes as an assembly's file: every row of every table, every name, every body's text. Nothing
 * beyond the bytes is read. See fuzz.h. */
#include "tests/fuzz/fuzz.h"

#include "instr/il/effect.h"
#include "instr/il/metadata_text.h"

#define ROWS_MAX 60 /* looked at of each table */

static struct sxs_il_body *body;
static char                text[1u << 16];

static uint32_t rows(const struct sxs_metadata *md, enum sxs_table table)
{
    uint32_t n = sxs_md_rows(md, table);
    return n < ROWS_MAX ? n : ROWS_MAX;
}

static void one_body(struct sxs_metadata *md, uint32_t row)
{
    struct sxs_il_names names = sxs_md_names(md);
    struct sxs_text     t = sxs_text_counted(text, sizeof(text));
    struct sxs_blob     b = sxs_md_at_rva(md, sxs_md_cell(md, SXS_TABLE_METHOD_DEF, row, 0));
    if (sxs_il_read(body, b.at, b.size < 4096 ? b.size : 4096, NULL) == 0)
        sxs_il_put_body(&t, body, "", &names);
}

static void one_token(struct sxs_metadata *md, uint32_t token)
{
    struct sxs_text    t = sxs_text_counted(text, sizeof(text));
    struct sxs_blob    b = sxs_md_signature(md, token);
    uint32_t           sum = 0;
    for (size_t i = 0; i < b.size && i < 64; i++)
        sum += b.at[i];
    MUST(sum < 64 * 256);
    sxs_md_put_type(md, &t, token);
    sxs_md_put_method(md, &t, token);
    sxs_md_put_full_name(md, &t, token);
    sxs_md_owner(md, token);
    sxs_md_enclosing(md, token);
    MUST(strnlen(text, sizeof(text)) < sizeof(text));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct sxs_metadata md;
    if (!body)
        body = sxs_il_new();
    if (sxs_metadata_read(&md, bytes, size) != 0)
        return 0;
    fuzz_whole++;
    for (unsigned table = 0; table <= 0x7f; table++)
        for (uint32_t row = 0; row <= rows(&md, (enum sxs_table)table) + 1; row++)
            one_token(&md, table << 24 | row);
    for (uint32_t row = 1; row <= rows(&md, SXS_TABLE_METHOD_DEF); row++)
        one_body(&md, row);
    for (uint32_t at = 0; at < 4096; at += 7) {
        struct sxs_blob    b = sxs_md_user_string(&md, 0x70000000 | at);
        struct sxs_text    t = sxs_text_counted(text, sizeof(text));
        sxs_il_put_utf16(&t, b.at, b.size < 200 ? b.size : 200);
        MUST(strlen(sxs_md_string(&md, at)) <= size);
    }
    return 0;
}

#ifndef SXS_LIBFUZZER
static uint8_t seed[FUZZ_MAX];
static size_t  seed_size;

/* A small assembly, its headers and tables changed more often than the rest. */
static size_t fuzz_make(uint8_t *out)
{
    memcpy(out, seed, seed_size);
    if (seed_size < 1024 || roll(3) == 0)
        return fuzz_mutate(out, seed_size);
    for (uint64_t n = 1 + roll(4); n-- > 0;) {
        size_t at = roll(seed_size - 300);
        fuzz_mutate(out + (roll(4) == 0 ? roll(512) : at), 1 + roll(200));
    }
    return seed_size;
}

/* The last file is what the others are made of. */
int main(int argc, char **argv)
{
    FILE *f = argc > 1 ? fopen(argv[argc - 1], "r") : NULL;
    int   err;
    if (f) {
        seed_size = fread(seed, 1, sizeof(seed), f);
        fclose(f);
    }
    err = fuzz_main(argc, argv, "assemblies");
    sxs_il_free(body);
    return err;
}
#endif
