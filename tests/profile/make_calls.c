/* SPDX-License-Identifier: MIT */
/*
 * make_calls.c - writes a session of calls with known numbers, for tests of the reports.
 *
 *   make_calls DIR [count|tree|trace|hole|values|many]
 *
 * trace   traced calls
 * hole    traced calls of which some events are missing
 * values  traced calls with arguments and results, and an exception that leaves the last Run
 * many    traced calls, and 60 more functions, App.Many.F4() to App.Many.F63(), hooked but never called
 *
 * Thread main: Main runs 900 ms. Main calls Outer 10 times, 10 ms each, and Inner 50 times, 1 ms each. Each
 * Outer calls Inner 10 times, 0.5 ms each. Thread worker: Run is called 5 times, 20 ms each. Each Run calls
 * Inner 40 times, 0.1 ms each. A tick is a nanosecond.
 */
#include "session/format/calls.h"
#include "tests/profile/census_file.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PID   4242u
#define START UINT64_C(1000000000)

enum { MAIN, OUTER, INNER, RUN, FUNCTIONS };
static const struct {
    const char *name;
    uint32_t    runtime;
} functions[FUNCTIONS] = {{"App.Program.Main(System.String[])", 1},
                          {"App.Work.Outer(System.Int32)", 1},
                          {"App.Work.Inner(System.Int32)", 2},
                          {"App.Loop.Run()", 3}};

static struct {
    struct sxs_calls_header head;
    char                    rest[SXS_CALLS_HEADER - sizeof(struct sxs_calls_header)];
    unsigned char           cells[SXS_CALLS_CHUNK];
} file;

static struct sxs_calls_function  *fns[64];
static struct sxs_calls_thread    *thread;
static struct sxs_calls_event     *event;
static struct sxs_calls_histogram *histograms[FUNCTIONS];
static struct sxs_calls_node      *stack[8];
static uint64_t                    since[8], now;
static unsigned                    depth, n_events, next_cell = 1;
static int                         mode, hole, values, thrown;
static unsigned                    n_functions = FUNCTIONS;

static sxs_calls_ref take(unsigned n)
{
    sxs_calls_ref ref = next_cell;
    next_cell += n;
    if (next_cell > SXS_CALLS_CELLS)
        exit(2);
    return ref;
}

static void *cell(sxs_calls_ref ref)
{
    return file.cells + (size_t)ref * SXS_CALLS_CELL;
}

static sxs_calls_ref ref_of(const void *at)
{
    return (sxs_calls_ref)(((const unsigned char *)at - file.cells) / SXS_CALLS_CELL);
}

static void add_functions(void)
{
    static const char path[] = "/app/app.dll";
    for (unsigned i = 0; i < n_functions; i++) {
        char          name[64];
        sxs_calls_ref ref = take(3);
        char         *text = (char *)cell(ref) + offsetof(struct sxs_calls_function, text);
        snprintf(name, sizeof(name), "App.Many.F%u()", i);
        if (i < FUNCTIONS)
            snprintf(name, sizeof(name), "%s", functions[i].name);
        fns[i] = cell(ref);
        fns[i]->next = file.head.functions;
        fns[i]->number = i;
        fns[i]->runtime = i < FUNCTIONS ? functions[i].runtime : 1;
        fns[i]->name_size = (uint16_t)strlen(name);
        fns[i]->file_size = sizeof(path) - 1;
        fns[i]->compiled = 1;
        memcpy(text, name, fns[i]->name_size);
        memcpy(text + fns[i]->name_size, path, sizeof(path) - 1);
        file.head.functions = ref;
    }
}

static struct sxs_calls_note *add_note(enum sxs_calls_note_kind kind, const char *text, size_t size)
{
    size_t        bytes = offsetof(struct sxs_calls_note, text) + size;
    sxs_calls_ref ref = take((unsigned)((bytes + SXS_CALLS_CELL - 1) / SXS_CALLS_CELL));
    struct sxs_calls_note *n = cell(ref);
    n->kind = kind;
    n->runtime = 1;
    n->size = (uint32_t)size;
    n->count = 1;
    n->next = file.head.notes;
    memcpy((char *)n + offsetof(struct sxs_calls_note, text), text, size);
    file.head.notes = ref;
    return n;
}

/* Adds notes about methods that are not instrumented: Main was compiled, Idle was not, Face is abstract. */
static void add_notes(void)
{
    static const char methods[] = "/app/app.dll\0" "\1\0\0\6\0App.Program.Main\0"
                                  "\2\0\0\6\0App.Work.Idle\0" "\3\0\0\6\1App.Work.Face";
    static const char pattern[] = "none:App.*";
    add_note(SXS_CALLS_NOTE_METHODS, methods, sizeof(methods));
    add_note(SXS_CALLS_NOTE_PATTERN, pattern, sizeof(pattern) - 1)->count = 0;
    add_note(SXS_CALLS_NOTE_RUNTIME, "DOTNET_TieredPGO=0", 18)->count = 0;
    add_note(SXS_CALLS_NOTE_DYNAMIC, "[dynamic] lambda", 16);
    add_note(SXS_CALLS_NOTE_DYNAMIC, "[stub] IL_STUB", 14);
    add_note(SXS_CALLS_NOTE_INLINED, "App.Work.Outer", 14)->function = ref_of(fns[INNER]);
    fns[MAIN]->token = 0x6000001;
    fns[INNER]->inlining = 2;
}

static void begin_thread(uint32_t tid, const char *name)
{
    thread = cell(take(2));
    thread->next = file.head.threads;
    thread->root = take(1);
    thread->tid = tid;
    thread->started_tick = now = START;
    snprintf(thread->name, sizeof(thread->name), "%s", name);
    file.head.threads = ref_of(thread);
    memset(histograms, 0, sizeof(histograms));
    stack[depth = 0] = cell(thread->root);
    if (file.head.max_blocks) {
        thread->events = take(SXS_CALLS_BLOCK_CELLS);
        event = (void *)((struct sxs_calls_block *)cell(thread->events) + 1);
    }
}

static void note(const struct sxs_calls_node *node, uint32_t kind)
{
    if (!file.head.max_blocks)
        return;
    n_events++;
    if (hole && n_events > 40 && n_events < 60)
        thread->events_lost++;
    else
        *event++ = (struct sxs_calls_event){now, ref_of(node), kind};
}

/* Appends the text of the previous event, as the library writes it. */
static void note_text(const struct sxs_calls_node *node, const char *text)
{
    size_t size = strlen(text), slots = 1 + SXS_CALLS_TEXT_SLOTS(size);
    if (!values)
        return;
    *event = (struct sxs_calls_event){now, ref_of(node), SXS_CALLS_TEXT | (uint32_t)size << 8};
    memcpy(event + 1, text, size);
    event += slots;
}

static struct sxs_calls_node *child(struct sxs_calls_node *parent, unsigned fn)
{
    struct sxs_calls_node *node;
    for (sxs_calls_ref ref = parent->child; ref; ref = node->sibling) {
        node = cell(ref);
        if (node->function == ref_of(fns[fn]))
            return node;
    }
    if (!histograms[fn] && mode != SXS_CALLS_COUNT) {
        histograms[fn] = cell(take(4));
        histograms[fn]->function = ref_of(fns[fn]);
        histograms[fn]->min = UINT64_MAX;
    }
    node = cell(take(1));
    node->parent = ref_of(parent);
    node->function = ref_of(fns[fn]);
    node->histogram = histograms[fn] ? ref_of(histograms[fn]) : 0;
    node->sibling = parent->child;
    parent->child = ref_of(node);
    return node;
}

static void enter(unsigned fn)
{
    struct sxs_calls_node *node = child(stack[mode == SXS_CALLS_COUNT ? 0 : depth], fn);
    node->calls++;
    stack[++depth] = node;
    since[depth] = now;
    note(node, SXS_CALLS_ENTER);
}

static void leave(unsigned fn)
{
    uint64_t                    ticks = now - since[depth];
    unsigned                    octave = 63 - (unsigned)__builtin_clzll(ticks | 8);
    struct sxs_calls_histogram *h = histograms[fn];
    note(stack[depth], thrown ? SXS_CALLS_UNWOUND : SXS_CALLS_LEAVE);
    if (h) {
        if (!h->octaves[octave])
            h->octaves[octave] = take(1);
        ((struct sxs_calls_octave *)cell(h->octaves[octave]))->n[(ticks >> (octave - 3)) & 7]++;
        h->min = ticks < h->min ? ticks : h->min;
        h->max = ticks > h->max ? ticks : h->max;
        stack[depth]->ticks += ticks;
    }
    depth--;
}

static void inner(unsigned times, uint64_t ns)
{
    for (unsigned i = 0; i < times; i++) {
        enter(INNER);
        now += ns;
        leave(INNER);
    }
}

static void run_main(void)
{
    begin_thread(100, "main");
    enter(MAIN);
    for (unsigned i = 0; i < 10; i++) {
        enter(OUTER);
        char text[64];
        snprintf(text, sizeof(text), "n = %u, what = \"round <%u>\"", i, i);
        note_text(stack[depth], text);
        inner(10, 500000);
        now += 5000000;
        leave(OUTER);
        snprintf(text, sizeof(text), "%u", 100 + i);
        note_text(stack[depth + 1], text);
    }
    inner(50, 1000000);
    now = START + 900000000;
    leave(MAIN);
    thread->ended_tick = now;
    thread->ended = 1;
}

static void run_worker(void)
{
    begin_thread(101, "worker");
    for (unsigned i = 0; i < 5; i++) {
        enter(RUN);
        if (i == 4)
            note_text(stack[depth], "last = true");
        inner(40, 100000);
        now += 16000000;
        thrown = values && i == 4;
        leave(RUN);
        now += 80000000;
    }
}

int main(int argc, char **argv)
{
    char        path[4200];
    const char *what = argc > 2 ? argv[2] : "tree";
    if (argc < 2)
        return 64;
    if (strcmp(what, "many") == 0) {
        n_functions = sizeof(fns) / sizeof(fns[0]);
        what = "trace";
    }
    hole = strcmp(what, "hole") == 0;
    values = strcmp(what, "values") == 0;
    mode = strcmp(what, "count") == 0 ? SXS_CALLS_COUNT : SXS_CALLS_TREE;
    write_census(argv[1], PID);
    memcpy(file.head.magic, SXS_CALLS_MAGIC, sizeof(file.head.magic));
    file.head.version = SXS_CALLS_VERSION;
    file.head.chunk_size = SXS_CALLS_CHUNK;
    file.head.pid = PID;
    file.head.mode = (uint32_t)mode;
    file.head.started_realtime_ns = 1700000000000000000u;
    file.head.started_tick = file.head.started_ns = START;
    file.head.seen_tick = file.head.seen_ns = file.head.ended_ns = 2 * START;
    file.head.n_chunks = file.head.n_taken = file.head.max_chunks = 1;
    file.head.max_blocks = hole || values || strcmp(what, "trace") == 0 ? 16 : 0;
    snprintf(file.head.command, sizeof(file.head.command), "known calls");
    ((struct sxs_calls_chunk *)file.cells)->magic = SXS_CALLS_CHUNK_MAGIC;
    add_functions();
    add_notes();
    run_main();
    run_worker();
    snprintf(path, sizeof(path), "%s/%u/" SXS_CALLS_FILE, argv[1], PID);
    FILE *f = fopen(path, "w");
    if (!f || fwrite(&file, sizeof(file), 1, f) != 1 || fclose(f) != 0)
        return 1;
    return 0;
}
