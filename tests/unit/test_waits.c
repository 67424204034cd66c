/* SPDX-License-Identifier: MIT */
/* test_waits.c - waits for locks as events in every order report them, and costs that one thread
 * requests of another. */
#include "tests/unit/recorder_fixture.h"

#include <sys/syscall.h>
#include <time.h>

#include "manager/runtime_internal.h"
#include "sampling/cost.h"
#include "sampling/costs.h"
#include "sampling/recorder.h"
#include "sampling/stacks.h"
#include "sampling/walk.h"
#include "stackwalk/fast/tables.h"
#include "tools/locks/types.h"
#include "tools/locks/waits.h"

static struct sxs_runtime         one = {.number = 1}, two = {.number = 2};

/* An object: its first word is its class. */
static uintptr_t account = 0x7f0000001000, other_object = 0x7f0000002000;

struct search {
    unsigned    kind, at; /* kind: 0: any */
    const void *found;
};

static int look_at(const void *record, void *arg)
{
    struct search                *s = arg;
    const struct sxs_record_cost *c = record;
    if ((!s->kind || c->kind == s->kind) && !s->at--)
        s->found = record;
    return s->found != NULL;
}

/* Returns the record number @at of @type and @kind (0: any), or NULL. */
static const void *find_record(uint16_t type, unsigned kind, unsigned at)
{
    struct search s = {kind, at, NULL};
    each_record(type, look_at, &s);
    return s.found;
}

static const struct sxs_record_cost *wait_at(unsigned at)
{
    return find_record(SXS_RECORD_COST, SXS_COST_LOCK, at);
}

static const struct sxs_record_total *total_at(unsigned at)
{
    return find_record(SXS_RECORD_TOTAL, 0, at);
}

static const struct sxs_contention on_account = {
    .lock = 0x7f0000000010, .object = (uint64_t)0, .owner = 0, .is_monitor = 1};

static struct sxs_contention contention(uint64_t lock, const uintptr_t *object)
{
    struct sxs_contention c = on_account;
    c.lock = lock;
    c.object = (uint64_t)(uintptr_t)object;
    return c;
}

static void sleep_ms(unsigned ms)
{
    nanosleep(&(struct timespec){0, ms * 1000000}, NULL);
}

/* ---- one thread ------------------------------------------------------------------------------ */

static void usual_body(void)
{
    struct sxs_contention c = contention(0x7f0000000010, &account);
    const char            data = 0;
    begin_recording(1 << 24);
    sxs_waits_init(0);
    sxs_wait_begin(&one, &c, &data);
    CHECK(wait_at(0) && wait_at(0)->flags == SXS_COST_OPEN && wait_at(0)->value == 0);
    CHECK(wait_at(0)->runtime == 1 && wait_at(0)->tid == gettid_now() && wait_at(0)->n == 1);
    CHECK(wait_at(0)->n_ips > 2);
    sleep_ms(2);
    sxs_waits_update();
    CHECK(wait_at(0)->value >= 2000000 && wait_at(0)->flags == SXS_COST_OPEN);
    CHECK(total_at(0)->n == 1 && total_at(0)->value == wait_at(0)->value);
    sxs_wait_end(&one, 2500000);
    CHECK(wait_at(0)->value == 2500000 && wait_at(0)->flags == 0);
    CHECK(total_at(0)->n == 1 && total_at(0)->value == 2500000);
    CHECK(total_at(0)->name == wait_at(0)->name && total_at(0)->kind == SXS_COST_LOCK);
    sxs_waits_update();
    CHECK_EQ(wait_at(0)->value, 2500000);
    CHECK(!wait_at(1));
}

static void a_wait_grows_until_it_ends(void **state)
{
    (void)state;
    PASSES(usual_body);
}

static void doubled_body(void)
{
    struct sxs_contention c = contention(0x7f0000000010, &account);
    const char            data = 0, more = 0;
    begin_recording(1 << 24);
    sxs_waits_init(0);
    for (int i = 0; i < 3; i++)
        sxs_wait_begin(&one, &c, &data); /* three sessions */
    for (int i = 0; i < 3; i++)
        sxs_wait_end(&one, 1000);
    CHECK(wait_at(0) && !wait_at(1));
    CHECK(total_at(0)->n == 1 && total_at(0)->value == 1000);
    sxs_wait_begin(&one, &c, &data); /* a second wait, at once */
    sxs_wait_end(&one, 500);
    CHECK(wait_at(1) && !wait_at(2));
    sxs_wait_begin(&one, &c, &more);
    sxs_wait_end(&one, 250);
    CHECK(wait_at(2) && !wait_at(3));
    CHECK(total_at(0)->n == 3 && total_at(0)->value == 1750 && !total_at(1));
}

static void events_that_come_twice_count_once(void **state)
{
    (void)state;
    PASSES(doubled_body);
}

static void lost_body(void)
{
    struct sxs_contention c = contention(0x7f0000000010, &account);
    struct sxs_contention d = contention(0x7f0000000020, &other_object);
    const char            data = 0;
    begin_recording(1 << 24);
    sxs_waits_init(0);
    sxs_wait_end(&one, 77); /* its beginning was before the session */
    CHECK(!wait_at(0));
    sxs_wait_begin(&one, &c, &data); /* ends by an exception, without an event */
    sxs_wait_begin(&one, &d, &data);
    sxs_wait_end(&two, 5); /* of another runtime */
    CHECK(wait_at(1)->flags == SXS_COST_OPEN);
    sxs_wait_end(&one, 3000);
    CHECK(wait_at(0)->flags == 0 && wait_at(1)->value == 3000 && !wait_at(2));
    CHECK(wait_at(0)->name != wait_at(1)->name);
    CHECK(total_at(0)->n == 1 && total_at(0)->value == wait_at(0)->value);
    CHECK(total_at(1)->n == 1 && total_at(1)->value == 3000);
}

static void lost_events_leave_the_others_right(void **state)
{
    (void)state;
    PASSES(lost_body);
}

static void kinds_body(void)
{
    struct sxs_contention odd = contention(0x7f0000000010, (const uintptr_t *)0x1001);
    struct sxs_contention lock = contention(0x1f8, (const uintptr_t *)16);
    const char            data = 0;
    lock.is_monitor = 0;
    begin_recording(1 << 24);
    sxs_waits_init(0);
    sxs_wait_begin(&one, &odd, &data);
    sxs_wait_end(&one, 1);
    CHECK(wait_at(0) && wait_at(0)->name == 0);
    sxs_wait_begin(&one, &lock, &data); /* its object is not read */
    sxs_wait_end(&one, 1);
    CHECK(wait_at(1)->name != 0);
    sxs_lock_types_start(&one);
    sxs_lock_types_name();
    CHECK(find_record(SXS_RECORD_NAME, 0, 0) != NULL);
    CHECK(memcmp(((const struct sxs_record_name *)find_record(SXS_RECORD_NAME, 0, 0))->text,
                 "System.Threading.Lock", 21) == 0);
    CHECK(!find_record(SXS_RECORD_NAME, 0, 1));
}

static void an_object_that_cannot_be_read_has_no_type(void **state)
{
    (void)state;
    PASSES(kinds_body);
}

static void types_body(void)
{
    uintptr_t            classes[5000];
    struct sxs_lock_type t;
    unsigned             n = 0;
    begin_recording(1 << 24);
    for (unsigned i = 0; i < 5000; i++) {
        classes[i] = 0x7f0000010000 + i * 64;
        t = sxs_lock_type_find(1, classes[i]);
        n += t.name != 0;
        CHECK(!t.name || t.total);
    }
    CHECK(n > 3000 && n <= 4096);
    t = sxs_lock_type_find(1, classes[0]);
    CHECK_EQ(t.name, 1);
    sxs_lock_types_unload(&two);
    CHECK_EQ(sxs_lock_type_find(1, classes[0]).name, 1);
}

static void a_full_table_of_types_is_no_failure(void **state)
{
    (void)state;
    PASSES(types_body);
}

static void unloaded_body(void)
{
    struct sxs_lock_type before;
    begin_recording(1 << 24);
    before = sxs_lock_type_find(1, account);
    CHECK(before.name && sxs_lock_type_find(1, account).name == before.name);
    sxs_lock_types_unload(&one);
    CHECK(sxs_lock_type_find(1, account).name != before.name); /* perhaps another type by now */
}

static void a_type_of_an_unloaded_assembly_is_forgotten(void **state)
{
    (void)state;
    PASSES(unloaded_body);
}

static void full_body(void)
{
    struct sxs_contention c = contention(0x7f0000000010, &account);
    const char            data = 0;
    uint64_t              n = 0;
    begin_recording(1); /* the smallest file */
    sxs_waits_init(0);
    while (!sxs_samples_header(writer)->n_costs_dropped[SXS_COST_LOCK]) {
        sxs_wait_begin(&one, &c, &data);
        sxs_wait_end(&one, 10);
        n++;
    }
    CHECK(total_at(0)->n == n && total_at(0)->value == 10 * n);
}

static void totals_are_right_when_the_file_is_full(void **state)
{
    (void)state;
    PASSES(full_body);
}

/* ---- many threads ---------------------------------------------------------------------------- */

enum { N_THREADS = 8, N_EACH = 5000 };
static _Atomic int ended;

static void *wait_many(void *arg)
{
    struct sxs_contention c = contention(0x7f0000000010, &account);
    const char            data = 0;
    for (int i = 0; i < N_EACH; i++) {
        sxs_wait_begin(&one, &c, &data);
        sxs_wait_end(&one, 100);
    }
    return arg;
}

static void *update_many(void *arg)
{
    while (!ended)
        sxs_waits_update();
    return arg;
}

static void many_body(void)
{
    pthread_t threads[N_THREADS], updater;
    double    sum = 0;
    begin_recording(1 << 26);
    sxs_waits_init(0);
    CHECK_EQ(pthread_create(&updater, NULL, update_many, NULL), 0);
    for (int i = 0; i < N_THREADS; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, wait_many, NULL), 0);
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    ended = 1;
    pthread_join(updater, NULL);
    for (unsigned i = 0; i < 64; i++) { /* two threads may have added the type at once */
        if (!total_at(i))
            break;
        sum += (double)total_at(i)->n;
        CHECK_EQ(total_at(i)->value, 100 * total_at(i)->n);
    }
    CHECK(sum == N_THREADS * N_EACH);
    for (unsigned i = 0; i < 100 && wait_at(i); i++)
        CHECK(wait_at(i)->value == 100 && wait_at(i)->flags == 0);
}

static void no_wait_of_many_threads_is_lost(void **state)
{
    (void)state;
    PASSES(many_body);
}

/* ---- costs that are requested of another thread ---------------------------------------------- */

static _Atomic uint32_t blocked_tid;
static _Atomic int      may_answer, may_end;

__attribute__((noinline)) static void *answer_later(void *arg)
{
    sigset_t                all, before;
    struct sxs_thread_slot *t;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    t = sxs_threads_begin((uintptr_t)&all - (1 << 20), (uintptr_t)&all + 4096);
    CHECK(t);
    sxs_threads_ready(t);
    blocked_tid = gettid_now();
    while (!may_answer)
        sleep_ms(1);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    while (!may_end)
        sleep_ms(1);
    return arg;
}

static void requests_body(void)
{
    const struct sxs_cost         cost = {.kind = SXS_COST_LOCK_OWNER, .related = 9, .n = 2};
    const struct sxs_record_cost *c;
    pthread_t                     thread;
    begin_recording(1 << 24);
    CHECK_EQ(sxs_recorder_cost_by_prepare(), 0);
    CHECK_EQ(pthread_create(&thread, NULL, answer_later, NULL), 0);
    while (!blocked_tid)
        sleep_ms(1);
    sxs_stacks_refresh();
    for (int i = 0; i < 3; i++) /* the kernel keeps one of the three signals */
        sxs_recorder_cost_by(blocked_tid, &cost);
    sxs_recorder_cost_by(999999999, &cost); /* there is no such thread */
    CHECK(!find_record(SXS_RECORD_COST, SXS_COST_LOCK_OWNER, 0));
    may_answer = 1;
    for (int i = 0; i < 5000 && !find_record(SXS_RECORD_COST, SXS_COST_LOCK_OWNER, 2); i++)
        sleep_ms(1);
    for (unsigned i = 0; i < 3; i++) {
        c = find_record(SXS_RECORD_COST, SXS_COST_LOCK_OWNER, i);
        CHECK(c && c->tid == blocked_tid && c->related == 9 && c->n == 2 && c->n_ips > 0);
    }
    CHECK(!find_record(SXS_RECORD_COST, SXS_COST_LOCK_OWNER, 3));
    may_end = 1;
    pthread_join(thread, NULL);
}

static void a_thread_serves_all_requests_with_one_signal(void **state)
{
    (void)state;
    PASSES(requests_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_grows_until_it_ends),
        cmocka_unit_test(events_that_come_twice_count_once),
        cmocka_unit_test(lost_events_leave_the_others_right),
        cmocka_unit_test(an_object_that_cannot_be_read_has_no_type),
        cmocka_unit_test(a_full_table_of_types_is_no_failure),
        cmocka_unit_test(a_type_of_an_unloaded_assembly_is_forgotten),
        cmocka_unit_test(totals_are_right_when_the_file_is_full),
        cmocka_unit_test(no_wait_of_many_threads_is_lost),
        cmocka_unit_test(a_thread_serves_all_requests_with_one_signal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
