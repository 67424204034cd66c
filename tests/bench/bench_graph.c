/* SPDX-License-Identifier: MIT */
/*
 * bench_graph.c - measures instruction graphs of the CLRIE engine, used through the interfaces.
 *
 * usage: bench_graph
 * Prints "bench: NAME NS" for each operation on the graph of a method with 200 instructions, and for whole
 * methods with 40 instructions: read a graph, insert a nop at its entry, check it and write it.
 */
#include "clrie/graph/internal.h"
#include "tests/bench/bench.h"

#define CALL(object, slot, ...) ((object)->vtbl->slot((object), ##__VA_ARGS__))
#define MUST(call)                                       \
    do {                                                 \
        if (FAILED(call)) {                              \
            fprintf(stderr, "bench_graph: %s\n", #call); \
            exit(1);                                     \
        }                                                \
    } while (0)

enum { MAX_CODE = 400, FAT_HEADER = 12 };

struct bench {
    uint8_t                   bytes[FAT_HEADER + MAX_CODE];
    size_t                    size;
    struct clrie_graph_method method;
    struct clrie_graph       *view;
    IInstructionGraph        *graph;
    IInstructionFactory      *factory;
};

/* nop, ldarg.0, brfalse.s over a nop, nop ...; ret: one branch in five instructions. */
static void make_body(struct bench *b, unsigned n)
{
    static const uint8_t group[] = {0x00, 0x02, 0x2c, 0x01, 0x00, 0x00};
    uint32_t             size = 0;
    for (unsigned k = 0; k + 5 <= n - 1; k += 5, size += sizeof(group))
        memcpy(b->bytes + FAT_HEADER + size, group, sizeof(group));
    b->bytes[FAT_HEADER + size++] = 0x2a;
    b->bytes[0] = 0x13;
    b->bytes[1] = 0x30;
    b->bytes[2] = 8;
    memcpy(b->bytes + 4, &size, 4);
    b->size = FAT_HEADER + size;
    b->method.il.n_args = 1;
}

static void open_graph(struct bench *b)
{
    MUST(clrie_graph_new(&b->method, b->bytes, b->size, &b->view));
    b->graph = clrie_face(&b->view->object, 0);
}

static void insert_nop(struct bench *b, int retarget)
{
    IInstruction *first, *nop;
    MUST(CALL(b->graph, GetFirstInstruction, &first));
    MUST(CALL(b->factory, CreateInstruction, Cee_Nop, &nop));
    MUST(retarget ? CALL(b->graph, InsertBeforeAndRetargetOffsets, first, nop)
                  : CALL(b->graph, InsertBefore, first, nop));
    CALL(first, Release);
    CALL(nop, Release);
}

static void whole_read(void *arg, unsigned n)
{
    struct bench *b = arg;
    while (n-- > 0) {
        open_graph(b);
        clrie_graph_free(b->view);
    }
}

static void whole_insert(void *arg, unsigned n)
{
    struct bench *b = arg;
    while (n-- > 0) {
        struct clrie_written written;
        char                 why[100];
        open_graph(b);
        insert_nop(b, 1);
        MUST(clrie_graph_check(b->view, why, sizeof(why)));
        MUST(clrie_graph_write(b->view, &written));
        clrie_graph_free(b->view);
    }
}

static void make_and_release(void *arg, unsigned n)
{
    struct bench *b = arg;
    IInstruction *nop;
    while (n-- > 0) {
        MUST(CALL(b->factory, CreateInstruction, Cee_Nop, &nop));
        CALL(nop, Release);
    }
}

/* Each operation on a new graph of 200 instructions every 64 times, which counts as part of it. */
static void insert_before(void *arg, unsigned n)
{
    struct bench *b = arg;
    for (unsigned k = 0; k < n; k++) {
        if (k % 64 == 0)
            open_graph(b);
        insert_nop(b, 0);
        if (k % 64 == 63 || k == n - 1)
            clrie_graph_free(b->view);
    }
}

static void insert_and_retarget(void *arg, unsigned n)
{
    struct bench *b = arg;
    for (unsigned k = 0; k < n; k++) {
        if (k % 64 == 0)
            open_graph(b);
        insert_nop(b, 1);
        if (k % 64 == 63 || k == n - 1)
            clrie_graph_free(b->view);
    }
}

static void next_instruction(void *arg, unsigned n)
{
    struct bench *b = arg;
    IInstruction *at = NULL, *next;
    for (unsigned k = 0; k < n; k++) {
        if (!at)
            MUST(CALL(b->graph, GetFirstInstruction, &at));
        if (FAILED(CALL(at, GetNextInstruction, &next)))
            next = NULL;
        CALL(at, Release);
        at = next;
    }
    if (at)
        CALL(at, Release);
}

static void remove_and_insert(void *arg, unsigned n)
{
    struct bench *b = arg;
    IInstruction *first, *second;
    MUST(CALL(b->graph, GetFirstInstruction, &first));
    MUST(CALL(first, GetNextInstruction, &second));
    while (n-- > 0) {
        MUST(CALL(b->graph, Remove, second));
        MUST(CALL(b->graph, InsertAfter, first, second));
    }
    CALL(first, Release);
    CALL(second, Release);
}

static void offset_after_change(void *arg, unsigned n)
{
    struct bench *b = arg;
    IInstruction *last;
    DWORD         offset;
    MUST(CALL(b->graph, GetLastInstruction, &last));
    while (n-- > 0) {
        sxs_il_set_changed(b->view->body);
        MUST(CALL(last, GetOffset, &offset));
    }
    CALL(last, Release);
}

int main(void)
{
    struct bench b = {.factory = clrie_face((struct clrie_object *)clrie_factory_new(), 0)};
    make_body(&b, 40);
    bench_report("graph_read_40", whole_read, &b, 200);
    bench_report("graph_read_insert_check_write_40", whole_insert, &b, 200);
    make_body(&b, 200);
    bench_report("graph_make_release", make_and_release, &b, 1000);
    bench_report("graph_insert_200", insert_before, &b, 640);
    bench_report("graph_insert_retarget_200", insert_and_retarget, &b, 640);
    open_graph(&b);
    bench_report("graph_next", next_instruction, &b, 2000);
    bench_report("graph_remove_insert", remove_and_insert, &b, 1000);
    bench_report("graph_offset_200", offset_after_change, &b, 200);
    clrie_graph_free(b.view);
    CALL(b.factory, Release);
    return 0;
}
