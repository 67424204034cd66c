/* SPDX-License-Identifier: MIT */
/* test_heap_write.c - the writer of heap snapshots, and what the tool "heap" makes of the events of a runtime's
 * dump: in every order, cut, and damaged. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <signal.h>

#include <cmocka.h>

#include "session/write/folder_write.h"
#include "session/write/heap_write.h"
#include "tests/unit/folder_fixture.h"
#include "tests/unit/heap_fixture.h"
#include "tools/heap/bulk.h"
#include "tools/options/heap_options.h"

static struct sxs_folder    its_folder;
static struct sxs_heap_file file;

static int begin(void **state)
{
    (void)state;
    memset(&file, 0, sizeof(file));
    return open_folder() != 0 || sxs_folder_open(&its_folder, folder) != 0 ||
           sxs_heap_create(&file, &its_folder, 1, SXS_HEAP_NOW, "a command") != 0;
}

static int end(void **state)
{
    int failed;
    (void)state;
    sxs_heap_close(&file);
    sxs_folder_close(&its_folder);
    unlinkat(folder_fd, "heap-2", 0);
    failed = remove_folder_with("heap-1");
    snprintf(folder, sizeof(folder), "/tmp/sxsprof-test.XXXXXX");
    return failed;
}

/* ---- the writer ---- */

static void what_is_written_is_read(void **state)
{
    uint64_t refs[] = {0x1000, 0x7fff00000010, 0x20};
    (void)state;
    sxs_heap_begin(&file, 3, SXS_HEAP_COLLECTED, 2, "9.0.18", "/libcoreclr.so");
    sxs_heap_object(&file, 0x7fff00000000, 1, 24, refs, 3);
    sxs_heap_object(&file, 0x1000, 2, 0, NULL, 0);
    sxs_heap_root(&file, SXS_HEAP_ROOT_HANDLE, SXS_HEAP_ROOT_WEAK, 0x1000, 0xabcdef, 7);
    sxs_heap_root(&file, SXS_HEAP_ROOT_STACK, 0, 0x20, 0, UINT32_MAX);
    sxs_heap_dependent(&file, 0x1000, 0x20, 5);
    sxs_heap_dependent(&file, 0x1000, 0, 6);
    sxs_heap_type(
        &file, &(struct sxs_heap_type_record){1, 0, SXS_HEAP_TYPE_ARRAY, 24, "A.B<C>[]", "/a.dll"});
    sxs_heap_name(&file, 7, "A.B.C");
    sxs_heap_bounds(&file, 2, 0x1000, UINT64_MAX);
    sxs_heap_end(&file, &(struct sxs_heap_totals){.objects = 2, .status = 0x80004005, .pause_ns = 9});
    assert_int_equal(sxs_heap_ended(&file), 0);
    assert_int_equal(read_snapshot(folder_fd, "heap-1"), 0);
    assert_string_equal(was.head.magic, SXS_HEAP_MAGIC);
    assert_string_equal(was.head.command, "a command");
    assert_true(was.head.ended_ns >= was.head.started_ns && was.head.error == 0);
    assert_int_equal(was.n_objects, 2);
    assert_int_equal(was.objects[0].address, 0x7fff00000000);
    assert_int_equal(was.objects[0].size, 24);
    assert_int_equal(was.objects[0].sum, 0x1000 + 0x7fff00000010 + 0x20);
    assert_int_equal(was.objects[1].address, 0x1000);
    assert_int_equal(was.objects[1].size, 0);
    assert_int_equal(was.roots[0][2], 0x1000);
    assert_int_equal(was.roots[0][3], 0xabcdef);
    assert_int_equal(was.roots[1][2], 0x20);
    assert_int_equal(was.roots[1][4], UINT32_MAX);
    assert_int_equal(was.dependent[0][1], 0x20);
    assert_int_equal(was.dependent[1][1], 0x1000); /* its own address: no secondary */
    assert_string_equal(was.types[1], "A.B<C>[]");
    assert_string_equal(was.names[7], "A.B.C");
    assert_int_equal(was.bounds[0][2], UINT64_MAX);
    assert_int_equal(was.end[0], 2);
    assert_int_equal(was.end[9], 0x80004005);
}

static void blocks_are_bounded_and_large_objects_come_in_parts(void **state)
{
    static uint64_t refs[100000];
    uint64_t        n_refs = 0, sum = 0, wanted = 0;
    (void)state;
    for (size_t i = 0; i < 100000; i++)
        wanted += refs[i] = (i * 0x9e3779b97f4a7c15u) & ~UINT64_C(7);
    sxs_heap_begin(&file, 1, SXS_HEAP_WALKED, 0, "", "");
    for (uint64_t i = 0; i < 200000; i++)
        sxs_heap_object(&file, (i * 0x123456789u) & ~UINT64_C(7), 1, i, NULL, 0);
    sxs_heap_object(&file, 0x4000, 1, 0, refs, 100000);
    sxs_heap_end(&file, &(struct sxs_heap_totals){0});
    assert_int_equal(read_snapshot(folder_fd, "heap-1"), 0);
    assert_true(was.n_blocks >= 4 && was.largest <= SXS_HEAP_BLOCK_MAX);
    for (uint64_t i = 0; i < 200000; i++)
        assert_int_equal(was.objects[i].address, (i * 0x123456789u) & ~UINT64_C(7));
    assert_true(was.n_objects > 200001);
    for (size_t i = 200000; i < was.n_objects; i++) {
        assert_int_equal(was.objects[i].address, 0x4000);
        n_refs += was.objects[i].n_refs;
        sum += was.objects[i].sum;
    }
    assert_int_equal(n_refs, 100000);
    assert_int_equal(sum, wanted);
}

static void long_texts_are_cut(void **state)
{
    static char text[100000];
    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    for (int i = 1; i < 20; i++)
        sxs_heap_type(&file, &(struct sxs_heap_type_record){(uint32_t)i, 0, 0, 8, text, text});
    sxs_heap_end(&file, &(struct sxs_heap_totals){0});
    assert_int_equal(read_snapshot(folder_fd, "heap-1"), 0);
    assert_int_equal(was.n_types, 19);
}

static void numbers_that_are_in_use_are_left_out(void **state)
{
    struct sxs_heap_file second = {0};
    (void)state;
    assert_int_equal(sxs_heap_create(&second, &its_folder, 1, SXS_HEAP_NOW, ""), 0);
    assert_int_equal(second.header->number, 2);
    sxs_heap_close(&second);
    assert_int_equal(read_snapshot(folder_fd, "heap-2"), 0);
    assert_int_equal(was.head.ended_ns, 0);
}

static void a_file_without_room_keeps_what_fits(void **state)
{
    struct rlimit saved, small = {.rlim_max = RLIM_INFINITY, .rlim_cur = 3 << 20};
    (void)state;
    getrlimit(RLIMIT_FSIZE, &saved);
    small.rlim_max = saved.rlim_max;
    sxs_heap_begin(&file, 1, SXS_HEAP_COLLECTED, 2, "", "");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    for (uint64_t i = 0; i < 2000000; i++)
        sxs_heap_object(&file, i * 0x100000, 1, 24, NULL, 0);
    sxs_heap_end(&file, &(struct sxs_heap_totals){0});
    setrlimit(RLIMIT_FSIZE, &saved);
    assert_int_equal(sxs_heap_ended(&file), EFBIG);
    assert_int_equal(read_snapshot(folder_fd, "heap-1"), 0);
    assert_int_equal(was.head.error, EFBIG);
    assert_int_equal(was.head.ended_ns, 0);
    assert_int_equal(was.n_ends, 0);
    assert_true(was.n_objects > 100000);
    for (size_t i = 0; i < was.n_objects; i++)
        assert_int_equal(was.objects[i].address, i * 0x100000);
}

/* ---- the events of a dump ---- */

static struct sxs_heap_sink sink;
static struct sxs_bulk      bulk;
static unsigned char        event[1 << 20];
static size_t               n_event;

static void put(uint64_t value, size_t size)
{
    memcpy(event + n_event, &value, size);
    n_event += size;
}

static void begin_event(uint32_t count)
{
    n_event = 0;
    put(0, 4);
    put(count, 4);
    put(0, 2);
}

static void send(uint32_t id)
{
    unsigned char *exact = malloc(n_event ? n_event : 1); /* the address sanitizer sees its end */
    memcpy(exact, event, n_event);
    sxs_bulk_event(&bulk, &sink, 1, id, exact, n_event);
    free(exact);
}

enum { ROOTS = 16, DEPENDENT = 17, NODES = 18, EDGES = 19, STATICS = 38 };

static void begin_dump(void)
{
    memset(&sink, 0, sizeof(sink));
    memset(&bulk, 0, sizeof(bulk));
    sink.file = &file;
    sxs_heap_begin(&file, 1, SXS_HEAP_COLLECTED, 2, "", "");
}

static void end_dump(void)
{
    sxs_bulk_end(&bulk, &sink);
    sxs_heap_end(&file, &sink.totals);
    sxs_heap_sink_free(&sink);
    assert_int_equal(read_snapshot(folder_fd, "heap-1"), 0);
}

/* Object number i, which refers to i % 5 objects: i + 1, i + 2... */
static uint64_t address_of(uint64_t i)
{
    return 0x7f0000000000 + i * 32;
}

static void put_node(uint64_t i)
{
    put(address_of(i), 8);
    put(24 + i % 3 * 8, 8);
    put(0x1000 + i % 7 * 8, 8); /* type */
    put(i % 5, 8);
}

static uint64_t       edges[100000];
static const uint32_t n_nodes = 20000;

static uint32_t make_edges(void)
{
    uint32_t n = 0;
    for (uint64_t i = 0; i < n_nodes; i++)
        for (uint64_t j = 1; j <= i % 5; j++)
            edges[n++] = address_of(i + j);
    return n;
}

static void send_nodes(uint64_t from, uint64_t until)
{
    begin_event((uint32_t)(until - from));
    for (uint64_t i = from; i < until; i++)
        put_node(i);
    send(NODES);
}

static void send_edges(uint64_t from, uint64_t until)
{
    begin_event((uint32_t)(until - from));
    for (uint64_t i = from; i < until; i++) {
        put(edges[i], 8);
        put(0, 4);
    }
    send(EDGES);
}

static void check_graph(void)
{
    uint64_t seen[20000] = {0};
    assert_int_equal(was.end[0], n_nodes);
    assert_int_equal(was.end[6] & SXS_HEAP_SOME_OBJECTS, 0);
    for (size_t at = 0; at < was.n_objects; at++) {
        const struct read_object *o = &was.objects[at];
        uint64_t                  i = (o->address - address_of(0)) / 32, sum = 0;
        assert_true(i < n_nodes);
        for (uint64_t j = 1; j <= i % 5; j++)
            sum += address_of(i + j);
        assert_int_equal(o->n_refs, i % 5);
        assert_int_equal(o->sum, sum);
        assert_int_equal(seen[i]++, 0);
    }
    assert_int_equal(was.n_objects, n_nodes);
}

/* Runtimes send an event when its buffer is full: those of objects and those of references overtake one
 * another. */
static void references_find_their_objects_in_every_order(void **state)
{
    uint32_t n_edges = make_edges(), seed = 12345;
    (void)state;
    for (int round = 0; round < 20; round++) {
        uint64_t nodes = 0, edges_sent = 0;
        if (round) {
            end(NULL);
            assert_int_equal(begin(NULL), 0);
        }
        begin_dump();
        while (nodes < n_nodes || edges_sent < n_edges) {
            uint64_t n = (seed = seed * 1664525 + 1013904223) >> 20;
            if ((round == 0 || (round > 1 && (seed & 0x8000))) && nodes < n_nodes) {
                uint64_t until = nodes + n < n_nodes ? nodes + n : n_nodes;
                send_nodes(nodes, until);
                nodes = until;
            } else if (edges_sent < n_edges) {
                uint64_t until = edges_sent + n < n_edges ? edges_sent + n : n_edges;
                send_edges(edges_sent, until);
                edges_sent = until;
            } else {
                send_nodes(nodes, n_nodes);
                nodes = n_nodes;
            }
        }
        end_dump();
        check_graph();
    }
}

static void objects_whose_references_are_lost_are_written_and_noted(void **state)
{
    uint32_t n_edges = make_edges();
    (void)state;
    begin_dump();
    send_nodes(0, n_nodes);
    send_edges(0, n_edges - 100);
    end_dump();
    assert_int_equal(was.n_objects, n_nodes);
    assert_true(was.end[6] & SXS_HEAP_SOME_OBJECTS);
    assert_int_equal(was.end[2], n_edges - 100);
}

static void an_array_is_written_while_its_references_come(void **state)
{
    uint64_t sum = 0, n = 0;
    (void)state;
    begin_dump();
    begin_event(1);
    put(0x1000, 8);
    put(800000, 8);
    put(8, 8);
    put(100000, 8);
    send(NODES);
    for (size_t i = 0; i < 100000; i++)
        edges[i] = 8 * i + 8;
    for (uint64_t i = 0; i < 100000; i += 5000) {
        send_edges(i, i + 5000);
        assert_true(bulk.n_edges - bulk.next_edge < 5000);
    }
    end_dump();
    for (size_t i = 0; i < was.n_objects; i++) {
        assert_int_equal(was.objects[i].address, 0x1000);
        n += was.objects[i].n_refs;
        sum += was.objects[i].sum;
    }
    assert_int_equal(n, 100000);
    assert_int_equal(sum, UINT64_C(8) * 100000 * 100001 / 2);
    assert_int_equal(was.end[0], 1);
    assert_int_equal(was.end[1], 800000);
}

static void put_static(uint64_t id, uint64_t object, const char *name)
{
    put(id, 8);
    put(object, 8);
    put(0x1000, 8);
    put(0, 4);
    for (size_t i = 0; i <= strlen(name); i++)
        put((unsigned char)name[i], 2);
}

static void roots_have_kinds_and_names(void **state)
{
    (void)state;
    begin_dump();
    begin_event(5);
    for (uint64_t kind = 0; kind < 5; kind++) { /* 4 is not known */
        put(0x1000 + 8 * kind, 8);
        put(kind, 1);
        put(kind, 4);
        put(0x77, 8);
    }
    send(ROOTS);
    begin_event(2);
    put(0x1000, 8);
    put(0x1008, 8);
    put(1, 8);
    put(0, 8); /* its primary is gone */
    put(0x1010, 8);
    put(2, 8);
    send(DEPENDENT);
    n_event = 0;
    put(3, 4);
    put(0x55, 8);
    put(0, 2);
    put_static(0x9000, 0x1000, "first");
    put_static(0x9008, 0, "null");
    put_static(0x9010, 0x1008, "second");
    send(STATICS);
    end_dump();
    assert_int_equal(was.n_roots, 7);
    assert_int_equal(was.roots[0][0], SXS_HEAP_ROOT_STACK);
    assert_int_equal(was.roots[1][0], SXS_HEAP_ROOT_FINALIZER);
    assert_int_equal(was.roots[2][0], SXS_HEAP_ROOT_HANDLE);
    assert_int_equal(was.roots[2][1], SXS_HEAP_ROOT_WEAK);
    assert_int_equal(was.roots[3][0], SXS_HEAP_ROOT_OTHER);
    assert_int_equal(was.roots[4][0], SXS_HEAP_ROOT_OTHER);
    assert_int_equal(was.roots[5][0], SXS_HEAP_ROOT_STATIC);
    assert_int_equal(was.roots[5][3], 0x9000);
    assert_int_equal(was.roots[6][2], 0x1008);
    assert_int_not_equal(was.roots[5][4], was.roots[6][4]);
    assert_int_equal(was.n_dependent, 1);
}

/* Every cut of every event, and wrong counts: no byte after the event is read. */
static void damaged_events_do_no_harm(void **state)
{
    static const uint32_t ids[] = {ROOTS, DEPENDENT, NODES, EDGES, STATICS, 15, 20, 0};
    (void)state;
    begin_dump();
    for (size_t k = 0; k < sizeof(ids) / sizeof(ids[0]); k++)
        for (size_t size = 0; size < 120; size++)
            for (uint32_t count = 1; count; count *= 2) {
                begin_event(count);
                if (ids[k] == STATICS) {
                    n_event = 0;
                    put(count, 4);
                }
                while (n_event < size)
                    put(n_event % 3, 1);
                n_event = size;
                send(ids[k]);
            }
    end_dump();
    assert_true(was.end[6] & SXS_HEAP_SOME_OBJECTS);
}

/* ---- options ---- */

static void options_are_read_and_checked(void **state)
{
    struct sxs_heap_options o;
    char                    why[SXS_TOOL_WHY];
    static const char *const wrong[] = {
        "repeat=0", "repeat=x", "signal=SEGV", "signal=RTMIN", "signal=RTMIN+1", "signal=RTMAX-63",
        "now=1",    "at-exit=", "collect",     "frames=yes",   "roots"};
    (void)state;
    assert_int_equal(sxs_heap_options_parse("", &o, why, sizeof(why)), 0);
    assert_int_equal(o.signal, SIGRTMAX - 5);
    assert_true(o.collect && !o.frames && !o.every_s && !o.now && !o.at_exit);
    assert_int_equal(
        sxs_heap_options_parse("repeat=5,signal=SIGUSR2,at-exit,now,collect=off,frames=on", &o, why,
                               sizeof(why)),
        0);
    assert_int_equal(o.signal, SIGUSR2);
    assert_true(!o.collect && o.frames && o.every_s == 5 && o.now && o.at_exit);
    assert_int_equal(sxs_heap_signal("off"), 0);
    assert_int_equal(sxs_heap_signal("RTMIN+2"), SIGRTMIN + 2);
    assert_int_equal(sxs_heap_signal("RTMAX"), SIGRTMAX);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_int_equal(sxs_heap_options_parse(wrong[i], &o, why, sizeof(why)), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_written_is_read, begin, end),
        cmocka_unit_test_setup_teardown(blocks_are_bounded_and_large_objects_come_in_parts, begin, end),
        cmocka_unit_test_setup_teardown(long_texts_are_cut, begin, end),
        cmocka_unit_test_setup_teardown(numbers_that_are_in_use_are_left_out, begin, end),
        cmocka_unit_test_setup_teardown(a_file_without_room_keeps_what_fits, begin, end),
        cmocka_unit_test_setup_teardown(references_find_their_objects_in_every_order, begin, end),
        cmocka_unit_test_setup_teardown(objects_whose_references_are_lost_are_written_and_noted, begin, end),
        cmocka_unit_test_setup_teardown(an_array_is_written_while_its_references_come, begin, end),
        cmocka_unit_test_setup_teardown(roots_have_kinds_and_names, begin, end),
        cmocka_unit_test_setup_teardown(damaged_events_do_no_harm, begin, end),
        cmocka_unit_test(options_are_read_and_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
