/* SPDX-License-Identifier: MIT */
/* signatures.c - parses and writes every signature of assemblies. Prints TAP. usage: il_signatures FILE... */
#include "instr/metadata/signature_write.h"
#include "tests/instr/assembly.h"

#define NODES_MAX 70000

static struct {
    unsigned long n, parsed, equal;
    unsigned      n_reported;
} run;

static void tell(const char *what, struct sxs_blob b, enum sxs_sig_kind kind)
{
    if (run.n_reported++ > 20)
        return;
    printf("# %s, kind %d:", what, kind);
    for (size_t i = 0; i < b.size && i < 40; i++)
        printf(" %02x", b.at[i]);
    printf("\n");
}

static void one(struct sxs_blob b, enum sxs_sig_kind kind)
{
    static struct sxs_sig_node nodes[NODES_MAX];
    static uint8_t             out[1 << 18];
    struct sxs_sig             s;
    size_t                     size;
    run.n++;
    if (sxs_sig_parse(kind, b.at, b.size, nodes, NODES_MAX, &s) != 0) {
        tell("not parsed", b, kind);
        return;
    }
    run.parsed++;
    size = sxs_sig_write(kind, &s, out, sizeof(out));
    if (size == b.size && size <= sizeof(out) && !memcmp(out, b.at, size))
        run.equal++;
    else
        tell("written differently", b, kind);
}

static enum sxs_sig_kind kind_of(struct sxs_blob b)
{
    unsigned kind = b.size ? b.at[0] & 0xf : 0;
    return kind == 6 ? SXS_SIG_FIELD : kind == 7 ? SXS_SIG_LOCALS : SXS_SIG_METHOD;
}

static void all_of(const struct sxs_metadata *md)
{
    static const enum sxs_table tables[] = {SXS_TABLE_METHOD_DEF, SXS_TABLE_FIELD,
                                            SXS_TABLE_MEMBER_REF, SXS_TABLE_STAND_ALONE_SIG,
                                            SXS_TABLE_TYPE_SPEC};
    for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
        for (uint32_t row = 1; row <= sxs_md_rows(md, tables[t]); row++) {
            struct sxs_blob b = sxs_md_signature(md, sxs_token(tables[t], row));
            one(b, tables[t] == SXS_TABLE_TYPE_SPEC ? SXS_SIG_TYPE : kind_of(b));
        }
    for (uint32_t row = 1; row <= sxs_md_rows(md, (enum sxs_table)0x17); row++)
        one(sxs_md_blob(md, sxs_md_cell(md, (enum sxs_table)0x17, row, 2)), SXS_SIG_PROPERTY);
}

int main(int argc, char **argv)
{
    struct sxs_metadata md;
    for (int i = 1; i < argc; i++)
        if (open_assembly(argv[i], &md) == 0)
            all_of(&md);
    printf("%s 1 - each of %lu signatures is parsed: %lu\n",
           run.n && run.parsed == run.n ? "ok" : "not ok", run.n, run.parsed);
    printf("%s 2 - each of %lu is written as it was: %lu\n1..2\n",
           run.n && run.equal == run.n ? "ok" : "not ok", run.n, run.equal);
    return !run.n || run.equal != run.n;
}
