/* SPDX-License-Identifier: MIT */
/* test_gc.c - the events of collections are put together right: in order, twice,
 * lost, in any order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/dice.h"
#include "tools/gc/collections.h"

#define MS      UINT64_C(1000000)
#define MAX     64
#define MUTATOR 100u /* thread that asks for collections, and runs them without server GC */
#define BGC     200u /* thread of background collections */
#define OTHER   300u

static struct sxs_event_collection records[MAX];
static size_t                      n_records, room;
static struct sxs_gc_collections   all;

static void *reserve_record(size_t size)
{
    assert_int_equal(size, sizeof(records[0]));
    return n_records < room ? &records[n_records++] : NULL;
}

static void commit_record(void *record, enum sxs_event_record_type type)
{
    ((struct sxs_record *)record)->type = (uint16_t)type;
}

static void begin_test(void)
{
    memset(records, 0, sizeof(records));
    memset(&all, 0, sizeof(all));
    n_records = 0;
    room = MAX;
    pthread_mutex_init(&all.lock, NULL);
    all.runtime = 3;
    all.reserve = reserve_record;
    all.commit = commit_record;
}

/* An event of a sequence. */
struct step {
    uint64_t            at_ms;
    uint32_t            tid;
    struct sxs_gc_event e;
};

#define STEP(ms, thread, ...) {ms, thread, {__VA_ARGS__}}

static const struct step blocking[] = {
    STEP(10, MUTATOR, .id = SXS_GC_TRIGGERED, .reason = SXS_GC_INDUCED),
    STEP(10, MUTATOR, .id = SXS_GC_SUSPEND_EE_BEGIN, .reason = SXS_SUSPENDED_FOR_GC),
    STEP(12, MUTATOR, .id = SXS_GC_SUSPEND_EE_END),
    STEP(13, MUTATOR, .id = SXS_GC_START, .number = 1, .generation = 2, .reason = SXS_GC_INDUCED),
    STEP(18, MUTATOR, .id = SXS_GC_GLOBAL_HEAP_HISTORY, .heap = 2, .mechanisms = 2),
    STEP(18, MUTATOR, .id = SXS_GC_PER_HEAP_HISTORY, .heap = 0,
         .generations = {{.before = 1000, .free_before = 100, .survived = 300, .free_after = 7}}),
    STEP(18, MUTATOR, .id = SXS_GC_PER_HEAP_HISTORY, .heap = 1,
         .generations = {{.before = 2000, .free_before = 200, .survived = 500, .free_after = 9}}),
    STEP(19, MUTATOR, .id = SXS_GC_END, .number = 1, .generation = 2),
    STEP(19, MUTATOR, .id = SXS_GC_HEAP_STATS, .size = {800}, .promoted = {800}, .n_pinned = 4,
         .n_handles = 5, .n_finalizable = 6, .finalizable = 77),
    STEP(20, MUTATOR, .id = SXS_GC_RESTART_EE_BEGIN),
    STEP(21, MUTATOR, .id = SXS_GC_RESTART_EE_END),
    STEP(22, OTHER, .id = SXS_GC_FINALIZERS_BEGIN),
    STEP(25, OTHER, .id = SXS_GC_FINALIZERS_END, .number = 6),
};
#define N_BLOCKING (sizeof(blocking) / sizeof(blocking[0]))

static void take(const struct step *s)
{
    assert_int_equal(sxs_gc_take(&all, &s->e, s->at_ms * MS, s->tid), 1);
}

static void check_blocking(const struct sxs_event_collection *r)
{
    assert_int_equal(r->head.type, SXS_EVENT_COLLECTION);
    assert_int_equal(r->runtime, 3);
    assert_int_equal(r->number, 1);
    assert_int_equal(r->generation, 2);
    assert_int_equal(r->reason, SXS_GC_INDUCED);
    assert_int_equal(r->type, SXS_GC_BLOCKING);
    assert_int_equal(r->tid, MUTATOR);
    assert_int_equal(r->trigger_tid, MUTATOR);
    assert_int_equal(r->time_ns, 13 * MS);
    assert_int_equal(r->end_ns, 19 * MS);
    assert_int_equal(r->known, 15);
    assert_int_equal(r->n_pauses, 1);
    assert_int_equal(r->pause_ns, 11 * MS);
    assert_int_equal(r->suspension_ns, 2 * MS);
    assert_int_equal(r->pauses[0].time_ns, 10 * MS);
    assert_int_equal(r->pauses[0].suspension_ns, 2 * MS);
    assert_int_equal(r->pauses[0].duration_ns, 11 * MS);
    assert_int_equal(r->heaps, 2);
    assert_int_equal(r->mechanisms, 2);
    assert_int_equal(r->generations[0].before, 3000);
    assert_int_equal(r->generations[0].free_before, 300);
    assert_int_equal(r->generations[0].survived, 800);
    assert_int_equal(r->generations[0].fragmentation, 16);
    assert_int_equal(r->generations[0].size, 800);
    assert_int_equal(r->generations[0].promoted, 800);
    assert_int_equal(r->n_pinned, 4);
    assert_int_equal(r->n_handles, 5);
    assert_int_equal(r->n_finalizable, 6);
    assert_int_equal(r->finalizable, 77);
    assert_int_equal(r->n_finalized, 6);
    assert_int_equal(r->finalizers_ns, 3 * MS);
}

static void a_blocking_collection_has_all_that_was_reported(void **state)
{
    (void)state;
    begin_test();
    for (size_t i = 0; i < N_BLOCKING; i++)
        take(&blocking[i]);
    assert_int_equal(n_records, 1);
    check_blocking(&records[0]);
}

static void events_that_come_several_times_change_nothing(void **state)
{
    (void)state;
    begin_test();
    for (size_t i = 0; i < N_BLOCKING; i++)
        for (int k = 0; k < 3; k++)
            take(&blocking[i]);
    assert_int_equal(n_records, 1);
    check_blocking(&records[0]);
}

/* The collection after one of whose events one was lost is whole. */
static void a_lost_event_spoils_only_its_own_collection(void **state)
{
    (void)state;
    for (size_t lost = 0; lost < N_BLOCKING; lost++) {
        begin_test();
        for (size_t i = 0; i < N_BLOCKING; i++)
            if (i != lost)
                take(&blocking[i]);
        if (n_records == 1 && lost != 7) /* without GCEnd, statistics have no collection */
            assert_int_equal(records[0].number, 1);
        for (size_t i = 0; i < N_BLOCKING; i++) {
            struct step later = blocking[i];
            later.at_ms += 100;
            if (later.e.id == SXS_GC_START || later.e.id == SXS_GC_END)
                later.e.number = 2;
            take(&later);
        }
        const struct sxs_event_collection *r = &records[n_records - 1];
        assert_int_equal(n_records, lost == 3 ? 1 : 2);
        assert_int_equal(r->number, 2);
        assert_int_equal(r->end_ns - r->time_ns, 6 * MS);
        assert_int_equal(r->pause_ns, 11 * MS);
        assert_int_equal(r->generations[0].before, 3000);
        assert_int_equal(r->generations[0].size, 800);
        assert_int_equal(r->n_finalizable, 6);
        assert_true(records[0].pause_ns <= 11 * MS);
    }
}

/* A background collection from 10 to 90, stopped from 10 to 15 and from 70 to 75; a foreground
 * collection inside, stopped from 30 to 36; another one inside the first stop. */
static const struct step background[] = {
    STEP(10, MUTATOR, .id = SXS_GC_SUSPEND_EE_BEGIN, .reason = SXS_SUSPENDED_FOR_GC),
    STEP(11, MUTATOR, .id = SXS_GC_SUSPEND_EE_END),
    STEP(11, MUTATOR, .id = SXS_GC_START, .number = 5, .generation = 2, .reason = SXS_GC_ALLOCATION,
         .type = SXS_GC_BACKGROUND),
    STEP(12, MUTATOR, .id = SXS_GC_START, .number = 6, .generation = 1, .reason = SXS_GC_ALLOCATION,
         .type = SXS_GC_FOREGROUND),
    STEP(13, MUTATOR, .id = SXS_GC_PER_HEAP_HISTORY, .generations = {{.before = 60}}),
    STEP(14, MUTATOR, .id = SXS_GC_END, .number = 6, .generation = 1),
    STEP(14, MUTATOR, .id = SXS_GC_HEAP_STATS, .size = {600}),
    STEP(14, BGC, .id = SXS_GC_RESTART_EE_BEGIN),
    STEP(15, BGC, .id = SXS_GC_RESTART_EE_END),
    /* The background collection asks for its second stop, and waits for the foreground one. */
    STEP(30, MUTATOR, .id = SXS_GC_SUSPEND_EE_BEGIN, .reason = SXS_SUSPENDED_FOR_GC),
    STEP(31, MUTATOR, .id = SXS_GC_SUSPEND_EE_END),
    STEP(32, MUTATOR, .id = SXS_GC_START, .number = 7, .generation = 0, .type = SXS_GC_FOREGROUND),
    STEP(33, BGC, .id = SXS_GC_SUSPEND_EE_BEGIN, .reason = SXS_SUSPENDED_FOR_GC_PREP),
    STEP(34, MUTATOR, .id = SXS_GC_PER_HEAP_HISTORY, .generations = {{.before = 70}}),
    STEP(34, MUTATOR, .id = SXS_GC_END, .number = 7, .generation = 0),
    STEP(34, MUTATOR, .id = SXS_GC_HEAP_STATS, .size = {700}),
    STEP(35, MUTATOR, .id = SXS_GC_RESTART_EE_BEGIN),
    STEP(37, BGC, .id = SXS_GC_SUSPEND_EE_END), /* before the event RESUMED of the other thread */
    STEP(37, MUTATOR, .id = SXS_GC_RESTART_EE_END),
    STEP(39, BGC, .id = SXS_GC_RESTART_EE_BEGIN),
    STEP(40, BGC, .id = SXS_GC_RESTART_EE_END),
    STEP(90, BGC, .id = SXS_GC_END, .number = 5, .generation = 2),
    STEP(90, BGC, .id = SXS_GC_HEAP_STATS, .size = {500}),
    /* As in server GC: histories after the end. Another collection has begun on its thread. */
    STEP(91, MUTATOR, .id = SXS_GC_START, .number = 8, .generation = 0),
    STEP(92, BGC, .id = SXS_GC_GLOBAL_HEAP_HISTORY, .heap = 1, .mechanisms = 1),
    STEP(92, BGC, .id = SXS_GC_PER_HEAP_HISTORY, .generations = {{.before = 50}}),
    STEP(93, MUTATOR, .id = SXS_GC_PER_HEAP_HISTORY, .generations = {{.before = 80}}),
    STEP(94, MUTATOR, .id = SXS_GC_END, .number = 8, .generation = 0),
};

static void collections_inside_a_background_collection_are_distinguished(void **state)
{
    (void)state;
    for (int times = 1; times <= 2; times++) {
        begin_test();
        for (size_t i = 0; i < sizeof(background) / sizeof(background[0]); i++)
            for (int k = 0; k < times; k++)
                take(&background[i]);
        assert_int_equal(n_records, 4);
        const struct sxs_event_collection *b = &records[0], *first = &records[1];
        const struct sxs_event_collection *second = &records[2], *next = &records[3];
        assert_int_equal(b->end_ns, 90 * MS);
        assert_int_equal(b->n_pauses, 2);
        assert_int_equal(b->pauses[0].duration_ns, 3 * MS); /* 5, less 2 of the collection inside */
        assert_int_equal(b->pauses[1].time_ns, 35 * MS); /* from the end of the stop before */
        assert_int_equal(b->pauses[1].suspension_ns, 2 * MS);
        assert_int_equal(b->pauses[1].duration_ns, 5 * MS);
        assert_int_equal(b->generations[0].size, 500);
        assert_int_equal(b->generations[0].before, 50);
        assert_int_equal(b->mechanisms, 1);
        assert_int_equal(first->pause_ns, 2 * MS);
        assert_int_equal(first->generations[0].size, 600);
        assert_int_equal(first->generations[0].before, 60);
        /* GCRestartEEEnd came too late: until GCRestartEEBegin */
        assert_int_equal(second->pause_ns, 5 * MS);
        assert_int_equal(second->generations[0].size, 700);
        assert_int_equal(second->generations[0].before, 70);
        assert_int_equal(next->generations[0].before, 80);
    }
}

/* A foreground collection begins before the thread of a background collection has reported all of
 * it. */
static const struct step overlapping[] = {
    STEP(11, MUTATOR, .id = SXS_GC_START, .number = 5, .generation = 2, .reason = SXS_GC_ALLOCATION,
         .type = SXS_GC_BACKGROUND),
    STEP(30, MUTATOR, .id = SXS_GC_START, .number = 6, .generation = 1, .reason = SXS_GC_INDUCED),
    STEP(31, BGC, .id = SXS_GC_GLOBAL_HEAP_HISTORY, .heap = 1, .mechanisms = 1),
    STEP(32, MUTATOR, .id = SXS_GC_GLOBAL_HEAP_HISTORY, .heap = 1, .mechanisms = 2),
    STEP(32, BGC, .id = SXS_GC_PER_HEAP_HISTORY, .generations = {{.before = 50}}),
    STEP(33, MUTATOR, .id = SXS_GC_PER_HEAP_HISTORY, .generations = {{.before = 60}}),
    STEP(34, MUTATOR, .id = SXS_GC_END, .number = 6, .generation = 1),
    STEP(35, BGC, .id = SXS_GC_END, .number = 5, .generation = 2),
    STEP(35, BGC, .id = SXS_GC_HEAP_STATS, .size = {500}, .n_pinned = 5),
    STEP(36, MUTATOR, .id = SXS_GC_HEAP_STATS, .size = {600}, .n_pinned = 6),
};

static void a_collection_that_begins_before_another_is_reported_keeps_to_itself(void **state)
{
    (void)state;
    for (int times = 1; times <= 2; times++) {
        begin_test();
        for (size_t i = 0; i < sizeof(overlapping) / sizeof(overlapping[0]); i++)
            for (int k = 0; k < times; k++)
                take(&overlapping[i]);
        assert_int_equal(n_records, 2);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(records[i].mechanisms, 1 + i);
            assert_int_equal(records[i].generations[0].before, 50 + 10 * i);
            assert_int_equal(records[i].generations[0].size, 500 + 100 * i);
            assert_int_equal(records[i].n_pinned, 5 + i);
        }
    }
}

/* Callbacks do not say which collection has ended: the one that began last. */
static void ends_without_a_number_are_of_the_latest(void **state)
{
    static const struct step steps[] = {
        STEP(10, MUTATOR, .id = SXS_GC_START, .number = 1, .generation = 2, .type = SXS_GC_UNKNOWN),
        STEP(20, OTHER, .id = SXS_GC_START, .number = 2, .type = SXS_GC_UNKNOWN),
        STEP(30, OTHER, .id = SXS_GC_END),
        STEP(40, BGC, .id = SXS_GC_END),
        STEP(50, OTHER, .id = SXS_GC_END), /* one too many */
    };
    (void)state;
    begin_test();
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        take(&steps[i]);
    assert_int_equal(n_records, 2);
    assert_int_equal(records[1].end_ns, 30 * MS);
    assert_int_equal(records[0].end_ns, 40 * MS);
}

static void other_suspensions_are_no_pauses_of_collections(void **state)
{
    static const struct step steps[] = {
        STEP(5, OTHER, .id = SXS_GC_SUSPEND_EE_BEGIN, .reason = 4), /* asked for, for code */
        STEP(6, MUTATOR, .id = SXS_GC_SUSPEND_EE_BEGIN, .reason = SXS_SUSPENDED_FOR_GC),
        STEP(7, OTHER, .id = SXS_GC_SUSPEND_EE_END),
        STEP(8, OTHER, .id = SXS_GC_RESTART_EE_BEGIN),
        STEP(9, OTHER, .id = SXS_GC_RESTART_EE_END),
        STEP(10, MUTATOR, .id = SXS_GC_SUSPEND_EE_END),
        STEP(10, MUTATOR, .id = SXS_GC_START, .number = 1),
        STEP(12, MUTATOR, .id = SXS_GC_END, .number = 1),
        STEP(12, MUTATOR, .id = SXS_GC_RESTART_EE_BEGIN),
        STEP(13, MUTATOR, .id = SXS_GC_RESTART_EE_END),
        STEP(20, OTHER, .id = SXS_GC_SUSPEND_EE_BEGIN, .reason = 4),
        STEP(21, OTHER, .id = SXS_GC_SUSPEND_EE_END),
        STEP(28, OTHER, .id = SXS_GC_RESTART_EE_BEGIN),
        STEP(29, OTHER, .id = SXS_GC_RESTART_EE_END),
    };
    (void)state;
    begin_test();
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        take(&steps[i]);
    assert_int_equal(n_records, 1);
    assert_int_equal(records[0].n_pauses, 1);
    assert_int_equal(records[0].pause_ns, 7 * MS);
    assert_int_equal(records[0].suspension_ns, 4 * MS);
}

static void without_room_nothing_is_written_and_the_loss_is_reported(void **state)
{
    (void)state;
    begin_test();
    room = 0;
    for (size_t i = 0; i < N_BLOCKING; i++)
        assert_int_equal(sxs_gc_take(&all, &blocking[i].e, blocking[i].at_ms * MS, blocking[i].tid),
                         blocking[i].e.id != SXS_GC_START);
    room = MAX;
    for (size_t i = 0; i < N_BLOCKING; i++) {
        struct step later = blocking[i];
        later.e.number += later.e.id == SXS_GC_START || later.e.id == SXS_GC_END;
        later.at_ms += 50;
        take(&later);
    }
    assert_int_equal(n_records, 1);
    assert_int_equal(records[0].number, 2);
    assert_int_equal(records[0].pause_ns, 11 * MS);
}

/* Whatever comes, no pause is longer than the time that has passed. */
static void any_order_is_survived(void **state)
{
    static const uint32_t ids[] = {1, 2, 3, 4, 7, 8, 9, 13, 14, 35, 204, 205};
    (void)state;
    for (int round = 0; round < 300; round++) {
        begin_test();
        for (uint64_t t = 1; t <= 400; t++) {
            struct sxs_gc_event e = {.id = ids[(uint32_t)roll(12)]};
            e.number = (uint32_t)roll(30);
            e.generation = (uint32_t)roll(5);
            e.type = (uint32_t)roll(4);
            e.reason = (uint32_t)roll(20);
            e.heap = (uint32_t)roll(2000);
            sxs_gc_take(&all, &e, t * MS, 1 + (uint32_t)roll(5));
        }
        for (size_t i = 0; i < n_records; i++) {
            const struct sxs_event_collection *r = &records[i];
            assert_true(r->pause_ns <= 400 * MS && r->suspension_ns <= r->pause_ns);
            assert_true(r->end_ns == 0 || r->end_ns >= r->time_ns);
            assert_true(r->generation < 3 || r->generation == SXS_GC_UNKNOWN);
        }
    }
}

static void put(unsigned char **at, uint64_t value, size_t bytes)
{
    memcpy(*at, &value, bytes);
    *at += bytes;
}

static void payloads_are_read(void **state)
{
    unsigned char       data[600], *at = data;
    struct sxs_gc_event e;
    (void)state;
    put(&at, 7, 4), put(&at, 1, 4), put(&at, 17, 4), put(&at, 2, 4), put(&at, 0, 2), put(&at, 9, 8);
    assert_int_equal(sxs_gc_decode(SXS_GC_START, data, (size_t)(at - data), &e), 1);
    assert_int_equal(e.number, 7);
    assert_int_equal(e.generation, 1);
    assert_int_equal(e.reason, SXS_GC_INDUCED_AGGRESSIVE);
    assert_int_equal(e.type, SXS_GC_FOREGROUND);
    for (size_t size = 0; size < 16; size++)
        assert_int_equal(sxs_gc_decode(SXS_GC_START, data, size, &e), 0);
    assert_int_equal(sxs_gc_decode(SXS_GC_START, NULL, 100, &e), 0);
    assert_int_equal(sxs_gc_decode(143, data, sizeof(data), &e), 0);

    at = data;
    for (uint64_t i = 1; i <= 8; i++)
        put(&at, i, 8); /* size 0, promoted 0, size 1... */
    put(&at, 20, 8), put(&at, 21, 8), put(&at, 22, 4), put(&at, 23, 4), put(&at, 24, 4);
    put(&at, 0, 2), put(&at, 9, 8), put(&at, 10, 8);
    assert_int_equal(sxs_gc_decode(SXS_GC_HEAP_STATS, data, (size_t)(at - data), &e), 1);
    for (unsigned i = 0; i < SXS_GC_GENERATIONS; i++) {
        assert_int_equal(e.size[i], 2 * i + 1);
        assert_int_equal(e.promoted[i], 2 * i + 2);
    }
    assert_int_equal(e.finalizable, 20);
    assert_int_equal(e.n_finalizable, 21);
    assert_int_equal(e.n_pinned, 22);
    assert_int_equal(e.sync_blocks, 23);
    assert_int_equal(e.n_handles, 24);
    assert_int_equal(sxs_gc_decode(SXS_GC_HEAP_STATS, data, 94, &e), 1); /* version 1 */
    assert_int_equal(e.size[4], 0);
    assert_int_equal(sxs_gc_decode(SXS_GC_HEAP_STATS, data, 91, &e), 0);

    at = data;
    put(&at, 0, 2);
    for (int i = 0; i < 6; i++)
        put(&at, 99, 8);
    for (int i = 0; i < 5; i++)
        put(&at, 98, 4);
    put(&at, 3, 4), put(&at, 97, 8), put(&at, 5, 4);
    for (uint64_t g = 0; g < 5; g++)
        for (uint64_t i = 1; i <= 10; i++)
            put(&at, 100 * g + i, 8);
    assert_int_equal(sxs_gc_decode(SXS_GC_PER_HEAP_HISTORY, data, (size_t)(at - data), &e), 1);
    assert_int_equal(at - data, 486); /* as .NET 8 to 10 send it */
    assert_int_equal(e.heap, 3);
    for (unsigned g = 0; g < SXS_GC_GENERATIONS; g++) {
        assert_int_equal(e.generations[g].before, 100 * g + 1);
        assert_int_equal(e.generations[g].free_before, 200 * g + 5);
        assert_int_equal(e.generations[g].after, 100 * g + 4);
        assert_int_equal(e.generations[g].free_after, 200 * g + 11);
        assert_int_equal(e.generations[g].pinned, 100 * g + 8);
        assert_int_equal(e.generations[g].survived, 200 * g + 17);
    }
    assert_int_equal(sxs_gc_decode(SXS_GC_PER_HEAP_HISTORY, data, 485, &e), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_blocking_collection_has_all_that_was_reported),
        cmocka_unit_test(events_that_come_several_times_change_nothing),
        cmocka_unit_test(a_lost_event_spoils_only_its_own_collection),
        cmocka_unit_test(collections_inside_a_background_collection_are_distinguished),
        cmocka_unit_test(a_collection_that_begins_before_another_is_reported_keeps_to_itself),
        cmocka_unit_test(ends_without_a_number_are_of_the_latest),
        cmocka_unit_test(other_suspensions_are_no_pauses_of_collections),
        cmocka_unit_test(without_room_nothing_is_written_and_the_loss_is_reported),
        cmocka_unit_test(any_order_is_survived),
        cmocka_unit_test(payloads_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
