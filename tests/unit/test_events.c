/* SPDX-License-Identifier: MIT */
/* The pure parts of the tools "exceptions" and "events", and their file when it is damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <unistd.h>

#include <cmocka.h>

#include "tools/exceptions/in_flight.h"
#include "tools/events_file/seen_set.h"
#include "tools/events_file/message.h"
#include "tools/events_file/names.h"
#include "session/write/chunks_write.h"
#include "tools/options/events_options.h"
#include "session/read/events_read.h"

/* ---- exceptions under way ---- */

static char fates[64]; /* what landed, in order: number of the exception and its fate */

static void landed(struct sxs_in_flight *v)
{
    static const char letters[] = "suCNXF";
    size_t            at = strlen(fates);
    snprintf(fates + at, sizeof(fates) - at, "%u%c", v->type, letters[v->fate]);
}

static struct sxs_in_flight_list f;
enum { one = 1, two = 2 }; /* runtimes, by number */

static int fresh(void **state)
{
    (void)state;
    memset(&f, 0, sizeof(f));
    f.landed = landed;
    fates[0] = '\0';
    return 0;
}

static void throw(unsigned rt, uintptr_t sp, uint32_t number)
{
    sxs_in_flight_throw(&f, rt, sp)->type = number;
}

static void found(unsigned rt, uintptr_t sp)
{
    struct sxs_in_flight *v = sxs_in_flight_current(&f, rt, sp);
    assert_non_null(v);
    v->fate = SXS_FATE_UNWINDING;
}

static void test_caught(void **state)
{
    (void)state;
    throw(one, 1000, 1);
    found(one, 1000);
    sxs_in_flight_unwind_enter(&f, one, 1000, 7);
    sxs_in_flight_unwind_leave(&f, one, 1000);
    sxs_in_flight_catcher_enter(&f, one, 1000);
    assert_string_equal(fates, "1C");
    sxs_in_flight_catcher_leave(&f, one);
    assert_int_equal(f.n, 0);
}

static void test_thrown_again_and_in_a_catch(void **state)
{
    (void)state;
    throw(one, 1000, 1);
    found(one, 1000);
    sxs_in_flight_catcher_enter(&f, one, 1000);
    throw(one, 900, 2); /* by the handler; caught in it */
    found(one, 900);
    sxs_in_flight_catcher_enter(&f, one, 900);
    sxs_in_flight_catcher_leave(&f, one);
    assert_int_equal(f.n, 1);
    throw(one, 900, 3); /* leaves the handler */
    found(one, 900);
    sxs_in_flight_unwind_enter(&f, one, 900, 7);
    sxs_in_flight_unwind_leave(&f, one, 900);
    sxs_in_flight_catcher_enter(&f, one, 900);
    assert_string_equal(fates, "1C2C3C");
}

static void test_superseded(void **state)
{
    (void)state;
    throw(one, 1000, 1);
    found(one, 1000);
    sxs_in_flight_unwind_enter(&f, one, 1000, 7);
    sxs_in_flight_finally_enter(&f, one, 1000, 7);
    throw(one, 900, 2);
    found(one, 900);
    sxs_in_flight_unwind_enter(&f, one, 900, 7); /* the function of the finally block is left */
    sxs_in_flight_unwind_leave(&f, one, 900);
    sxs_in_flight_catcher_enter(&f, one, 900);
    assert_string_equal(fates, "1X2C");
    assert_int_equal(f.n, 1);
}

static void test_caught_within_a_finally_block(void **state)
{
    (void)state;
    throw(one, 1000, 1);
    found(one, 1000);
    sxs_in_flight_unwind_enter(&f, one, 1000, 7);
    sxs_in_flight_finally_enter(&f, one, 1000, 7);
    throw(one, 900, 2);
    found(one, 900);
    sxs_in_flight_unwind_enter(&f, one, 900, 8);
    sxs_in_flight_unwind_leave(&f, one, 900);
    sxs_in_flight_unwind_enter(&f, one, 900, 7);
    sxs_in_flight_catcher_enter(&f, one, 900); /* in 7, which is not left */
    sxs_in_flight_catcher_leave(&f, one);
    assert_string_equal(fates, "2C");
    sxs_in_flight_finally_leave(&f, one, 1000);
    sxs_in_flight_unwind_leave(&f, one, 1000);
    sxs_in_flight_catcher_enter(&f, one, 1000);
    assert_string_equal(fates, "2C1C");
}

static void test_filters(void **state)
{
    (void)state;
    throw(one, 1000, 1);
    sxs_in_flight_filter_enter(&f, one, 1000);
    throw(one, 900, 2); /* the filter's answer is no */
    sxs_in_flight_filter_leave(&f, one);
    assert_string_equal(fates, "2F");
    found(one, 1000);
    sxs_in_flight_catcher_enter(&f, one, 1000);
    assert_string_equal(fates, "2F1C");
}

static void test_native_code(void **state)
{
    (void)state;
    throw(one, 1000, 1);
    sxs_in_flight_unwind_enter(&f, one, 1000, 7);
    assert_int_equal(f.all[0].fate, SXS_FATE_SEARCHING);
    sxs_in_flight_unwind_leave(&f, one, 1000);
    assert_int_equal(f.all[0].fate, SXS_FATE_NATIVE);
    throw(one, 1000, 2); /* could not be thrown there if the first were under way */
    assert_string_equal(fates, "1N");
    sxs_in_flight_end(&f);
    assert_string_equal(fates, "1N2N");
}

/* 9.0 and later report the end of a search without a catcher by a leave without an enter. */
static void test_unwound_without_a_catcher(void **state)
{
    (void)state;
    volatile uintptr_t slot = 5;
    int                known = 0;
    for (int crash = 0; crash < 2; crash++) {
        fresh(state);
        throw(one, 1000, 1);
        sxs_in_flight_unwind_leave(&f, one, 1000);
        sxs_in_flight_unwind_enter(&f, one, 1000, 7);
        sxs_in_flight_unwind_leave(&f, one, 1000);
        sxs_in_flight_unwind_enter(&f, one, 1000, 8);
        sxs_in_flight_finally_enter(&f, one, 1000, 8);
        sxs_in_flight_finally_leave(&f, one, 1000);
        assert_int_equal(f.all[0].fate, SXS_FATE_UNWOUND);
        if (crash) {
            uintptr_t sp = (uintptr_t)&slot - 8;
            assert_null(sxs_in_flight_crash(&f, sp, &known));
            assert_int_equal(known, 0); /* where was it thrown? */
            f.all[0].thrower = (struct sxs_thrower){(uintptr_t)&slot, 4};
            assert_null(sxs_in_flight_crash(&f, sp, &known)); /* native code has caught it... */
            assert_int_equal(known, 0); /* ...or native code has ended the process */
            f.all[0].thrower.value = 5;
            assert_null(sxs_in_flight_crash(&f, sp + 8, &known)); /* by an older frame */
            assert_int_equal(known, 1);
            assert_ptr_equal(sxs_in_flight_crash(&f, sp, &known), &f.all[0]);
            assert_int_equal(known, 1);
            assert_int_equal(f.all[0].fate, SXS_FATE_UNHANDLED);
        } else {
            throw(one, 1000, 2);
            assert_string_equal(fates, "1N");
        }
    }
}

static void test_an_exception_of_a_finally_block_that_nobody_handles(void **state)
{
    volatile uintptr_t slot = 5;
    int                known = 0;
    (void)state;
    throw(one, 1000, 1);
    sxs_in_flight_unwind_leave(&f, one, 1000);
    sxs_in_flight_unwind_enter(&f, one, 1000, 7);
    sxs_in_flight_finally_enter(&f, one, 1000, 7);
    throw(one, 900, 2);
    sxs_in_flight_unwind_leave(&f, one, 900);
    f.all[0].thrower = f.all[1].thrower = (struct sxs_thrower){(uintptr_t)&slot, 5};
    assert_ptr_equal(sxs_in_flight_crash(&f, (uintptr_t)&slot - 8, &known), &f.all[1]);
    assert_int_equal(f.all[0].fate, SXS_FATE_SUPERSEDED);
}

static void test_two_runtimes(void **state)
{
    (void)state;
    throw(one, 1000, 1);
    found(one, 1000);
    sxs_in_flight_finally_enter(&f, one, 1000, 7);
    throw(two, 900, 2); /* the block calls the other runtime */
    assert_null(sxs_in_flight_current(&f, one, 1000));
    found(two, 900);
    sxs_in_flight_catcher_enter(&f, two, 900);
    sxs_in_flight_catcher_leave(&f, two);
    sxs_in_flight_finally_leave(&f, one, 1000);
    sxs_in_flight_catcher_enter(&f, one, 1000);
    assert_string_equal(fates, "2C1C");
}

static void test_too_many(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 20; i++)
        throw(one, 1000 - i, i);
    assert_int_equal(f.n, SXS_IN_FLIGHT_MAX);
    assert_string_equal(fates, "0N1N2N3N");
    assert_int_equal(f.all[0].type, 4);
}

/* ---- messages, tables, options ---- */

static void test_utf8(void **state)
{
    static const uint16_t odd[] = {'a', 0xe9, 0x20ac, 0xd83d, 0xde00, 0xd800, '\n', 0xdc00};
    char                  out[64], small[4];
    int                   cut;
    (void)state;
    assert_int_equal(sxs_message_utf8(odd, 8, out, sizeof(out), &cut), 1 + 2 + 3 + 4 + 3 + 1 + 3);
    assert_string_equal(out, "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xef\xbf\xbd \xef\xbf\xbd");
    assert_int_equal(cut, 0);
    assert_int_equal(sxs_message_utf8(odd, 3, small, sizeof(small), &cut), 3);
    assert_int_equal(cut, 1); /* between characters */
    assert_int_equal(sxs_message_utf8(odd, 0, small, sizeof(small), &cut), 0);
    assert_string_equal(small, "");
}

static void test_known(void **state)
{
    static struct sxs_seen_set t;
    (void)state;
    for (uint64_t i = 0; i < 20000; i++)
        assert_non_null(
            sxs_seen_set_add(&t, &(struct sxs_seen_key){i * 8, i & 3, 1}, (uint32_t)i, NULL));
    for (uint64_t i = 0; i < 20000; i++)
        assert_int_equal(sxs_seen_set_find(&t, &(struct sxs_seen_key){i * 8, i & 3, 1})->number, i);
    assert_null(sxs_seen_set_find(&t, &(struct sxs_seen_key){8, 1, 2}));
    for (size_t i = 0; i < SXS_SEEN_BUCKETS; i++)
        for (struct sxs_seen_entry *e = t.buckets[i], *next; e; e = next) {
            next = e->next;
            free(e);
        }
}

static unsigned n_written;

static uint32_t write_name(const struct sxs_runtime *rt, const char *text)
{
    (void)rt, (void)text;
    return ++n_written;
}

/* Collectible assemblies: IDs come and go, names stay. */
static void test_names_are_written_once(void **state)
{
    char text[32];
    (void)state;
    for (int loads = 0; loads < 5000; loads++) {
        sxs_names_unloading();
        assert_int_equal(sxs_names_intern(one, "Plugin.Failure", write_name, NULL), 1);
    }
    assert_int_equal(n_written, 1);
    assert_int_equal(sxs_names_intern(two, "Plugin.Failure", write_name, NULL),
                     2); /* another runtime's */
    for (unsigned i = 0; i < SXS_SEEN_MAX + 1000; i++) {
        snprintf(text, sizeof(text), "Generated.Type%u", i);
        sxs_names_intern(one, text, write_name, NULL);
    }
    assert_int_equal(n_written, SXS_SEEN_MAX); /* and then no more */
    assert_int_equal(sxs_names_intern(one, text, write_name, NULL), 0);
    assert_int_equal(sxs_names_intern(one, "Plugin.Failure", write_name, NULL), 1);
}

static void test_options(void **state)
{
    struct sxs_event_options o;
    char                     why[SXS_TOOL_WHY];
    (void)state;
    assert_int_equal(sxs_event_options_parse("", &o, why, sizeof(why)), 0);
    assert_true(o.tiers && !o.classes);
    assert_int_equal(sxs_event_options_parse("tiers=off,classes", &o, why, sizeof(why)), 0);
    assert_true(!o.tiers && o.classes);
    assert_int_equal(sxs_event_options_parse("classes,tiers=of", &o, why, sizeof(why)), -1);
    assert_string_equal(why, "tiers=of: expected on or off");
}

/* ---- the file ---- */

static void add_name(struct sxs_chunks *c, uint32_t number, const char *text)
{
    struct sxs_event_name *r = sxs_chunks_reserve(c, sizeof(*r) + strlen(text));
    r->number = number;
    r->size = (uint16_t)strlen(text);
    memcpy(r->text, text, r->size);
    sxs_chunks_commit(r, SXS_EVENT_NAME);
}

static void add_throw_site(struct sxs_chunks *c, uint32_t thrown, uint64_t n)
{
    struct sxs_event_throw_site *r = sxs_chunks_reserve(c, sizeof(*r));
    r->type = 1;
    r->thrown = thrown;
    r->runtime = 1;
    r->fate = SXS_FATE_CAUGHT;
    r->n = n;
    sxs_chunks_commit(r, SXS_EVENT_THROW_SITE);
}

static void add_exception(struct sxs_chunks *c, uint8_t fate, int kept, const char *message)
{
    struct sxs_event_exception *r = sxs_chunks_reserve(c, sizeof(*r) + strlen(message));
    r->type = 1;
    r->thrown = 2;
    r->runtime = 1;
    r->fate = fate;
    r->kept = (uint8_t)kept;
    r->message_size = (uint16_t)strlen(message);
    memcpy(r->message, message, r->message_size);
    sxs_chunks_commit(r, SXS_EVENT_EXCEPTION);
}

static void add_span(struct sxs_chunks *c, uint64_t time, const char *text)
{
    struct sxs_event_span *r = sxs_chunks_reserve(c, sizeof(*r) + strlen(text));
    r->time_ns = time;
    r->kind = SXS_KIND_JIT;
    r->size = (uint16_t)strlen(text);
    memcpy(r->text, text, r->size);
    sxs_chunks_commit(r, SXS_EVENT_SPAN);
}

static char dir[] = "/tmp/sxs-test-events-XXXXXX";

static int write_file(void **state)
{
    static struct sxs_chunks c;
    static struct sxs_folder folder;
    struct sxs_events_header *h;
    int                       fd;
    assert_non_null(mkdtemp(dir));
    fd = open(dir, O_RDONLY | O_DIRECTORY);
    assert_int_equal(sxs_folder_open(&folder, dir), 0);
    assert_int_equal(sxs_chunks_create(&c, &folder, SXS_EVENTS_FILE, 0,
                                       offsetof(struct sxs_events_header, n_chunks)), 0);
    h = (struct sxs_events_header *)c.map;
    h->version = SXS_EVENTS_VERSION;
    h->max_chunks = c.max_chunks;
    memcpy(h->magic, SXS_EVENTS_MAGIC, sizeof(h->magic));
    add_throw_site(&c, 2, 5);
    add_name(&c, 1, "A.Type");
    add_name(&c, 2, "A.Method()");
    add_name(&c, 3, "A.Method()"); /* the same once more: its code was unloaded and loaded again */
    add_throw_site(&c, 3, 2);
    add_exception(&c, SXS_FATE_CAUGHT, 1, "first");
    add_exception(&c, SXS_FATE_SEARCHING, 0, "last");
    for (uint64_t i = 0; i < 4000; i++)
        add_span(&c, 4000 - i, "B.Compiled(System.Int32)");
    *state = (void *)(intptr_t)fd;
    return 0;
}

static int remove_file(void **state)
{
    int fd = (int)(intptr_t)*state;
    unlinkat(fd, SXS_EVENTS_FILE, 0);
    close(fd);
    return rmdir(dir);
}

static void test_read(void **state)
{
    struct sxs_events_data *e;
    char                    why[128];
    assert_int_equal(sxs_events_read(SXS_FILES_OF((int)(intptr_t)*state), &e, why, sizeof(why)), 0);
    assert_int_equal(e->n_problems, 0);
    assert_int_equal(e->n_throw_sites, 1);
    assert_int_equal(e->throw_sites[0].n, 7);
    assert_string_equal(e->throw_sites[0].type, "A.Type");
    assert_string_equal(e->throw_sites[0].thrown, "A.Method()");
    assert_string_equal(e->throw_sites[0].message, "first");
    assert_int_equal(e->n_exceptions, 2);
    assert_int_equal(e->n_spans, 4000);
    assert_int_equal(e->spans[0].time_ns, 1);
    assert_string_equal(sxs_fate_text(e, SXS_FATE_SEARCHING), "unhandled");
    atomic_store(&e->head.ended_ns, 1);
    assert_string_equal(sxs_fate_text(e, SXS_FATE_SEARCHING), "under way");
    assert_string_equal(sxs_fate_text(e, SXS_FATE_UNWOUND), "by native code");
    atomic_store(&e->head.ended_ns, 0);
    assert_string_equal(sxs_fate_text(e, SXS_FATE_UNWOUND), "unhandled, or by native code");
    atomic_store(&e->head.crash_watch, SXS_CRASH_SEEN);
    assert_string_equal(sxs_fate_text(e, SXS_FATE_SEARCHING), "under way");
    assert_string_equal(sxs_fate_text(e, SXS_FATE_UNWOUND), "by native code");
    assert_string_equal(sxs_fate_text(e, SXS_FATE_UNHANDLED), "unhandled");
    sxs_events_free(e);
}

/* Bytes changed, stretches moved, ends cut: never a crash, and never more than there was. */
static void test_damaged(void **state)
{
    static char bytes[SXS_HEADER_SIZE + 2 * SXS_CHUNK_SIZE], whole[sizeof(bytes)];
    int         fd = (int)(intptr_t)*state, file = openat(fd, SXS_EVENTS_FILE, O_RDWR);
    unsigned    refused = 0, complained = 0;
    assert_int_equal(pread(file, whole, sizeof(whole), 0), sizeof(whole));
    srandom(1);
    for (unsigned round = 0; round < 400; round++) {
        struct sxs_events_data *e;
        char                    why[128];
        size_t                  size = round % 4 ? sizeof(bytes) : (size_t)random() % sizeof(bytes);
        memcpy(bytes, whole, sizeof(bytes));
        for (long n = 1 + random() % 40; n > 0; n--) {
            size_t at = (size_t)random() % (random() % 4 ? 8000 : sizeof(bytes));
            if (at >= SXS_HEADER_SIZE || round % 8 == 5)
                bytes[at] = (char)random();
        }
        if (round % 8 == 1) /* what it must be */
            bytes[random() % 16] ^= 1;
        assert_int_equal(pwrite(file, bytes, size, 0), size);
        assert_int_equal(ftruncate(file, (off_t)size), 0);
        if (sxs_events_read(SXS_FILES_OF(fd), &e, why, sizeof(why)) != 0) {
            assert_true(why[0]);
            refused++;
            continue;
        }
        complained += e->n_problems > 0;
        assert_true(e->n_spans <= 4100 && e->n_throw_sites <= 100);
        sxs_events_free(e);
    }
    assert_true(refused > 10);
    assert_true(complained > 100);
    close(file);
}

int main(void)
{
    static const struct CMUnitTest in_flight_tests[] = {
        cmocka_unit_test_setup(test_caught, fresh),
        cmocka_unit_test_setup(test_thrown_again_and_in_a_catch, fresh),
        cmocka_unit_test_setup(test_superseded, fresh),
        cmocka_unit_test_setup(test_caught_within_a_finally_block, fresh),
        cmocka_unit_test_setup(test_filters, fresh),
        cmocka_unit_test_setup(test_native_code, fresh),
        cmocka_unit_test_setup(test_unwound_without_a_catcher, fresh),
        cmocka_unit_test_setup(test_an_exception_of_a_finally_block_that_nobody_handles, fresh),
        cmocka_unit_test_setup(test_two_runtimes, fresh),
        cmocka_unit_test_setup(test_too_many, fresh),
        cmocka_unit_test(test_utf8),
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_names_are_written_once),
        cmocka_unit_test(test_options),
    };
    static const struct CMUnitTest file[] = {
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(in_flight_tests, NULL, NULL) +
           cmocka_run_group_tests(file, write_file, remove_file);
}
