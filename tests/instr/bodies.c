/* SPDX-License-Identifier: MIT */
/*
 * bodies.c - reads, checks and writes every method body of assemblies, first unchanged, then with
 * code inserted in each way that the IL library has. Prints TAP. usage: il_bodies FILE...
 */
#include <stdlib.h>

#include "instr/metadata/signature_write.h"
#include "tests/instr/assembly.h"
#include "tests/instr/graph.h"

enum { READ, CHECKED, EQUAL, WRAPPED, SINGLE, EXITS, N_CLAIMS };

static const char *const claims[N_CLAIMS] = {
    "is read",
    "is taken by the checker",
    "is written as it was, byte by byte",
    "takes an entry, an exit and a try block with a catch around all",
    "takes one way out",
    "takes code before every way out",
};

static struct {
    unsigned long       n, bytes, good[N_CLAIMS];
    unsigned            n_reported;
    struct sxs_il_body *body, *again;
} run;

static void bad(const struct method *m, int claim, const struct sxs_il_error *e, const char *what)
{
    if (run.n_reported++ < 20)
        printf("# %s, method 0x%08x: not so: %s: %s at IL_%04x\n", what, m->token, claims[claim],
               e->text, e->offset);
}

/* Checks and writes the changed body, then reads, compares and checks the result. Returns 0 or a status. */
static int holds(struct method *m, struct sxs_il_error *e)
{
    const uint8_t *bytes;
    size_t         size;
    int            err = sxs_il_check(run.body, &m->method, e);
    if (!err)
        err = sxs_il_write(run.body, &bytes, &size, e);
    if (!err)
        err = sxs_il_read(run.again, bytes, size, e);
    if (!err && !same_graph(run.body, run.again))
        err = sxs_il_fail(e, SXS_IL_EINVALID, 0, "another graph");
    return err ? err : sxs_il_check(run.again, &m->method, e);
}

/* Adds a local of the method's result type to the locals @old. Returns its number, or -1. */
static int add_result(struct method *m, struct sxs_blob old, uint8_t *out, size_t room)
{
    static struct sxs_sig_node nodes[70000];
    struct sxs_sig             s;
    uint8_t                    type[TYPES_MAX];
    size_t                     size, n;
    uint16_t                   first;
    if (sxs_sig_parse(SXS_SIG_METHOD, m->signature.at, m->signature.size, nodes, 70000, &s) != 0)
        return -1;
    size = sxs_sig_write(SXS_SIG_TYPE, &s, type, sizeof(type));
    n = sxs_il_add_locals(old.at, old.size, type, size, 1, out, room, &first);
    if (!size || size > sizeof(type) || !n || n > room || first != m->method.n_locals ||
        sxs_il_local_count(out, n) != first + 1 ||
        sxs_sig_parse(SXS_SIG_LOCALS, out, n, nodes, 70000, &s) != 0)
        return -1;
    m->method.n_locals++;
    return first;
}

static void put_call(struct sxs_il_body *body, struct sxs_il_insn *after, int32_t number)
{
    sxs_il_insert_after(body, after, sxs_il_insn(body, SXS_IL_POP));
    sxs_il_insert_after(body, after, sxs_il_ldc(body, number));
}

static int change(struct method *m, int claim, struct sxs_il_error *e)
{
    static uint8_t       locals[1 << 18];
    struct sxs_il_insn **exits, *exit = NULL;
    struct sxs_il_wrap   wrap = {0};
    struct sxs_blob      old = find_locals(m, run.body);
    uint32_t             n;
    int                  err = SXS_IL_OK, local = 0;
    if (claim != EXITS && m->method.returns) {
        local = add_result(m, old, locals, sizeof(locals));
        if (local < 0)
            return sxs_il_fail(e, SXS_IL_EINVALID, 0, "no local for the result");
        run.body->locals = 0x11000001;
    }
    sxs_il_insert_before(run.body, run.body->first, sxs_il_ldc(run.body, 1000));
    sxs_il_insert_after(run.body, run.body->first, sxs_il_insn(run.body, SXS_IL_POP));
    if (claim == EXITS) {
        err = sxs_il_exits(run.body, &exits, &n, e);
        for (uint32_t i = 0; !err && i < n; i++)
            put_call(run.body, exits[i], (int32_t)i);
        return err;
    }
    if (claim == SINGLE) {
        err = sxs_il_single_return(run.body, &m->method, (uint16_t)local, &exit, e);
    } else {
        err = sxs_il_wrap(run.body, &m->method, (uint16_t)local, 0x01000001, &wrap, e);
        if (!err)
            put_call(run.body, wrap.handler, 100);
        exit = wrap.exit;
    }
    if (!err && exit)
        put_call(run.body, exit, 100000);
    return err;
}

static void one(struct method *m, const char *file)
{
    struct sxs_il_error e = {0};
    const uint8_t      *bytes;
    size_t              size;
    run.n++;
    if (sxs_il_read(run.body, m->bytes.at, m->bytes.size, &e) != 0) {
        bad(m, READ, &e, file);
        return;
    }
    run.good[READ]++;
    find_locals(m, run.body);
    if (sxs_il_check(run.body, &m->method, &e) != 0)
        bad(m, CHECKED, &e, file);
    else
        run.good[CHECKED]++;
    if (sxs_il_write(run.body, &bytes, &size, &e) != 0 || size > m->bytes.size ||
        memcmp(bytes, m->bytes.at, size) != 0)
        bad(m, EQUAL, &e, file);
    else
        run.good[EQUAL]++;
    run.bytes += size;
    for (int claim = WRAPPED; claim < N_CLAIMS; claim++) {
        if (sxs_il_read(run.body, m->bytes.at, m->bytes.size, &e) != 0 ||
            change(m, claim, &e) != 0 || holds(m, &e) != 0)
            bad(m, claim, &e, file);
        else
            run.good[claim]++;
    }
}

int main(int argc, char **argv)
{
    int failed = 0;
    run.body = sxs_il_new();
    run.again = sxs_il_new();
    for (int i = 1; i < argc; i++) {
        struct sxs_metadata md;
        struct method       m;
        if (open_assembly(argv[i], &md) != 0)
            continue; /* a native library */
        for (uint32_t row = 1; row <= sxs_md_rows(&md, SXS_TABLE_METHOD_DEF); row++)
            if (find_method(&md, row, &m) == 0)
                one(&m, argv[i]);
    }
    for (int c = 0; c < N_CLAIMS; c++) {
        printf("%s %d - each of %lu bodies %s: %lu\n",
               run.n && run.good[c] == run.n ? "ok" : "not ok", c + 1, run.n, claims[c], run.good[c]);
        failed |= !run.n || run.good[c] != run.n;
    }
    printf("1..%d\n# %lu bytes\n", N_CLAIMS, run.bytes);
    sxs_il_free(run.body);
    sxs_il_free(run.again);
    return failed;
}
