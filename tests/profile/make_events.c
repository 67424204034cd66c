/* SPDX-License-Identifier: MIT */
/*
 * make_events.c - adds events and exceptions with known numbers to a session, or makes a session of them.
 *
 *   make_events DIR [MANY [gcs]]    MANY: number of additional class loads; gcs: only collections
 *
 * Runtime 1 compiles 20 methods on thread 100, each in 2 ms, every second method at tier 1. It is suspended
 * 5 times, 3 ms each, for collections of 2 ms, the first of which is induced. Runtime 3 is suspended once for
 * the profiler, 1 ms. Threads 100, 101 and 102 (102 has a name); 3 modules; 4 classes. 12 exceptions of one
 * throw site, 3 of them recorded in detail; one exception that was not caught.
 *
 * In detail, runtime 1 has 20 blocking collections of generation 0, the Nth paused for N ms, a tenth of it to
 * suspend; a background collection with two pauses of 2 ms and a foreground one of 1 ms inside; one that the end
 * of the process interrupted. Runtime 2 has one of which only callbacks reported.
 */
#include "session/format/events.h"
#include "session/format/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PID   4242u
#define START UINT64_C(1000000000)
#define MS    UINT64_C(1000000)

static struct {
    FILE                    *to;
    struct sxs_events_header head;
    char                     chunk[SXS_CHUNK_SIZE] __attribute__((aligned(8)));
    uint32_t                 used, index;
} file;

static void flush_chunk(void)
{
    struct sxs_chunk_header *c = (void *)file.chunk;
    c->magic = SXS_CHUNK_MAGIC;
    c->index = file.index++;
    c->used = file.used;
    if (fwrite(file.chunk, sizeof(file.chunk), 1, file.to) != 1)
        exit(1);
    memset(file.chunk, 0, sizeof(file.chunk));
    file.used = sizeof(*c);
}

static void *add(enum sxs_event_record_type type, size_t size)
{
    size = (size + 7) & ~(size_t)7;
    if (file.used + size > sizeof(file.chunk))
        flush_chunk();
    struct sxs_record *r = (void *)(file.chunk + file.used);
    file.used += (uint32_t)size;
    *r = (struct sxs_record){(uint32_t)size, SXS_RECORD_MARK, (uint16_t)type};
    return r;
}

static uint32_t name(uint32_t number, const char *text)
{
    struct sxs_event_name *n = add(SXS_EVENT_NAME, sizeof(*n) + strlen(text));
    n->number = number;
    n->size = (uint16_t)strlen(text);
    memcpy(n->text, text, n->size);
    return number;
}

static struct sxs_event_span *span(enum sxs_event_kind kind, uint16_t runtime, uint32_t tid,
                                   uint64_t at, uint64_t ns, const char *text)
{
    struct sxs_event_span *s = add(SXS_EVENT_SPAN, sizeof(*s) + strlen(text));
    s->time_ns = START + at;
    s->duration_ns = ns;
    s->tid = tid;
    s->runtime = runtime;
    s->kind = (uint8_t)kind;
    s->size = (uint16_t)strlen(text);
    memcpy(s->text, text, s->size);
    return s;
}

static void add_spans(unsigned long many)
{
    char text[64];
    span(SXS_KIND_THREAD, 1, 100, 0, 0, "");
    span(SXS_KIND_THREAD, 3, 101, 50 * MS, 800 * MS, "");
    span(SXS_KIND_THREAD, 2, 102, 100 * MS, 500 * MS, "");
    span(SXS_KIND_THREAD_NAME, 2, 102, 100 * MS, 0, "pool");
    for (unsigned i = 0; i < 20; i++) {
        snprintf(text, sizeof(text), i ? "App.Work.M%u()" : "App.Work.Outer(System.Int32)", i);
        struct sxs_event_span *s = span(SXS_KIND_JIT, 1, 100, (10 + i * 10) * MS, 2 * MS, text);
        s->a = 100 + i;
        s->tier = 1 + (i & 1);
    }
    for (unsigned i = 0; i < 5; i++) {
        uint64_t               at = (300 + i * 100) * MS;
        struct sxs_event_span *s = span(SXS_KIND_SUSPENSION, 1, 100, at, 3 * MS, "");
        s->a = 1;
        s->b = 40;
        s = span(SXS_KIND_GC, 1, 100, at + MS / 2, 2 * MS, "");
        s->a = i % 3;
        s->b = i == 0;
    }
    span(SXS_KIND_SUSPENSION, 3, 101, 600 * MS, MS, "")->a = 9;
    for (uint16_t i = 1; i <= 3; i++)
        span(SXS_KIND_MODULE_LOAD, i, 99 + i, 5 * i * MS, MS, "/app/app.dll");
    for (unsigned long i = 0; i < 4 + many; i++) {
        snprintf(text, sizeof(text), "App.Class%lu", i % 1000);
        span(SXS_KIND_CLASS_LOAD, 1, 100, 20 * MS + i * (900 * MS / (4 + many)), 1000 + i % 7,
             text);
    }
}

static void add_exception(uint64_t at, uint64_t ns, uint8_t fate, uint8_t kept, const char *message)
{
    struct sxs_event_exception *x = add(SXS_EVENT_EXCEPTION, sizeof(*x) + strlen(message));
    x->time_ns = START + at;
    x->duration_ns = ns;
    x->tid = 100;
    x->runtime = 1;
    x->fate = fate;
    x->kept = kept;
    x->type = 1;
    x->thrown = 2;
    x->caught = fate == SXS_FATE_CAUGHT ? 3 : 0;
    x->message_size = (uint16_t)strlen(message);
    memcpy(x->message, message, x->message_size);
}

static void add_exceptions(void)
{
    name(1, "App.Trouble");
    name(2, "App.Work.Inner(System.Int32)");
    name(3, "App.Program.Main(System.String[])");
    struct sxs_event_throw_site *s = add(SXS_EVENT_THROW_SITE, sizeof(*s));
    s->type = 1;
    s->thrown = 2;
    s->caught = 3;
    s->runtime = 1;
    s->fate = SXS_FATE_CAUGHT;
    s->number = 1;
    s->n = 12;
    s->total_ns = 12 * MS;
    for (unsigned i = 0; i < 3; i++)
        add_exception((200 + 50 * i) * MS, MS, SXS_FATE_CAUGHT, 1, "a \"known\" </script> message");
    add_exception(890 * MS, 0, SXS_FATE_SEARCHING, 0, "the last one");
}

static struct sxs_event_collection *collection(uint16_t runtime, uint32_t number, uint64_t at,
                                               uint64_t ns)
{
    struct sxs_event_collection *c = add(SXS_EVENT_COLLECTION, sizeof(*c));
    c->time_ns = START + at;
    c->end_ns = ns ? START + at + ns : 0;
    c->number = number;
    c->tid = 100;
    c->runtime = runtime;
    c->known = SXS_GC_KNOWS_START | SXS_GC_KNOWS_HEAP | SXS_GC_KNOWS_DETAIL | SXS_GC_KNOWS_GLOBAL;
    c->heaps = 1;
    return c;
}

static void add_pause(struct sxs_event_collection *c, uint64_t at, uint64_t ns)
{
    unsigned n = c->n_pauses++;
    c->pauses[n].time_ns = START + at;
    c->pauses[n].suspension_ns = ns / 10;
    c->pauses[n].duration_ns = ns;
    c->pause_ns += ns;
    c->suspension_ns += ns / 10;
}

static void add_collections(void)
{
    struct sxs_event_collection *c;
    for (unsigned i = 1; i <= 20; i++) {
        c = collection(1, i, i * 10 * MS, i * MS - i * MS / 10);
        c->reason = i % 2 ? SXS_GC_ALLOCATION : SXS_GC_INDUCED;
        add_pause(c, i * 10 * MS - i * MS / 10, i * MS);
        c->generations[0].before = 1 << 20;
        c->generations[0].free_before = 1 << 18;
        c->generations[0].survived = c->generations[0].promoted = 1 << 19;
        c->generations[0].size = 1000 * i;
        c->generations[0].fragmentation = i;
        c->generations[2].size = 5 << 20;
        c->n_pinned = i;
        c->n_handles = 30 + i;
        c->n_finalizable = c->n_finalized = 2;
        c->finalizers_ns = MS;
        c->mechanisms = 2;
        c->trigger_tid = 100;
    }
    c = collection(1, 21, 500 * MS, 100 * MS);
    c->generation = 2;
    c->reason = SXS_GC_LARGE_ALLOCATION;
    c->type = SXS_GC_BACKGROUND;
    c->mechanisms = 1;
    add_pause(c, 500 * MS, 2 * MS);
    add_pause(c, 560 * MS, 2 * MS);
    c->generations[0].before = 77; /* a background collection frees nothing in it */
    c->generations[2].before = 10 << 20;
    c->generations[2].survived = c->generations[2].promoted = c->generations[2].size = 6 << 20;
    c->generations[4].survived = 4096; /* reported as promoted: 0 */
    c = collection(1, 22, 530 * MS, MS);
    c->generation = 1;
    c->type = SXS_GC_FOREGROUND;
    add_pause(c, 530 * MS, MS);
    c = collection(1, 23, 900 * MS, 0);
    c->generation = 2;
    c->type = SXS_GC_BACKGROUND; /* was blocking after all */
    c->known = SXS_GC_KNOWS_START | SXS_GC_KNOWS_GLOBAL;
    c = collection(2, 1, 100 * MS, 5 * MS);
    c->known = 0;
    c->type = c->reason = SXS_GC_UNKNOWN;
    add_pause(c, 100 * MS, 5 * MS);
}

static void write_census(const char *dir)
{
    static const char *const versions[] = {"8.0.29", "9.0.18", "10.0.11"};
    static struct sxs_census c;
    char                     path[4200];
    struct stat              st;
    snprintf(path, sizeof(path), "%s/%u/" SXS_CENSUS_FILE, dir, PID);
    if (stat(path, &st) == 0)
        return;
    FILE *f = fopen(path, "w");
    memcpy(c.magic, SXS_CENSUS_MAGIC, sizeof(c.magic));
    c.version = SXS_CENSUS_VERSION;
    c.size = sizeof(c);
    c.row_size = sizeof(c.runtimes[0]);
    c.pid = PID;
    c.n_runtimes = 3;
    for (uint32_t i = 0; i < 3; i++) {
        c.runtimes[i].number = i + 1;
        c.runtimes[i].state = SXS_STATE_PICKED;
        snprintf(c.runtimes[i].version, sizeof(c.runtimes[i].version), "%s", versions[i]);
    }
    if (!f || fwrite(&c, sizeof(c), 1, f) != 1 || fclose(f) != 0)
        exit(1);
}

int main(int argc, char **argv)
{
    static const char page[SXS_HEADER_SIZE];
    char              path[4200];
    if (argc < 2)
        return 64;
    mkdir(argv[1], 0700);
    snprintf(path, sizeof(path), "%s/%u", argv[1], PID);
    mkdir(path, 0700);
    write_census(argv[1]);
    strcat(path, "/" SXS_EVENTS_FILE);
    file.to = fopen(path, "w");
    file.used = sizeof(struct sxs_chunk_header);
    if (!file.to || fwrite(page, sizeof(page), 1, file.to) != 1)
        return 1;
    int only_collections = argc > 3 && strcmp(argv[3], "gcs") == 0;
    if (!only_collections) {
        add_exceptions();
        add_spans(argc > 2 ? strtoul(argv[2], NULL, 10) : 0);
    }
    add_collections();
    flush_chunk();
    memcpy(file.head.magic, SXS_EVENTS_MAGIC, sizeof(file.head.magic));
    file.head.version = SXS_EVENTS_VERSION;
    file.head.chunk_size = SXS_CHUNK_SIZE;
    file.head.pid = PID;
    file.head.tools = SXS_EVENTS_OF_COLLECTIONS;
    if (!only_collections)
        file.head.tools |= SXS_EVENTS_OF_EXCEPTIONS | SXS_EVENTS_OF_RUNTIMES;
    file.head.started_realtime_ns = 1700000000000000000u;
    file.head.started_ns = START;
    file.head.n_chunks = file.head.max_chunks = file.index;
    snprintf(file.head.command, sizeof(file.head.command), "known events");
    if (fseek(file.to, 0, SEEK_SET) != 0 ||
        fwrite(&file.head, sizeof(file.head), 1, file.to) != 1 || fclose(file.to) != 0)
        return 1;
    return 0;
}
