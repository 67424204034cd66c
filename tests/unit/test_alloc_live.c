/* SPDX-License-Identifier: MIT */
/* test_alloc_live.c - objects that are followed, and the table of types: on simulated runtimes, with
 * failures, without room, across unloads. */
#include "tests/unit/recorder_fixture.h"

#include <errno.h>
#include <time.h>

#include "base/clock.h"
#include "base/fork.h"
#include "manager/runtime_internal.h"
#include "sampling/costs.h"
#include "sampling/walk.h"
#include "session/write/session_write.h"
#include "tools/alloc/live.h"
#include "tools/alloc/types.h"

/* ---- a tool that keeps its runtime and passes collections on ---------------------------------- */

static struct sxs_sub        *subs[4];
static struct sxs_alloc_live *lives[4];
static unsigned               n_subs;

static struct sxs_alloc_live *live_of(const struct sxs_sub *sub)
{
    for (unsigned i = 0; i < n_subs; i++)
        if (subs[i] == sub)
            return lives[i];
    return NULL;
}

static HRESULT start(struct sxs_sub *sub, const char *options)
{
    (void)options;
    sub->low = COR_PRF_MONITOR_SUSPENDS;
    sub->high = COR_PRF_HIGH_BASIC_GC;
    subs[n_subs++] = sub;
    return S_OK;
}

static HRESULT suspended(struct sxs_sub *sub)
{
    if (live_of(sub))
        sxs_live_suspended(live_of(sub), 1);
    return S_OK;
}

static HRESULT resuming(struct sxs_sub *sub)
{
    if (live_of(sub))
        sxs_live_suspended(live_of(sub), 0);
    return S_OK;
}

static HRESULT collecting(struct sxs_sub *sub, int n, BOOL *collected, COR_PRF_GC_REASON reason)
{
    (void)n, (void)reason;
    if (live_of(sub))
        sxs_live_collecting(live_of(sub), collected[2] ? 2 : collected[1] ? 1 : 0);
    return S_OK;
}

static HRESULT collected(struct sxs_sub *sub)
{
    if (live_of(sub))
        sxs_live_collected(live_of(sub));
    return S_OK;
}

static const struct sxs_events events = {.RuntimeSuspendFinished = suspended,
                                         .RuntimeResumeStarted = resuming,
                                         .GarbageCollectionStarted = collecting,
                                         .GarbageCollectionFinished = collected};
static const struct sxs_tool   keeper = {
      .name = "keeper", .always = 1, .on = &events, .start = start};
static const struct sxs_tool *const tools[] = {&keeper};

static struct fake_host begin(const char *version)
{
    struct fake_host h;
    if (!writer) {
        begin_recording(UINT64_C(64) << 20);
        profile_without_signals(tools, ARRAY_LEN(tools));
    }
    h = fake_load(version);
    CHECK_EQ(fake_initialize(&h), S_OK);
    return h;
}

/* ---- records ---------------------------------------------------------------------------------- */

/* Waits until there are @n records, and lets the file grow as the recorder's thread does. */
static void wait_for(uint16_t type, unsigned n)
{
    static const struct timespec nap = {0, 1000000};
    for (int i = 0; i < 60000 && each_record(type, NULL, NULL) < n; i++) {
        nanosleep(&nap, NULL);
        sxs_samples_make_room(writer);
    }
    CHECK_EQ(each_record(type, NULL, NULL), n);
}

/* Waits until the file says that all objects were looked at that were garbage after @begun, if @is_wanted;
 * returns whether it is so. */
static int checked_after(uint64_t begun, int is_wanted)
{
    static const struct timespec nap = {0, 1000000};
    unsigned                     number = sxs_runtime_number(subs[0]->rt);
    const _Atomic uint64_t      *at = &sxs_samples_header(writer)->live_checked_ns[number];
    for (int i = 0; i < 60000 && is_wanted && atomic_load(at) <= begun; i++)
        nanosleep(&nap, NULL);
    return (atomic_load(at) > begun) == is_wanted;
}

static uint64_t sum_of_ids;
static uint8_t  generations[8]; /* of the last LIVE record, by id */
static uint32_t survived[8];

static int see_released(const void *record, void *arg)
{
    (void)arg;
    sum_of_ids += ((const struct sxs_record_released *)record)->id;
    return 0;
}

static int see_live(const void *record, void *arg)
{
    const struct sxs_record_live *r = record;
    (void)arg;
    if (r->id < 8) {
        generations[r->id] = r->generation;
        survived[r->id] = r->collections;
    }
    return 0;
}

/* ---- followed objects ------------------------------------------------------------------------- */

static void follow_body(void)
{
    struct fake_host h = begin("8.0");
    ModuleID         module = h.c->module_load("/fake/A.dll");
    ClassID          type = h.c->class_new(module, "A.B", 0, 0, NULL);
    ObjectID         dropped = h.c->object_new(type), kept = h.c->object_new(type);
    lives[0] = sxs_live_new(subs[0]->rt);
    CHECK(lives[0]);
    CHECK_EQ(sxs_live_follow(lives[0], dropped, 1), 1);
    CHECK_EQ(sxs_live_follow(lives[0], kept, 2), 1);
    CHECK_EQ(fake_counts(&h).handles, 2);
    h.c->object_drop(dropped);
    CHECK_EQ(h.c->gc(0), 0);
    wait_for(SXS_RECORD_RELEASED, 1);
    CHECK_EQ(fake_counts(&h).handles, 1);
    each_record(SXS_RECORD_RELEASED, see_released, NULL);
    CHECK_EQ(sum_of_ids, 1);
    each_record(SXS_RECORD_LIVE, see_live, NULL);
    CHECK_EQ(generations[2], 1);
    CHECK_EQ(survived[2], 1);
    CHECK_EQ(h.c->gc(1), 0);
    each_record(SXS_RECORD_LIVE, see_live, NULL);
    CHECK_EQ(generations[2], 2);
    CHECK_EQ(survived[2], 2);
    /* Old objects are looked at after collections of all generations only. */
    h.c->object_drop(kept);
    CHECK_EQ(h.c->gc(1), 0);
    CHECK_EQ(each_record(SXS_RECORD_RELEASED, NULL, NULL), 1);
    CHECK_EQ(h.c->gc(2), 0);
    wait_for(SXS_RECORD_RELEASED, 2);
    CHECK_EQ(fake_counts(&h).handles, 0);
    CHECK_EQ(sxs_live_lost(lives[0]), 0);
    CHECK(checked_after(0, 1));
    sxs_live_end(lives[0], 0);
    sxs_live_free(lives[0]);
    lives[0] = NULL;
    fake_end(&h);
}

/* Each session follows its own objects, and leaves no handle behind. */
static void sessions_body(void)
{
    struct fake_host h = begin("8.0");
    ModuleID         module = h.c->module_load("/fake/A.dll");
    ClassID          type = h.c->class_new(module, "A.B", 0, 0, NULL);
    for (unsigned session = 1; session <= 3; session++) {
        ObjectID dropped = h.c->object_new(type), kept = h.c->object_new(type);
        lives[0] = sxs_live_new(subs[0]->rt);
        CHECK(lives[0]);
        CHECK_EQ(sxs_live_follow(lives[0], dropped, 1), 1);
        CHECK_EQ(sxs_live_follow(lives[0], kept, 2), 1);
        CHECK_EQ(fake_counts(&h).handles, 2);
        h.c->object_drop(dropped);
        CHECK_EQ(h.c->gc(0), 0);
        wait_for(SXS_RECORD_RELEASED, session);
        sxs_live_stop(lives[0]);
        CHECK_EQ(sxs_live_follow(lives[0], kept, 3), 0);
        CHECK_EQ(h.c->gc(2), 0); /* looks at nothing any more */
        sxs_live_end(lives[0], 1);
        CHECK_EQ(fake_counts(&h).handles, 0);
        sxs_live_free(lives[0]);
        lives[0] = NULL;
        sxs_live_end_session();
    }
    fake_end(&h);
}

/* What is garbage at the end has a record, also if nothing was collected before. */
static void last_look_body(void)
{
    struct fake_host h = begin("8.0");
    ModuleID         module = h.c->module_load("/fake/A.dll");
    ClassID          type = h.c->class_new(module, "A.B", 0, 0, NULL);
    ObjectID         dropped = h.c->object_new(type), kept = h.c->object_new(type);
    uint64_t         begun = sxs_now_ns(CLOCK_MONOTONIC);
    lives[0] = sxs_live_new(subs[0]->rt);
    CHECK_EQ(sxs_live_follow(lives[0], dropped, 1), 1);
    CHECK_EQ(sxs_live_follow(lives[0], kept, 2), 1);
    CHECK_EQ(h.c->gc(1), 0);
    CHECK(checked_after(0, 0)); /* not all objects were collected */
    h.c->object_drop(dropped);
    sxs_live_collect(lives[0]); /* while the program runs */
    wait_for(SXS_RECORD_RELEASED, 1);
    CHECK(checked_after(begun, 1));
    h.c->object_drop(kept);
    begun = sxs_now_ns(CLOCK_MONOTONIC);
    sxs_live_stop(lives[0]);
    sxs_live_look_last(lives[0]);
    CHECK_EQ(each_record(SXS_RECORD_RELEASED, NULL, NULL), 2);
    CHECK(checked_after(begun, 1));
    sxs_live_end(lives[0], 1);
    CHECK_EQ(fake_counts(&h).handles, 0);
    sxs_live_free(lives[0]);
    lives[0] = NULL;
    fake_end(&h);
}

static void what_is_garbage_at_the_end_is_gone(void **state)
{
    (void)state;
    PASSES(last_look_body);
}

static void each_session_follows_its_own_objects(void **state)
{
    (void)state;
    PASSES(sessions_body);
}

static void objects_are_followed_until_they_are_collected(void **state)
{
    (void)state;
    PASSES(follow_body);
}

static void old_object_body(void)
{
    struct fake_host h = begin("9.0");
    ModuleID         module = h.c->module_load("/fake/A.dll");
    ClassID          type = h.c->class_new(module, "A.B", 0, 0, NULL);
    unsigned         written;
    lives[0] = sxs_live_new(subs[0]->rt);
    CHECK_EQ(sxs_live_follow(lives[0], h.c->object_new(type), 3), 1);
    for (int i = 0; i < 100; i++)
        CHECK_EQ(h.c->gc(2), 0);
    wait_for(SXS_RECORD_RELEASED, 0);
    written = each_record(SXS_RECORD_LIVE, see_live, NULL);
    CHECK(written >= 2 && written <= 8); /* 1, 2, 4, 8... survived collections, not 100 records */
    CHECK_EQ(generations[3], 2);
    sxs_live_end(lives[0], 1);
    CHECK_EQ(fake_counts(&h).handles, 0); /* detached: the program runs on without handles */
    CHECK_EQ(sxs_live_follow(lives[0], 0x77, 4), 0);
    sxs_live_free(lives[0]);
    lives[0] = NULL;
    fake_end(&h);
}

static void an_old_object_has_few_records(void **state)
{
    (void)state;
    PASSES(old_object_body);
}

static void refused_body(void)
{
    struct fake_host h = begin("8.0");
    ModuleID         module = h.c->module_load("/fake/A.dll");
    ClassID          type = h.c->class_new(module, "A.B", 0, 0, NULL);
    ObjectID         object = h.c->object_new(type);
    lives[0] = sxs_live_new(subs[0]->rt);
    CHECK_EQ(h.c->fail_call("CreateHandle", E_OUTOFMEMORY, 1), S_OK);
    CHECK_EQ(sxs_live_follow(lives[0], object, 1), 0);
    CHECK_EQ(sxs_live_lost(lives[0]), 1);
    CHECK_EQ(sxs_live_follow(lives[0], object, 2), 1);
    /* If a runtime does not answer, the object counts as alive. */
    CHECK_EQ(h.c->fail_call("GetObjectIDFromHandle", E_FAIL, 0), S_OK);
    h.c->object_drop(object);
    CHECK_EQ(h.c->gc(2), 0);
    CHECK_EQ(h.c->fail_call("GetObjectIDFromHandle", S_OK, 0), S_OK);
    CHECK_EQ(each_record(SXS_RECORD_RELEASED, NULL, NULL), 0);
    CHECK_EQ(h.c->fail_call("GetObjectGeneration", E_FAIL, 1), S_OK);
    CHECK_EQ(h.c->gc(2), 0);
    wait_for(SXS_RECORD_RELEASED, 1);
    sxs_live_end(lives[0], 0);
    sxs_live_free(lives[0]);
    lives[0] = NULL;
    fake_end(&h);
}

static void calls_that_a_runtime_refuses_do_no_harm(void **state)
{
    (void)state;
    PASSES(refused_body);
}

static void full_body(void)
{
    struct fake_host a = begin("8.0"), b = begin("9.0");
    ObjectID         object =
        a.c->object_new(a.c->class_new(a.c->module_load("/fake/A.dll"), "A.B", 0, 0, NULL));
    unsigned followed = 0;
    lives[0] = sxs_live_new(subs[0]->rt);
    lives[1] = sxs_live_new(subs[1]->rt);
    for (unsigned i = 0; i < SXS_LIVE_OBJECTS + 1000; i++)
        followed += (unsigned)sxs_live_follow(lives[0], object, i + 1);
    CHECK(followed > SXS_LIVE_OBJECTS * 99 / 100 && followed <= SXS_LIVE_OBJECTS);
    CHECK_EQ(sxs_live_lost(lives[0]), SXS_LIVE_OBJECTS + 1000 - followed);
    CHECK_EQ(sxs_live_follow(lives[1], 0x99, 1), 0); /* the table is that of all runtimes */
    a.c->object_drop(object);
    CHECK_EQ(a.c->gc(0), 0);
    wait_for(SXS_RECORD_RELEASED, followed);
    CHECK_EQ(sxs_live_follow(lives[0], object, 1), 1);
    sxs_live_end(lives[0], 0);
    sxs_live_end(lives[1], 0);
    for (int i = 0; i < 2; i++) {
        sxs_live_free(lives[i]);
        lives[i] = NULL;
    }
    fake_end(&a);
    fake_end(&b);
}

static void a_full_table_is_counted_and_emptied(void **state)
{
    (void)state;
    PASSES(full_body);
}

/* As begin(). The runtime does not know the calling thread, so metadata calls are allowed. */
static struct fake_host begin_unknown(const char *version)
{
    struct fake_host h = begin(version);
    h.c->thread_detach();
    return h;
}

/* ---- types ------------------------------------------------------------------------------------ */

static char     names[8][64]; /* of NAME records, by number */
static uint64_t counted[8];   /* sums of TOTAL records, by number of the name */

static int see_name(const void *record, void *arg)
{
    const struct sxs_record_name *r = record;
    (void)arg;
    if (r->number < 8)
        snprintf(names[r->number], sizeof(names[0]), "%.*s", r->size, r->text);
    return 0;
}

static int see_total(const void *record, void *arg)
{
    const struct sxs_record_total *r = record;
    (void)arg;
    if (r->name < 8)
        counted[r->name] += atomic_load(&r->n);
    return 0;
}

static void types_body(void)
{
    struct fake_host        h = begin_unknown("8.0");
    ModuleID                module = h.c->module_load("/fake/A.dll");
    ClassID                 one = h.c->class_new(module, "A.One", 0, 0, NULL);
    ClassID                 two = h.c->class_new(module, "A.Two", 0, 0, NULL);
    struct sxs_alloc_types *types = sxs_alloc_types_new(subs[0]->rt, 0);
    struct sxs_alloc_type  *a = sxs_alloc_types_find(types, one),
                          *b = sxs_alloc_types_find(types, two);
    uint64_t asked = h.c->called("GetClassIDInfo2");
    CHECK(a != b && a->name && b->name && a->name != b->name);
    CHECK(sxs_alloc_types_find(types, one) == a);
    CHECK_EQ(h.c->called("GetClassIDInfo2"), asked); /* asked once for each type */
    sxs_alloc_types_count(types, a, 24, 0);
    sxs_alloc_types_count(types, a, 24, 0);
    sxs_alloc_types_count(types, a, 100000, SXS_COST_LARGE);
    sxs_alloc_types_count(types, b, 24, 0);
    each_record(SXS_RECORD_NAME, see_name, NULL);
    CHECK(strcmp(names[a->name], "A.One") == 0 && strcmp(names[b->name], "A.Two") == 0);
    sxs_alloc_types_unloading(types);
    CHECK(sxs_alloc_types_find(types, one) == a); /* after an unload the name is checked again */
    CHECK(h.c->called("GetClassIDInfo2") > asked);
    CHECK_EQ(each_record(SXS_RECORD_TOTAL, NULL, NULL), 3);
    each_record(SXS_RECORD_TOTAL, see_total, NULL);
    CHECK_EQ(counted[a->name], 3);
    CHECK_EQ(counted[b->name], 1);
    CHECK_EQ(sxs_alloc_types_uncounted(types), 0);
    sxs_alloc_types_free(types);
    fake_end(&h);
}

static void types_are_named_and_counted(void **state)
{
    (void)state;
    PASSES(types_body);
}

static void unnamed_body(void)
{
    struct fake_host        h = begin_unknown("8.0");
    ModuleID                module = h.c->module_load("/fake/A.dll");
    ClassID                 one = h.c->class_new(module, "A.One", 0, 0, NULL);
    struct sxs_alloc_types *types = sxs_alloc_types_new(subs[0]->rt, 0);
    struct sxs_alloc_type  *type;
    CHECK_EQ(h.c->fail_call("GetClassIDInfo2", E_FAIL, 0), S_OK);
    CHECK_EQ(h.c->fail_call("GetModuleMetaData", E_FAIL, 0), S_OK);
    CHECK_EQ(h.c->fail_call("IsArrayClass", E_FAIL, 0), S_OK);
    type = sxs_alloc_types_find(types, one);
    CHECK(type != NULL);
    sxs_alloc_types_count(types, type, 24, 0);
    CHECK_EQ(each_record(SXS_RECORD_TOTAL, NULL, NULL), 1); /* counted, whatever it is called */
    CHECK_EQ(sxs_alloc_types_uncounted(types), 0);
    sxs_alloc_types_free(types);
    fake_end(&h);
}

static void without_names_objects_are_counted(void **state)
{
    (void)state;
    PASSES(unnamed_body);
}

static void many_types_body(void)
{
    struct fake_host        h = begin_unknown("8.0");
    struct sxs_alloc_types *types = sxs_alloc_types_new(subs[0]->rt, 0);
    uint64_t                n = 0, unloads = 0;
    /* ClassIDs of no class: named "?" or the like, but each has a place of its own. */
    for (uint64_t id = 8; id < 8 * 200000; id += 8) {
        struct sxs_alloc_type *type = sxs_alloc_types_find(types, 0x10000 + id);
        CHECK(type != NULL);
        n += type->id == 0x10000 + id;
        if (id % 80000 == 0) {
            sxs_alloc_types_unloading(types);
            unloads++;
        }
    }
    CHECK(unloads == 19 && n == 199999); /* those of before an unload make room */
    sxs_alloc_types_free(types); /* the runtime is not ended: it has counted the wrong IDs */
    (void)h;
}

static void unloaded_types_make_room(void **state)
{
    (void)state;
    PASSES(many_types_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_are_followed_until_they_are_collected),
        cmocka_unit_test(each_session_follows_its_own_objects),
        cmocka_unit_test(what_is_garbage_at_the_end_is_gone),
        cmocka_unit_test(an_old_object_has_few_records),
        cmocka_unit_test(calls_that_a_runtime_refuses_do_no_harm),
        cmocka_unit_test(a_full_table_is_counted_and_emptied),
        cmocka_unit_test(types_are_named_and_counted),
        cmocka_unit_test(without_names_objects_are_counted),
        cmocka_unit_test(unloaded_types_make_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
