/* SPDX-License-Identifier: MIT */
/*
 * bench_il.c - measures the IL library on all method bodies of assemblies.
 *
 * usage: bench_il MODE FILE...
 * Prints "bench: ns N", the time for one body, and "bench: bodies N". The bodies are in memory. The
 * first round is not counted. MODE is what is done with each body:
 *   copy     memcpy, as the lower limit
 *   write    read and write it
 *   check    read, check and write it
 *   wrap     read it, wrap it with code at entry and exit and a catch clause, check and write it
 *   text     read it and write it as text for ilasm
 */
#include <stdlib.h>
#include <time.h>

#include "instr/il/metadata_text.h"
#include "tests/instr/assembly.h"

#define SECONDS 0.5

enum mode { COPY, WRITE, CHECK, WRAP, TEXT, N_MODES };
static const char *const names[N_MODES] = {"copy", "write", "check", "wrap", "text"};

static struct {
    struct method      *methods;
    struct sxs_il_body *body;
    size_t              n, room;
    enum mode           mode;
    uint8_t             copy[1u << 20];
    char                text[1u << 22];
} bench;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* the machine may be busy */
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void fail(const char *why)
{
    fprintf(stderr, "bench_il: %s\n", why);
    exit(1);
}

/* The bodies, each in a block of exactly its size, so that a copy is no longer than the body. */
static void add(const struct method *m)
{
    const uint8_t *bytes;
    size_t         size = 0;
    if (bench.n == bench.room) {
        bench.room = 2 * bench.room + 1024;
        bench.methods = realloc(bench.methods, bench.room * sizeof(*m));
    }
    if (!bench.methods || sxs_il_read(bench.body, m->bytes.at, m->bytes.size, NULL) != 0 ||
        sxs_il_write(bench.body, &bytes, &size, NULL) != 0 || size > sizeof(bench.copy))
        fail("a body that cannot be taken");
    bench.methods[bench.n] = *m;
    find_locals(&bench.methods[bench.n], bench.body);
    bench.methods[bench.n++].bytes.size = size;
}

static void load(const char *path)
{
    struct sxs_metadata *md = calloc(1, sizeof(*md));
    struct method        m;
    if (!md || open_assembly(path, md) != 0) {
        free(md);
        return;
    }
    for (uint32_t row = 1; row <= sxs_md_rows(md, SXS_TABLE_METHOD_DEF); row++)
        if (find_method(md, row, &m) == 0)
            add(&m);
}

static int wrap(struct method m)
{
    struct sxs_il_body *b = bench.body;
    struct sxs_il_wrap  w;
    m.method.n_locals++;
    if (sxs_il_wrap(b, &m.method, (uint16_t)(m.method.n_locals - 1), 0x01000001, &w, NULL) != 0)
        return -1;
    sxs_il_insert_before(b, w.body, sxs_il_insn(b, SXS_IL_NOP));
    if (w.exit)
        sxs_il_insert_after(b, w.exit, sxs_il_insn(b, SXS_IL_NOP));
    b->locals = 0x11000001;
    return sxs_il_check(b, &m.method, NULL);
}

static int one(const struct method *m)
{
    const uint8_t     *bytes;
    size_t             size;
    int                err;
    struct sxs_text    t = sxs_text_counted(bench.text, sizeof(bench.text));
    if (bench.mode == COPY) {
        memcpy(bench.copy, m->bytes.at, m->bytes.size);
        __asm__ volatile("" : : "r"(bench.copy) : "memory");
        return 0;
    }
    err = sxs_il_read(bench.body, m->bytes.at, m->bytes.size, NULL);
    if (!err && bench.mode == CHECK)
        err = sxs_il_check(bench.body, &m->method, NULL);
    if (!err && bench.mode == WRAP)
        err = wrap(*m);
    if (!err && bench.mode == TEXT) {
        struct sxs_il_names text = sxs_md_names(m->md);
        sxs_il_put_body(&t, bench.body, "", &text);
        return 0;
    }
    return err ? err : sxs_il_write(bench.body, &bytes, &size, NULL);
}

static void round_of_all(void)
{
    for (size_t i = 0; i < bench.n; i++)
        if (one(&bench.methods[i]) != 0)
            fail("a body that cannot be taken");
}

int main(int argc, char **argv)
{
    double   begin;
    unsigned rounds = 0;
    bench.mode = N_MODES;
    for (int m = 0; argc > 2 && m < N_MODES; m++)
        if (!strcmp(argv[1], names[m]))
            bench.mode = (enum mode)m;
    if (bench.mode == N_MODES)
        fail("expected copy, write, check, wrap or text, and assemblies");
    bench.body = sxs_il_new();
    if (!bench.body)
        fail("no memory");
    for (int i = 2; i < argc; i++)
        load(argv[i]);
    round_of_all();
    begin = now();
    do {
        round_of_all();
        rounds++;
    } while (now() - begin < SECONDS);
    printf("bench: ns %.1f\nbench: bodies %zu\n", (now() - begin) * 1e9 / rounds / (double)bench.n, bench.n);
    return 0;
}
