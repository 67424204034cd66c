/* SPDX-License-Identifier: MIT */
/** clrie_graph_model.h - a model of instruction graphs, in plain arrays: what changes of a graph do to it, and
 *  the graphs and instructions of an episode.
 *  For test_clrie_graph_fuzz.c, which includes clrie_graph_fixture.h first. */
#ifndef SXS_TESTS_CLRIE_GRAPH_MODEL_H
#define SXS_TESTS_CLRIE_GRAPH_MODEL_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_GRAPHS = 3, MAX_INSNS = 400, MAX_TARGETS = 3, MAX_CLAUSES = 6, NONE = -1 };

struct insn {
    IInstruction *face;
    int           held;    /* the test has a reference */
    int           graph;   /* in which it is; NONE */
    int           listed;  /* and in its list */
    int           removed; /* was removed once */
    unsigned      opcode, original;
    int           generation;
    int64_t       operand;
    int           n_targets, targets[MAX_TARGETS];
};

struct clause {
    IExceptionClause *face;
    int               parts[CLRIE_N_PARTS];
};

static struct {
    struct fixture            f[2];
    struct clrie_graph       *view[N_GRAPHS];
    IInstructionGraph        *graph[N_GRAPHS];
    struct insn               insns[MAX_INSNS];
    int                       n;
    int                       list[N_GRAPHS][MAX_INSNS], n_list[N_GRAPHS];
    struct clause             clauses[2][MAX_CLAUSES];
    int                       n_clauses[2];
    int                       quiet;
    uint64_t                  dice;
    unsigned long             operations, accepted, refused;
    struct sxs_il_body       *again;
} w;

static unsigned roll(unsigned below)
{
    w.dice ^= w.dice << 13;
    w.dice ^= w.dice >> 7;
    w.dice ^= w.dice << 17;
    return (unsigned)((w.dice * 0x2545f4914f6cdd1du >> 33) % below);
}

#define MUST(what)                                                                                              \
    do {                                                                                                        \
        if (!(what)) {                                                                                          \
            fprintf(stderr, "%s:%d: after %lu operations: %s\n", __FILE__, __LINE__, w.operations, #what); \
            abort();                                                                                            \
        }                                                                                                       \
    } while (0)

static int position(int g, int id)
{
    for (int p = 0; p < w.n_list[g]; p++)
        if (w.list[g][p] == id)
            return p;
    return NONE;
}

static void model_insert(int g, int at, int id)
{
    memmove(&w.list[g][at + 1], &w.list[g][at], (size_t)(w.n_list[g] - at) * sizeof(int));
    w.list[g][at] = id;
    w.n_list[g]++;
    w.insns[id].graph = g;
    w.insns[id].listed = 1;
}

static void model_unlist(int g, int id, int removed)
{
    int at = position(g, id);
    memmove(&w.list[g][at], &w.list[g][at + 1], (size_t)(w.n_list[g] - at - 1) * sizeof(int));
    w.n_list[g]--;
    w.insns[id].listed = 0;
    if (removed) {
        w.insns[id].graph = NONE;
        w.insns[id].removed = 1;
    }
}

static void model_retarget(int from, int to)
{
    for (int i = 0; i < w.n; i++)
        for (int t = 0; i != to && t < w.insns[i].n_targets; t++)
            if (w.insns[i].targets[t] == from)
                w.insns[i].targets[t] = to;
}

static void model_clauses(int g, int from, int to)
{
    for (int c = 0; g < 2 && c < w.n_clauses[g]; c++)
        for (int p = 0; p < CLRIE_N_PARTS; p++)
            if (w.clauses[g][c].parts[p] == from &&
                ((p != CLRIE_TRY_LAST && p != CLRIE_HANDLER_LAST) || w.insns[from].removed))
                w.clauses[g][c].parts[p] = to;
}

/* ---- making an episode ------------------------------------------------------------------------ */

/* Code of at most 60 bytes, and the model's list of it. */
static size_t make_code(int g, uint8_t *code)
{
    unsigned size = 0, n = 2 + roll(20), first = (unsigned)w.n;
    for (unsigned k = 0; k < n; k++) {
        struct insn *i = &w.insns[w.n];
        *i = (struct insn){.graph = g, .listed = 1, .original = g == 2 ? 0 : size, .opcode = SXS_IL_NOP,
                           .generation = g == 2 ? Generation_New : Generation_Original};
        if (k == n - 1) {
            i->opcode = SXS_IL_RET;
        } else if (roll(4) == 0) {
            i->opcode = SXS_IL_BR_S;
            i->n_targets = 1;
            i->targets[0] = w.n + 1;
        }
        code[size++] = (uint8_t)i->opcode;
        if (i->n_targets) {
            int back = (int)roll(3) == 0 ? (int)roll(k + 1) : NONE; /* over what is one byte each at most two */
            code[size] = 0;
            if (back != NONE) {
                unsigned offset = 0;
                for (int b = 0; b < back; b++)
                    offset += w.insns[(int)first + b].n_targets ? 2 : 1;
                code[size] = (uint8_t)(offset - (size + 1));
                i->targets[0] = (int)first + back;
            }
            size++;
            if (g != 2)
                i->opcode = SXS_IL_BR; /* graphs of methods have long branches */
        }
        w.list[g][w.n_list[g]++] = w.n++;
    }
    return size;
}

static void begin(void)
{
    uint8_t code[64];
    w.n = 0;
    w.quiet = (int)roll(2);
    memset(w.n_list, 0, sizeof(w.n_list));
    memset(w.n_clauses, 0, sizeof(w.n_clauses));
    for (int g = 0; g < 2; g++) {
        size_t size = make_code(g, code + 1);
        code[0] = (uint8_t)(size << 2 | 2);
        w.f[g] = (struct fixture){.method = {.info = &fixture_info, .il = fixture_method(0)}};
        MUST(clrie_graph_new(&w.f[g].method, code, size + 1, &w.view[g]) == S_OK);
        w.graph[g] = clrie_face(&w.view[g]->object, 0);
        w.f[g].factory = clrie_face((struct clrie_object *)clrie_factory_new(), 0);
    }
    MUST(CALL(w.f[0].factory, DecodeInstructionByteStream, (DWORD)make_code(2, code), code, &w.graph[2]) == S_OK);
    w.view[2] = (struct clrie_graph *)clrie_object_of(w.graph[2], (const struct clrie_class *[]){&clrie_graph}, 1);
    for (int p = 1; p < w.n_list[2]; p++) { /* their original offsets are all 0 */
        struct insn *i = &w.insns[w.list[2][p]];
        MUST(CALL(w.graph[2], GetInstructionAtOffset, w.view[2]->body->old[p].old_offset, &i->face) == S_OK);
        RELEASE(i->face);
    }
}

/* References and graphs end in any order. */
static void end(void)
{
    int order = (int)roll(3);
    for (int round = 0; round < 2; round++) {
        if (round == (order > 0))
            for (int g = 0; g < 2; g++)
                clrie_graph_free(w.view[(g + order) % 2]);
        if (round == (order > 1))
            RELEASE(w.graph[2]);
        if (round == (order == 0))
            for (int i = 0; i < w.n; i++)
                if (w.insns[i].held)
                    RELEASE(w.insns[i].face);
    }
    for (int g = 0; g < 2; g++)
        RELEASE(w.f[g].factory);
    /* A released object answers 0. */
    for (int i = 0; i < w.n; i++)
        MUST(!w.insns[i].face || CALL(w.insns[i].face, AddRef) == 0);
    for (int g = 0; g < 2; g++)
        for (int c = 0; c < w.n_clauses[g]; c++)
            MUST(CALL(w.clauses[g][c].face, AddRef) == 0);
}

/* The object of an instruction; of one that was read and not seen yet, it is made now. */
static IInstruction *face_of(int id)
{
    struct insn *i = &w.insns[id];
    if (!i->face) {
        for (int g = 0; g < N_GRAPHS && !i->face; g++)
            if (i->graph == g || i->graph == NONE) /* not seen: it never left the body that it was read into */
                if (CALL(w.graph[g], GetInstructionAtOriginalOffset, i->original, &i->face) == S_OK) {
                    RELEASE(i->face);
                    for (int k = 0; k < w.n; k++) /* another one at this offset of another graph */
                        if (k != id && w.insns[k].face == i->face)
                            i->face = NULL;
                }
        MUST(i->face);
    }
    return i->face;
}

/* Makes the objects of a list: later, an offset alone would not identify its instructions. */
static void see_all(int g)
{
    for (int p = 0; p < w.n_list[g]; p++)
        face_of(w.list[g][p]);
}

#endif
