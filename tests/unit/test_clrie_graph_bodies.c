/* SPDX-License-Identifier: MIT */
/*
 * test_clrie_graph_bodies.c - every method body of base libraries as an instruction graph: written unchanged,
 * and with code inserted through the interfaces at the entry, at the exits and at each target of a branch.
 * usage: test_clrie_graph_bodies [ASSEMBLY]...
 */
#include "tests/unit/clrie_graph_fixture.h"

#include <glob.h>
#include <stdlib.h>

#include "tests/instr/assembly.h"
#include "tests/instr/graph.h"

static struct {
    struct sxs_il_body  *before, *after;
    IInstructionFactory *factory;
    unsigned long        methods, inserted;
    char               **paths;
    int                  n_paths;
} run;

static void report(const struct method *m, const char *what, const char *why)
{
    fail_msg("method 0x%08x: %s: %s", m->token, what, why);
}

/* Checks and writes @graph, and reads it into run.after. */
static void hold(const struct method *m, struct clrie_graph *graph, const char *what)
{
    struct clrie_written written;
    struct sxs_il_error  error = {0};
    char                 why[200];
    if (clrie_graph_check(graph, why, sizeof(why)) != S_OK)
        report(m, what, why);
    if (clrie_graph_write(graph, &written) != S_OK)
        report(m, what, "is not written");
    if (sxs_il_read(run.after, written.bytes, written.size, &error) != 0 ||
        sxs_il_check(run.after, &m->method, &error) != 0)
        report(m, what, error.text);
}

/* The graph of the bytes as they are, with what the interface changes: InitLocals, and the computed stack. */
static void compare(const struct method *m)
{
    run.before->init_locals = 1;
    run.before->max_stack = run.after->max_stack;
    sxs_il_number(run.before);
    sxs_il_number(run.after);
    if (!same_graph(run.before, run.after))
        report(m, "unchanged", "another graph");
}

static void insert(IInstructionGraph *graph, IInstruction *at)
{
    IInstruction *nop;
    OK(CALL(run.factory, CreateInstruction, Cee_Nop, &nop));
    OK(CALL(graph, InsertBeforeAndRetargetOffsets, at, nop));
    RELEASE(nop);
    run.inserted++;
}

/* Inserts before the prefixes of @at, as a plug-in must. */
static void insert_whole(IInstructionGraph *graph, IInstruction *at)
{
    IInstruction   *prev;
    ILOrdinalOpcode opcode;
    CALL(at, AddRef);
    while (CALL(at, GetPreviousInstruction, &prev) == S_OK) {
        OK(CALL(prev, GetOpCode, &opcode));
        if (sxs_il_opcodes[opcode].flow != SXS_IL_FLOW_PREFIX) {
            RELEASE(prev);
            break;
        }
        RELEASE(at);
        at = prev;
    }
    insert(graph, at);
    RELEASE(at);
}

/* A ret that must directly follow its call. */
static int follows_tail_call(IInstruction *ret)
{
    struct clrie_instruction *i;
    OK(clrie_instruction_take(ret, &i));
    for (struct sxs_il_insn *p = i->insn->prev ? i->insn->prev->prev : NULL;
         p && sxs_il_opcodes[p->opcode].flow == SXS_IL_FLOW_PREFIX; p = p->prev)
        if (p->opcode == SXS_IL_TAILCALL)
            return 1;
    return 0;
}

static void instrument(IInstructionGraph *graph)
{
    IInstruction *at, *next, *to;
    OK(CALL(graph, GetFirstInstruction, &at));
    insert(graph, at);
    while (at) {
        ILOrdinalOpcode opcode;
        BOOL            is_branch;
        OK(CALL(at, GetOpCode, &opcode));
        OK(CALL(at, GetIsBranch, &is_branch));
        if (opcode == Cee_Ret && !follows_tail_call(at))
            insert(graph, at);
        to = is_branch ? fixture_target(at) : NULL;
        if (to && !(CALL(to, GetOpCode, &opcode) == S_OK && opcode == Cee_Ret && follows_tail_call(to)))
            insert_whole(graph, to);
        if (FAILED(CALL(at, GetNextInstruction, &next)))
            next = NULL;
        RELEASE(at);
        at = next;
    }
}

static void try_method(struct method *m)
{
    struct clrie_graph_method method = {.info = &fixture_info};
    struct clrie_graph       *graph;
    struct sxs_il_error       error = {0};
    if (sxs_il_read(run.before, m->bytes.at, m->bytes.size, &error) != 0)
        report(m, "as it is", error.text);
    find_locals(m, run.before);
    method.il = m->method;
    OK(clrie_graph_new(&method, m->bytes.at, m->bytes.size, &graph));
    hold(m, graph, "unchanged");
    compare(m);
    instrument(clrie_face(&graph->object, 0));
    hold(m, graph, "with nops");
    clrie_graph_free(graph);
    run.methods++;
}

static void try_assembly(const char *path)
{
    struct sxs_metadata *md = calloc(1, sizeof(*md));
    struct method        m;
    assert_non_null(md);
    if (open_assembly(path, md) != 0)
        fail_msg("%s is no assembly", path);
    for (uint32_t row = 1; row <= sxs_md_rows(md, SXS_TABLE_METHOD_DEF); row++)
        if (find_method(md, row, &m) == 0)
            try_method(&m);
    free(md);
}

/* Tries the last file that matches the pattern of shells; none does where no runtime was fetched. */
static void try_newest(const char *pattern)
{
    glob_t found;
    if (glob(pattern, 0, NULL, &found) != 0)
        return;
    try_assembly(found.gl_pathv[found.gl_pathc - 1]);
    globfree(&found);
}

static void all_bodies_of_base_libraries_are_graphs(void **state)
{
    static const char *const paths[] = {"build/runtimes/8.*/System.Private.CoreLib.dll",
                                        "build/runtimes/9.*/System.Linq.Expressions.dll",
                                        "build/runtimes/10.*/System.Private.CoreLib.dll"};
    (void)state;
    run.before = sxs_il_new();
    run.after = sxs_il_new();
    run.factory = clrie_face((struct clrie_object *)clrie_factory_new(), 0);
    for (int p = 0; p < run.n_paths; p++)
        try_assembly(run.paths[p]);
    for (unsigned p = 0; !run.n_paths && p < sizeof(paths) / sizeof(paths[0]); p++)
        try_newest(paths[p]);
    RELEASE(run.factory);
    sxs_il_free(run.before);
    sxs_il_free(run.after);
    printf("%lu methods, %lu instructions inserted\n", run.methods, run.inserted);
    if (!run.methods)
        skip();
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_bodies_of_base_libraries_are_graphs)};
    run.paths = argv + 1;
    run.n_paths = argc - 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
