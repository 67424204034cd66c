/* SPDX-License-Identifier: MIT */
/*
 * make_samples.c - writes a session of samples with known numbers, for tests of the reports.
 *
 *   make_samples DIR known [PID [SHIFT]]   1,020 samples of 5 ms as listed below; SHIFT samples are
 *                                  moved from Hot.Spin to Loop.Run (for differences)
 *   make_samples DIR costs [PID]   as known, and costs of all kinds, see add_costs()
 *   make_samples DIR own [PID]     200 samples of which 115 are of the profiler's own work, see write_own()
 *   make_samples DIR scale STACKS SAMPLES   many distinct stacks
 *
 * known: 400 main: Main -> Bridge -> native -> [9.0.18] Hot.Spin, of which 20 have a broken walk and 10 wait;
 * 300 worker: [10.0.11] Loop.Run; 100 main: known_native_leaf of this program; 100 on the GC thread; 50
 * in the JIT; 25 Old.Method and then 25 New.Method at the same address; 10 in libplugin.so, then,
 * after it was unloaded, 10 in libother.so at the same address.
 */
#include "tests/profile/census_file.h"
#include "tests/profile/samples_file.h"

static uint64_t now = 2000000000u;

__attribute__((noinline, used)) void known_native_leaf(void);
void known_native_leaf(void)
{
    __asm__ volatile("nop; nop; nop; nop");
}

/* Adds this program as a module, so that the report finds a native name in a real ELF file. */
static void add_self(struct samples_file *f)
{
    char     line[4400], path[4096] = "";
    uint64_t lo, hi, offset, base = 0;
    FILE    *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof(line), maps)) {
        char mode[8];
        if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %4095s", &lo, &hi, mode, &offset, path) < 4)
            continue;
        if (offset == 0 && !base)
            base = lo;
        if ((uint64_t)(uintptr_t)known_native_leaf - lo < hi - lo) {
            add_module(f, 1, base, lo, hi, path, 0);
            break;
        }
    }
    if (maps)
        fclose(maps);
}

static void put(struct samples_file *f, int times, uint32_t tid, uint16_t n, const uint64_t *ips)
{
    for (int i = 0; i < times; i++, now += 5000000)
        add_sample(f, now, tid, n, ips, SXS_SAMPLE_END_BOTTOM, 0);
}

static void write_known(struct samples_file *f, int shift)
{
    uint64_t leaf = (uint64_t)(uintptr_t)known_native_leaf + 1;
    /* return addresses: one byte after the call, so that a call at the end of a function is still found */
    const uint64_t spin[] = {0x9010, 0x7f0000001000, 0x8120, 0x8020};
    const uint64_t loop[] = {0xa010, 0xa110}, native[] = {leaf, 0x8020};
    const uint64_t gc[] = {0x7f0000201000}, jit[] = {0x7f0000301000, 0x7f0000001000};
    const uint64_t again[] = {0x9510, 0x8020}, plugin[] = {0x7f0000401000, 0x8020};

    for (uint32_t i = 0; i < 3; i++) {
        char path[64];
        snprintf(path, sizeof(path), "/net/%s/libcoreclr.so", versions[i]);
        add_runtime(f, i + 1, versions[i], path);
    }
    add_thread(f, 100, "main", 6);
    add_thread(f, 101, "worker", 8);
    add_thread(f, 102, ".NET Server GC", 2);
    add_thread(f, 103, ".NET Tiered Com", 2);
    add_self(f);
    add_module(f, 1, 0x7f0000000000, 0x7f0000000000, 0x7f0000100000, "/net/8.0.29/libcoreclr.so", 0);
    add_module(f, 1, 0x7f0000200000, 0x7f0000200000, 0x7f0000300000, "/net/8.0.29/libclrgc.so", 0);
    add_module(f, 1, 0x7f0000300000, 0x7f0000300000, 0x7f0000400000, "/net/8.0.29/libclrjit.so", 0);
    add_module(f, 1, 0x7f0000400000, 0x7f0000400000, 0x7f0000500000, "/lib/libplugin.so", 0);
    add_code(f, 1, 0x8000, 0x8020, 1, SXS_TIER_0, "App.Program.Main(string[])");
    add_code(f, 1, 0x8100, 0x8200, 1, SXS_TIER_R2R, "App.Bridge.Call(System.Func<int, int>)");
    add_code(f, 1, 0x9000, 0x9100, 2, SXS_TIER_0, "App.Hot.Spin(int)");
    /* the name is recorded after the first samples of the thread */
    add_code(f, 900000000000u, 0xa000, 0xa100, 3, SXS_TIER_OSR, "App.Loop.Run()");
    add_code(f, 1, 0xa100, 0xa200, 3, SXS_TIER_1, "App.Loop.Start(object)");
    add_code(f, 1, 0x9500, 0x9600, 2, SXS_TIER_0, "App.Old.Method()");

    put(f, 370 - shift, 100, 4, spin);
    for (int i = 0; i < 20; i++, now += 5000000)
        add_sample(f, now, 100, 4, spin, SXS_SAMPLE_END_BAD_FRAME, 0);
    for (int i = 0; i < 10; i++, now += 5000000)
        add_sample(f, now, 100, 4, spin, SXS_SAMPLE_END_BOTTOM, 1);
    uint64_t later = now;
    now = 2000000000u; /* threads run at the same time */
    put(f, 300 + shift, 101, 2, loop);
    now = now > later ? now : later;
    put(f, 100, 100, 2, native);
    put(f, 100, 102, 1, gc);
    put(f, 50, 103, 2, jit);
    put(f, 25, 100, 2, again);
    add_code(f, now, 0x9500, 0x9600, 2, SXS_TIER_1, "App.New.Method()");
    put(f, 25, 100, 2, again);
    put(f, 10, 100, 2, plugin);
    add_module(f, now, 0x7f0000400000, 0x7f0000400000, 0x7f0000500000, "/lib/libplugin.so", 1);
    add_module(f, now, 0x7f0000400000, 0x7f0000400000, 0x7f0000500000, "/lib/libother.so", 0);
    put(f, 10, 100, 2, plugin);
    add_pause(f, 2500000000u, 3000000, 1);
    add_pause(f, 3500000000u, 1000000, 3);
    f->head.n_dropped = 7;
    f->head.handler_ns = 1020 * 4000;
    f->head.ended_ns = now;
}

/* Samples, by youngest frame. The oldest frame is Main of 8.0.29.
 *    50 libplugin.so, called by libsxsprof.so, called by libcoreclr.so        own: 50
 *    30 libsxsprof.so, called by Main                                         own: 30
 *    20 libsxsprof-preload.so                                                 own: 20
 *    40 libplugin.so, called by libsxsprof-preload.so                         not own: the call is passed on
 *    25 libplugin.so, called by libsxsprof.so, called by libplugin.so         not own: called by the program
 *    20 libplugin.so
 *    15 libplugin.so on the thread "sxsprof wall"                             own: 15 */
static void write_own(struct samples_file *f)
{
    enum { MAIN = 0x8010, CLR = 0x10010, OWN = 0x20010, PRELOAD = 0x30010, PLUGIN = 0x40010 };
    const uint64_t callback[] = {PLUGIN, OWN, CLR, MAIN}, hook[] = {OWN, MAIN}, begins[] = {PRELOAD, MAIN};
    const uint64_t passed_on[] = {PLUGIN, PRELOAD, MAIN}, asked[] = {PLUGIN, OWN, PLUGIN, MAIN};
    const uint64_t plain[] = {PLUGIN, MAIN};
    add_runtime(f, 1, versions[0], "/net/8.0.29/libcoreclr.so");
    add_thread(f, 100, "main", 2);
    add_thread(f, 101, "sxsprof wall", 0);
    add_module(f, 1, 0x10000, 0x10000, 0x20000, "/net/8.0.29/libcoreclr.so", 0);
    add_module(f, 1, 0x20000, 0x20000, 0x30000, "/opt/libsxsprof.so", 0);
    add_module(f, 1, 0x30000, 0x30000, 0x40000, "/opt/libsxsprof-preload.so", 0);
    add_module(f, 1, 0x40000, 0x40000, 0x50000, "/lib/libplugin.so", 0);
    add_code(f, 1, 0x8000, 0x8020, 1, SXS_TIER_0, "App.Program.Main(string[])");
    put(f, 50, 100, 4, callback);
    put(f, 30, 100, 2, hook);
    put(f, 20, 100, 2, begins);
    put(f, 40, 100, 3, passed_on);
    put(f, 25, 100, 4, asked);
    put(f, 20, 100, 2, plain);
    put(f, 15, 101, 1, plain);
    f->head.ended_ns = now;
}

static uint64_t mix(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdu;
    x ^= x >> 29;
    x *= 0xc4ceb9fe1a85ec53u;
    return x ^ (x >> 32);
}

/* Makes stack @k. A frame depends on more bits of @k than its caller, so stacks share their oldest frames. */
static uint16_t stack_of(uint64_t k, uint64_t *ips)
{
    uint16_t n = (uint16_t)(12 + mix(k) % 24);
    for (uint16_t d = 0; d < n; d++) {
        unsigned bits = d < 17 ? d : 17;
        uint64_t f = mix((k & ((1u << bits) - 1)) * 64 + d) % 3000;
        ips[n - 1 - d] = 0x100000 + f * 0x100 + 0x10;
    }
    return n;
}

static void write_scale(struct samples_file *f, uint64_t stacks, uint64_t samples)
{
    static const char *const words[] = {"Parse", "Read", "Write", "Invoke", "Map", "Render", "Sort"};
    uint64_t                 ips[64];
    char                     name[160];
    for (uint32_t i = 0; i < 3; i++)
        add_runtime(f, i + 1, versions[i], "/net/libcoreclr.so");
    for (uint32_t i = 0; i < 16; i++) {
        snprintf(name, sizeof(name), "worker %u", i);
        add_thread(f, 100 + i, name, 14);
    }
    for (uint64_t i = 0; i < 3000; i++) {
        uint64_t lo = 0x100000 + i * 0x100;
        snprintf(name, sizeof(name), "Company.Product.Area%lu.Service%lu.%s%lu(System.String)",
                 i % 7, i % 93, words[mix(i) % 7], i);
        if (i % 5 == 4)
            add_module(f, 1, lo, lo, lo + 0x100, "/lib/libnative.so", 0);
        else
            add_code(f, 1, lo, lo + 0x100, (uint16_t)(1 + (i / 40) % 3),
                     (enum sxs_code_tier)(1 + i % 4), name);
    }
    for (uint64_t i = 0; i < samples; i++) {
        uint64_t r = mix(i), k = i < stacks ? i : (r >> 20) % (1 + (r & 1023) * stacks / 1024);
        add_sample(f, now += 312500, 100 + (uint32_t)(k % 16), stack_of(k, ips), ips,
                   SXS_SAMPLE_END_BOTTOM, 0);
    }
}

int main(int argc, char **argv)
{
    static struct samples_file f;
    char                       path[4200];
    if (argc < 3)
        return 2;
    int      scale = strcmp(argv[2], "scale") == 0;
    uint32_t pid = !scale && argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 4242;
    write_census(argv[1], pid);
    snprintf(path, sizeof(path), "%s/%u/" SXS_SAMPLES_FILE, argv[1], pid);
    FILE *to = fopen(path, "w");
    if (!to)
        return 1;
    samples_begin(&f, to, pid, scale ? "app --scale" : "app --with=<known> \"work\"");
    if (strcmp(argv[2], "own") == 0)
        write_own(&f);
    else if (scale)
        write_scale(&f, strtoull(argv[3], NULL, 10), strtoull(argv[4], NULL, 10));
    else
        write_known(&f, argc > 4 ? atoi(argv[4]) : 0);
    if (strcmp(argv[2], "costs") == 0)
        add_costs(&f, now, (const uint64_t[]){0x9010, 0x8020}, 2);
    samples_end(&f);
    return fclose(to) != 0;
}
