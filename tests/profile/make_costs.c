/* SPDX-License-Identifier: MIT */
/*
 * make_costs.c - writes a session of costs with known numbers, for tests of the reports.
 *
 *   make_costs DIR KIND [PID [MORE]]   KIND: one or several of the letters
 *     a   allocations, one of 1,000 bytes recorded; l: also which are gone; t: also exact counts
 *     b   the allocations of runtime 1 were not chosen at random
 *     g   with l: the arrays may be garbage
 *     x   with t: not all nodes were counted
 *     n   native memory, one of 1,000 bytes recorded; f: also what is freed
 *     w   waits for locks, every one recorded
 *     s   samples: 10 of App.Program.Main
 *     k   wall time, with reasons: 10 samples of 5 ms on main: 6 sleep in Cache.Add, 3 run in it, and one
 *         waits in libplugin.so for a disk
 *   MORE: how many more recorded strings of 2,000 bytes there are (for differences)
 *
 * Allocations; all are of runtime 1, the last one is not:
 *   500 System.String of 40 bytes, recorded as 10 of n = 50, by StringBuilder.Append, called by
 *     Cache.Add, called by Main; 4 are gone; 4 in generation 2, one in 1, one not looked at
 *   2 System.Byte[] of 100,000 bytes, large, in Cache.Add
 *   22.5 App.Node<System.Int32> of 24 bytes, recorded as 5 of n = 4.5, in Work.Run of runtime 2 on
 *     the thread worker; all are gone
 *   u: one more of n = 2, of 1,000 bytes, which nobody followed (id 0), a System.Byte[] in Cache.Add
 * Exact counts: 512 strings with 20,480 bytes, 2 arrays, 20 nodes with 480 bytes, and one App.Rare
 *   with 24 bytes, which was not sampled.
 * Native memory: 40 blocks of 100 bytes, recorded as 4 of n = 10, by libplugin.so, called by Main; 2
 *   are freed; and a mapping of 65,536 bytes.
 * Waits: 1, 2 and 3 ms for a System.Object in Cache.Add, the first two held by Work.Run; 10 ms for an
 *   App.Gate in Work.Run, which had not ended.
 */
#include "tests/profile/census_file.h"
#include "tests/profile/samples_file.h"

enum { MAIN = 0x8010, ADD = 0x8110, APPEND = 0x8210, ENTER = 0x8310, RUN = 0x9010 };
#define CLR    0x7f0000001000u
#define PLUGIN 0x7f0000401000u
#define END_NS 9000000000u

static const char corelib[] = "/net/8.0.29/System.Private.CoreLib.dll";

/* Adds code of an assembly; add_code() has one assembly only. */
static void add_framework(struct samples_file *f, uint64_t lo, const char *name)
{
    size_t n = strlen(name), size = sizeof(corelib) - 1;
    struct sxs_record_code *r = samples_add(f, SXS_RECORD_CODE, sizeof(*r) + n + size);
    r->time_ns = 1;
    r->lo = lo;
    r->hi = lo + 0x100;
    r->function = lo;
    r->runtime = 1;
    r->tier = SXS_TIER_R2R;
    r->name_size = (uint16_t)n;
    r->file_size = (uint16_t)size;
    memcpy(r->text, name, n);
    memcpy(r->text + n, corelib, size);
}

static void add_names(struct samples_file *f)
{
    for (uint32_t i = 0; i < 3; i++) {
        char path[64];
        snprintf(path, sizeof(path), "/net/%s/libcoreclr.so", versions[i]);
        add_runtime(f, i + 1, versions[i], path);
    }
    add_thread(f, 100, "main", 2);
    add_thread(f, 101, "worker", 4);
    add_module(f, 1, 0x7f0000000000, 0x7f0000000000, 0x7f0000100000, "/net/8.0.29/libcoreclr.so", 0);
    add_module(f, 1, 0x7f0000400000, 0x7f0000400000, 0x7f0000500000, "/lib/libplugin.so", 0);
    add_code(f, 1, 0x8000, 0x8100, 1, SXS_TIER_0, "App.Program.Main(string[])");
    add_code(f, 1, 0x8100, 0x8200, 1, SXS_TIER_1, "App.Cache.Add(string)");
    add_framework(f, 0x8200, "System.Text.StringBuilder.Append(char)");
    add_framework(f, 0x8300, "System.Threading.Monitor.Enter(object)");
    add_code(f, 1, 0x9000, 0x9100, 2, SXS_TIER_1, "App.Work.Run()");
    add_name(f, 1, 1, "System.String");
    add_name(f, 2, 1, "System.Byte[]");
    add_name(f, 3, 2, "App.Node<System.Int32>");
}

/* Adds @times costs like @c with ascending ids from c->id, one each 10 ms from @time on. */
static void put(struct samples_file *f, struct sxs_record_cost *c, int times, uint64_t time,
                uint16_t n, const uint64_t *ips)
{
    c->n_ips = n;
    for (int i = 0; i < times; i++, c->id++) {
        c->time_ns = time + (uint64_t)i * 10000000;
        add_cost(f, c, ips);
    }
}

static void write_allocations(struct samples_file *f, const char *kinds, int more)
{
    static const uint64_t append[] = {CLR, CLR + 0x10, APPEND, ADD, MAIN}, add[] = {ADD, MAIN};
    static const uint64_t run[] = {RUN};
    struct sxs_record_cost string = {.kind = SXS_COST_ALLOCATION, .id = 1, .n = 50, .value = 40,
                                     .tid = 100, .name = 1, .runtime = 1};
    struct sxs_record_cost array = {.kind = SXS_COST_ALLOCATION, .id = 11, .n = 1, .value = 100000,
                                    .tid = 100, .name = 2, .runtime = 1, .flags = SXS_COST_LARGE};
    struct sxs_record_cost node = {.kind = SXS_COST_ALLOCATION, .id = 13, .n = 4.5, .value = 24,
                                   .tid = 101, .name = 3, .runtime = 2};
    put(f, &string, 10, 2000000000u, 5, append);
    put(f, &array, 2, 3000000000u, 2, add);
    put(f, &node, 5, 4000000000u, 1, run);
    array = (struct sxs_record_cost){.kind = SXS_COST_ALLOCATION, .n = 2, .value = 1000, .tid = 100,
                                     .name = 2, .runtime = 1};
    put(f, &array, strchr(kinds, 'u') != NULL, 3500000000u, 2, add);
    string.id = 1000;
    put(f, &string, more, 5000000000u, 5, append);
    f->head.cost_interval[SXS_COST_ALLOCATION] = 1000;
    if (strchr(kinds, 'b'))
        f->head.biased_runtimes = 2;
    if (strchr(kinds, 'l')) {
        f->head.cost_live[SXS_COST_ALLOCATION] = 1;
        f->head.live_checked_ns[1] = f->head.live_checked_ns[2] =
            strchr(kinds, 'g') ? 2500000000u : 8000000000u;
        for (uint64_t id = 1; id <= 4; id++)
            add_released(f, 5000000000u, id);
        for (uint64_t id = 13; id <= 17; id++)
            add_released(f, 5000000000u, id);
        for (uint64_t id = 5; id <= 9; id++) {
            add_live(f, 5000000000u, id, 1, 1);
            if (id < 9)
                add_live(f, 6000000000u, id, 2, 2);
        }
        add_live(f, 5000000000u, 11, 3, 1);
        add_live(f, 5000000000u, 12, 3, 1);
    }
    if (strchr(kinds, 't')) {
        add_total(f, SXS_COST_ALLOCATION, 1, 1, 500, 20000);
        add_total(f, SXS_COST_ALLOCATION, 1, 1, 12, 480);
        add_total(f, SXS_COST_ALLOCATION, 1, 2, 2, 200000);
        add_total(f, SXS_COST_ALLOCATION, 2, 3, 20, 480);
        add_total(f, SXS_COST_ALLOCATION, 3, 6, 1, 24);
        add_name(f, 6, 3, "App.Rare"); /* a name may come last */
    }
    if (strchr(kinds, 'x')) {
        struct sxs_record_total *r = samples_add(f, SXS_RECORD_TOTAL, sizeof(*r));
        *r = (struct sxs_record_total){.head = r->head,
                                       .name = 3,
                                       .runtime = 2,
                                       .kind = SXS_COST_ALLOCATION,
                                       .flags = SXS_COST_AT_LEAST};
    }
}

static void write_native(struct samples_file *f, const char *kinds)
{
    static const uint64_t stack[] = {PLUGIN, MAIN};
    struct sxs_record_cost block = {.kind = SXS_COST_NATIVE, .id = 21, .n = 10, .value = 100,
                                    .tid = 100};
    struct sxs_record_cost mapping = {.kind = SXS_COST_NATIVE, .id = 25, .n = 1, .value = 65536,
                                      .tid = 100, .flags = SXS_COST_MAPPED};
    put(f, &block, 4, 2500000000u, 2, stack);
    put(f, &mapping, 1, 2600000000u, 2, stack);
    f->head.cost_interval[SXS_COST_NATIVE] = 1000;
    if (strchr(kinds, 'f')) {
        f->head.cost_live[SXS_COST_NATIVE] = 1;
        add_released(f, 5000000000u, 21);
        add_released(f, 5000000000u, 22);
    }
}

static void write_locks(struct samples_file *f)
{
    static const uint64_t enter[] = {CLR, ENTER, ADD, MAIN}, run[] = {RUN};
    struct sxs_record_cost wait = {.kind = SXS_COST_LOCK, .n = 1, .tid = 100, .name = 4,
                                   .runtime = 1, .related = 101};
    struct sxs_record_cost owner = {.kind = SXS_COST_LOCK_OWNER, .n = 1, .tid = 101, .runtime = 1};
    struct sxs_record_cost open = {.kind = SXS_COST_LOCK, .id = 34, .n = 1, .value = 10000000,
                                   .tid = 101, .name = 5, .runtime = 2, .flags = SXS_COST_OPEN};
    for (uint64_t id = 31; id <= 33; id++) {
        wait.id = id;
        wait.value = (id - 30) * 1000000;
        put(f, &wait, 1, 3000000000u + id, 4, enter);
        owner.id = 0;
        owner.related = id;
        if (id < 33)
            put(f, &owner, 1, 3000000000u + id, 1, run);
    }
    put(f, &open, 1, 3100000000u, 1, run);
    add_name(f, 4, 1, "System.Object");
    add_name(f, 5, 2, "App.Gate");
    f->head.cost_interval[SXS_COST_LOCK] = 1;
}

static void write_waits(struct samples_file *f)
{
    static const uint64_t add[] = {ADD, MAIN}, plugin[] = {PLUGIN};
    f->head.mode = SXS_MODE_WALL;
    f->head.asked_hz = 200;
    for (uint64_t i = 0; i < 9; i++)
        add_sample(f, 2000000000u + i * 5000000, 100, 2, add, SXS_SAMPLE_END_BOTTOM,
                   i < 6 ? SXS_WAITS_SLEEP : SXS_RUNNING);
    add_sample(f, 2045000000u, 100, 1, plugin, SXS_SAMPLE_END_BOTTOM, SXS_WAITS_DISK);
}

int main(int argc, char **argv)
{
    static struct samples_file f;
    static const uint64_t      stack[] = {MAIN};
    char                       path[4200];
    if (argc < 3)
        return 2;
    const char *kinds = argv[2];
    uint32_t    pid = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 4242;
    write_census(argv[1], pid);
    snprintf(path, sizeof(path), "%s/%u/" SXS_SAMPLES_FILE, argv[1], pid);
    FILE *to = fopen(path, "w");
    if (!to)
        return 1;
    samples_begin(&f, to, pid, "app --costs");
    f.head.mode = 0;
    f.head.asked_hz = 0;
    add_names(&f);
    if (strchr(kinds, 'a'))
        write_allocations(&f, kinds, argc > 4 ? atoi(argv[4]) : 0);
    if (strchr(kinds, 'n'))
        write_native(&f, kinds);
    if (strchr(kinds, 'w'))
        write_locks(&f);
    if (strchr(kinds, 's')) {
        f.head.mode = SXS_MODE_CPU;
        f.head.asked_hz = 200;
        for (uint64_t i = 0; i < 10; i++)
            add_sample(&f, 2000000000u + i * 5000000, 100, 1, stack, SXS_SAMPLE_END_BOTTOM, 0);
    }
    if (strchr(kinds, 'k'))
        write_waits(&f);
    f.head.ended_ns = END_NS;
    samples_end(&f);
    return fclose(to) != 0;
}
