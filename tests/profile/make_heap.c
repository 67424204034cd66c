/* SPDX-License-Identifier: MIT */
/*
 * make_heap.c - writes heap snapshots of known graphs for tests.
 *
 *   make_heap DIR NUMBER GRAPH [N]      writes DIR/4242/census and DIR/4242/heap-NUMBER
 *
 * GRAPH: known (see make_known()); grown: the same with 5 nodes more and no holder; leaked: known with 1000 nodes, a part
 * and a waiting object more in runtime 2, of no root; list: a list of N nodes that a
 * static field keeps; tree: a binary tree of N nodes; random: N objects with up to 5 references each, out of order;
 * joined: random, each object refers to the next one, too, so that all are reached;
 * web: N objects as in a service: dictionaries, arrays of strings, lists; open: known, without an end;
 * failed: known, with an error in the header; sparse: N runtimes with few types and names, which have high numbers.
 */
#include "tests/profile/census_file.h"
#include "tests/profile/heap_file.h"

enum { PID = 4242 };
enum { CACHE = 1, NODES, NODE, HOLDER, PART, STRING, PINNED, WAITING, GARBAGE, LAST };

static struct heap_file h;

static void make_types(uint16_t runtime)
{
    heap_type(&h, runtime, CACHE, 0, 24, "App.Cache");
    heap_type(&h, runtime, NODES, SXS_HEAP_TYPE_ARRAY | SXS_HEAP_TYPE_VARIES, 0, "App.Node[]");
    heap_type(&h, runtime, NODE, 0, 32, "App.Node");
    heap_type(&h, runtime, HOLDER, 0, 40, "App.Holder<System.Int32>");
    heap_type(&h, runtime, PART, 0, 24, "App.Part");
    heap_type(&h, runtime, STRING, SXS_HEAP_TYPE_STRING | SXS_HEAP_TYPE_VARIES, 0, "System.String");
    heap_type(&h, runtime, PINNED, SXS_HEAP_TYPE_ARRAY | SXS_HEAP_TYPE_VARIES, 0, "System.Byte[]");
    heap_type(&h, runtime, WAITING, SXS_HEAP_TYPE_FINALIZABLE, 24, "App.Waiting");
}

#define TO(...) (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / 8

/*
 * Runtime 1: the static field App.Cache.all refers to a cache (24 bytes), this to an array (64), this to three nodes
 * (32 each) in a circle. A variable of App.Program.Main() refers to a holder (40), this to two parts (24 each), both to
 * one string (100). App.Cache.other refers to part P, a handle to part Q, both to part Z: several roots keep it.
 * Dependent handle: from P to D (a part). A pinned handle: bytes (1000) of generation 2 in the large object heap. An
 * object waits for its finalizer. A weak handle refers to garbage (24), which refers to the string.
 * Fields: the cache has the array in "items", the array the nodes in its elements 1, 2 and 4, nodes each other in "next"
 * ("previous" is null), the holder the parts in "first" and "rest.second".
 * Runtime 2: @extra + 2 nodes that an array keeps, which a thread-static field keeps.
 */
static void make_known(uint32_t extra, int holder, uint32_t leaked)
{
    uint64_t to[64];
    heap_runtime(&h, 1, SXS_HEAP_COLLECTED, "8.0.29");
    heap_object(&h, 1, 0x1000, CACHE, 0, TO(0x1020));
    heap_object(&h, 1, 0x1020, NODES, 64, TO(0x1100, 0x1120)); /* in two parts */
    heap_object(&h, 1, 0x1020, NODES, 64, TO(0x1140));
    heap_object(&h, 1, 0x1140, LAST, 0, TO(0x1100)); /* out of order */
    heap_object(&h, 1, 0x1100, LAST, 0, TO(0x1120));
    heap_object(&h, 1, 0x1120, NODE, 0, TO(0x1140, 0x999000)); /* and to nothing that is known */
    make_types(1);
    heap_fields(&h, 1, CACHE, 0, 0, (const char *const[]){"items", NULL});
    heap_fields(&h, 1, NODES, 24, 8, (const char *const[]){"", NULL});
    heap_fields(&h, 1, NODE, 0, 0, (const char *const[]){"previous", "next", NULL});
    heap_fields(&h, 1, HOLDER, 0, 0, (const char *const[]){"first", "rest.second", NULL});
    heap_variant(&h, 1, LAST, NODE, 2);
    heap_places(&h, 1, 0x1020, (const uint32_t[]){1, 2}, 2); /* in two parts */
    heap_places(&h, 1, 0x1020, (const uint32_t[]){1, 1}, 2);
    if (holder) {
        heap_object(&h, 1, 0x2000, HOLDER, 0, TO(0x2040, 0x2060));
        heap_object(&h, 1, 0x2040, PART, 0, TO(0x2080));
        heap_object(&h, 1, 0x2060, PART, 0, TO(0x2080));
        heap_object(&h, 1, 0x2080, STRING, 100, NULL, 0);
        heap_root(&h, 1, SXS_HEAP_ROOT_STACK, 0, 0x2000, 2);
    }
    heap_object(&h, 1, 0x3000, PART, 0, TO(0x3040));
    heap_object(&h, 1, 0x3020, PART, 0, TO(0x3040));
    heap_object(&h, 1, 0x3040, PART, 0, NULL, 0);
    heap_object(&h, 1, 0x3060, PART, 0, NULL, 0);
    heap_object(&h, 1, 0x8000, PINNED, 1000, NULL, 0);
    heap_object(&h, 1, 0x4000, WAITING, 0, NULL, 0);
    heap_object(&h, 1, 0x4020, GARBAGE, 24, TO(0x2080));
    heap_root(&h, 1, SXS_HEAP_ROOT_STATIC, 0, 0x1000, 1);
    heap_root(&h, 1, SXS_HEAP_ROOT_STACK, SXS_HEAP_ROOT_INTERIOR, 0x1030, 2);
    heap_root(&h, 1, SXS_HEAP_ROOT_STATIC, 0, 0x3000, 3);
    heap_root(&h, 1, SXS_HEAP_ROOT_HANDLE, 0, 0x3020, 0);
    heap_root(&h, 1, SXS_HEAP_ROOT_HANDLE, SXS_HEAP_ROOT_PINNED, 0x8000, 0);
    heap_root(&h, 1, SXS_HEAP_ROOT_FINALIZER, 0, 0x4000, 0);
    heap_root(&h, 1, SXS_HEAP_ROOT_HANDLE, SXS_HEAP_ROOT_WEAK, 0x4020, 0);
    heap_dependent(&h, 1, 0x3000, 0x3060);
    heap_name(&h, 1, 1, "App.Cache.all");
    heap_name(&h, 1, 2, "App.Program.Main(System.String[])");
    heap_name(&h, 1, 3, "App.Cache.other");
    heap_type(&h, 1, GARBAGE, 0, 24, "App.Garbage");
    heap_bounds(&h, 1, 2, 0x1000, 0x1000);
    heap_bounds(&h, 1, 3, 0x8000, 0x1000);
    heap_bounds(&h, 1, 1, 0x4000, 0x10);
    if (h.head.ended_ns)
        heap_end(&h, 1, 0);
    heap_runtime(&h, 2, SXS_HEAP_COLLECTED, "10.0.11");
    make_types(2);
    for (uint32_t i = 0; i < extra + 2; i++) {
        to[i] = 0x1020 + i * 32; /* runtimes are apart, so equal addresses do not matter */
        heap_object(&h, 2, to[i], NODE, 0, NULL, 0);
    }
    heap_object(&h, 2, 0x9000, NODES, 16 + 8 * (extra + 2), to, extra + 2);
    heap_root(&h, 2, SXS_HEAP_ROOT_THREAD_STATIC, 0, 0x9000, 7);
    for (uint32_t i = 0; i < leaked; i++)
        heap_object(&h, 2, 0xa000 + i * 32, NODE, 0, NULL, 0);
    if (leaked) {
        heap_object(&h, 2, 0x9800, PART, 0, NULL, 0);
        heap_object(&h, 2, 0x9820, WAITING, 0, NULL, 0);
    }
    heap_name(&h, 2, 7, "App.Cache.\"mine\"");
    heap_end(&h, 2, SXS_HEAP_NO_FROZEN | SXS_HEAP_NO_BOUNDS);
}

static void make_list(uint64_t n, int tree)
{
    const uint64_t base = 0x7f0000000000;
    make_types(1);
    heap_runtime(&h, 1, SXS_HEAP_COLLECTED, "9.0.18");
    for (uint64_t i = 0; i < n; i++) {
        uint64_t to[2], count = 0;
        for (uint64_t k = tree ? 2 * i + 1 : i + 1; k <= (tree ? 2 * i + 2 : i + 1); k++)
            if (k < n)
                to[count++] = base + k * 32;
        heap_object(&h, 1, base + i * 32, NODE, 0, to, count);
    }
    heap_root(&h, 1, SXS_HEAP_ROOT_STATIC, 0, base, 1);
    heap_name(&h, 1, 1, "App.Cache.all");
    heap_end(&h, 1, 0);
}

static uint64_t random_state = 88172645463325252u;

static uint64_t random_below(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % below;
}

static void make_random(uint64_t n, int joined)
{
    const uint64_t base = 0x7f0000000000;
    heap_runtime(&h, 1, SXS_HEAP_WALKED, "10.0.11");
    for (uint64_t i = n; i-- > 0;) {
        uint64_t to[6], count = random_below(6), at = (i * 7919) % n; /* n must not be a multiple of 7919 */
        for (uint64_t k = 0; k < count; k++)
            to[k] = base + random_below(n) * 64;
        if (joined)
            to[count++] = base + (at + 1) % n * 64;
        heap_object(&h, 1, base + at * 64, 1 + (uint32_t)random_below(100), 24 + 8 * random_below(4), to, count);
        if (random_below(50) == 0)
            heap_root(&h, 1, (uint32_t)random_below(6), random_below(4) ? 0 : SXS_HEAP_ROOT_WEAK, base + at * 64, (uint32_t)random_below(9));
    }
    for (uint32_t i = 1; i <= 100; i++) {
        char name[32];
        snprintf(name, sizeof(name), "Random.Type%u", i);
        heap_type(&h, 1, i, SXS_HEAP_TYPE_VARIES, 0, name);
    }
    for (uint32_t i = 1; i < 9; i++)
        heap_name(&h, 1, i, "Random.Name");
    heap_end(&h, 1, 0);
}

/* One session in a cache: a dictionary entry, a session, a list with an array, 8 items with a string each. */
static void make_web(uint64_t n)
{
    enum { SESSION = 20, LIST, ITEMS, ITEM, TEXT, ENTRIES, DICTIONARY, PER = 19 };
    const uint64_t base = 0x7f0000000000, sessions = n / PER;
    uint64_t       at = base, all[9], part[1024];
    heap_runtime(&h, 1, SXS_HEAP_COLLECTED, "10.0.11");
    heap_type(&h, 1, SESSION, 0, 48, "Shop.Session");
    heap_type(&h, 1, LIST, 0, 32, "System.Collections.Generic.List<Shop.Item>");
    heap_type(&h, 1, ITEMS, SXS_HEAP_TYPE_ARRAY | SXS_HEAP_TYPE_VARIES, 0, "Shop.Item[]");
    heap_type(&h, 1, ITEM, 0, 40, "Shop.Item");
    heap_type(&h, 1, TEXT, SXS_HEAP_TYPE_STRING | SXS_HEAP_TYPE_VARIES, 0, "System.String");
    heap_type(&h, 1, ENTRIES, SXS_HEAP_TYPE_ARRAY | SXS_HEAP_TYPE_VARIES, 0,
              "System.Collections.Generic.Dictionary<System.Int32,Shop.Session>+Entry[]");
    heap_type(&h, 1, DICTIONARY, 0, 80, "System.Collections.Generic.Dictionary<System.Int32,Shop.Session>");
    for (uint64_t s = 0; s < sessions; s++) {
        uint64_t from = at;
        heap_object(&h, 1, from, SESSION, 0, TO(from + 48));
        heap_object(&h, 1, from + 48, LIST, 0, TO(from + 80));
        for (uint64_t i = 0; i < 8; i++)
            all[i] = from + 168 + i * 80;
        heap_object(&h, 1, from + 80, ITEMS, 88, all, 8);
        for (uint64_t i = 0; i < 8; i++) {
            heap_object(&h, 1, all[i], ITEM, 0, TO(all[i] + 40, from));
            heap_object(&h, 1, all[i] + 40, TEXT, 22 + 2 * (s % 7), NULL, 0);
        }
        at += 168 + 640;
    }
    uint64_t entries = at;
    for (uint64_t s = 0; s < sessions;) { /* an array with many references comes in parts */
        size_t count = 0;
        for (; s < sessions && count < 512; s++)
            part[count++] = base + s * (168 + 640);
        heap_object(&h, 1, entries, ENTRIES, 24 + sessions * 24, part, count);
    }
    at = (entries + 24 + sessions * 24 + 7) & ~UINT64_C(7);
    heap_object(&h, 1, at, DICTIONARY, 0, &entries, 1);
    heap_root(&h, 1, SXS_HEAP_ROOT_STATIC, 0, at, 1);
    heap_name(&h, 1, 1, "Shop.Sessions.all");
    heap_bounds(&h, 1, 2, base, entries - base);
    heap_bounds(&h, 1, 3, entries, at - entries);
    heap_end(&h, 1, 0);
}

/* @n runtimes, each with one of what has a number: an object and its type, a variant, fields, a root and its name. */
static void make_sparse(uint64_t n)
{
    const uint32_t    high = 4194304;
    const char *const names[] = {"left", NULL};
    for (uint32_t i = 1; i <= n && i <= UINT16_MAX; i++) {
        uint16_t r = (uint16_t)i;
        heap_runtime(&h, r, SXS_HEAP_COLLECTED, "10.0.11");
        heap_type(&h, r, high, 0, 24, "Shop.Item");
        heap_fields(&h, r, high, 0, 0, names);
        heap_variant(&h, r, high - 1, high, 1);
        heap_object(&h, r, 0x1000, high - 1, 0, TO(0x1000));
        heap_root(&h, r, SXS_HEAP_ROOT_STACK, 0, 0x1000, high);
        heap_name(&h, r, high, "Shop.Program.Main");
        heap_end(&h, r, 0);
    }
}

static int make_graph(const char *graph, uint64_t n)
{
    if (strcmp(graph, "open") == 0)
        h.head.ended_ns = 0;
    if (strcmp(graph, "failed") == 0)
        h.head.error = 28;
    if (strcmp(graph, "known") == 0 || strcmp(graph, "open") == 0 || strcmp(graph, "failed") == 0)
        make_known(0, 1, 0);
    else if (strcmp(graph, "grown") == 0)
        make_known(5, 0, 0);
    else if (strcmp(graph, "leaked") == 0)
        make_known(0, 1, 1000);
    else if (strcmp(graph, "list") == 0 || strcmp(graph, "tree") == 0)
        make_list(n, graph[0] == 't');
    else if (strcmp(graph, "random") == 0 || strcmp(graph, "joined") == 0)
        make_random(n, graph[0] == 'j');
    else if (strcmp(graph, "web") == 0)
        make_web(n);
    else if (strcmp(graph, "sparse") == 0)
        make_sparse(n);
    else
        return 2;
    return 0;
}

int main(int argc, char **argv)
{
    char path[4200];
    if (argc < 4)
        return 2;
    write_census(argv[1], PID);
    snprintf(path, sizeof(path), "%s/%d/" SXS_HEAP_FILE "%s", argv[1], PID, argv[2]);
    FILE *f = fopen(path, "w");
    if (!f)
        return 1;
    heap_open(&h, f, PID, (uint32_t)strtoul(argv[2], NULL, 10));
    int status = make_graph(argv[3], argc > 4 ? strtoull(argv[4], NULL, 10) : 1000);
    heap_close(&h);
    return status;
}
