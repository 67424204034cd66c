/* SPDX-License-Identifier: MIT */
/* test_recorder_cost.c - costs and their stacks: of the calling thread, of another thread, without
 * room, and in a forked child. */
#include "tests/unit/recorder_fixture.h"

#include <errno.h>
#include <limits.h>
#include <sys/syscall.h>
#include <time.h>

#include "sampling/cost.h"
#include "sampling/costs.h"
#include "sampling/recorder.h"
#include "sampling/recorder_tool.h"
#include "sampling/sample_signal.h"
#include "sampling/scratch.h"
#include "sampling/stacks.h"
#include "sampling/walk.h"
#include "session/write/session_write.h"
#include "stackwalk/fast/tables.h"
#include "tests/unit/sanitized.h"

static int keep_last(const void *record, void *last)
{
    *(const void **)last = record;
    return 0;
}

/* Returns the last record of @type that was committed, or NULL. *n: receives their number. */
static const void *last_record(uint16_t type, unsigned *n)
{
    const void *last = NULL;
    *n = each_record(type, keep_last, &last);
    return last;
}

static const struct sxs_record_cost *last_cost(void)
{
    unsigned n;
    return last_record(SXS_RECORD_COST, &n);
}

static const struct sxs_cost some = {.id = 7,
                                     .n = 2.5,
                                     .value = 100,
                                     .related = 8,
                                     .name = 3,
                                     .runtime = 2,
                                     .flags = SXS_COST_LARGE,
                                     .kind = SXS_COST_ALLOCATION};

/* ---- the stack of the calling thread --------------------------------------------------------- */

static uintptr_t inner_returns_to, outer_returns_to;

__attribute__((noinline)) static void inner(unsigned skip)
{
    inner_returns_to = (uintptr_t)__builtin_return_address(0);
    sxs_recorder_cost(&some, skip);
    __asm__ volatile("" ::: "memory"); /* no tail call */
}

__attribute__((noinline)) static void outer(unsigned skip)
{
    outer_returns_to = (uintptr_t)__builtin_return_address(0);
    inner(skip);
    __asm__ volatile("" ::: "memory");
}

static void caller_body(void)
{
    const struct sxs_record_cost *c;
    begin_recording(1 << 24);
    errno = 77;
    outer(0);
    CHECK_EQ(errno, 77);
    c = last_cost();
    CHECK(c && c->n_ips > 4);
    CHECK(c->ips[0] > (uintptr_t)inner && c->ips[0] < (uintptr_t)inner + 200);
    CHECK_EQ(c->ips[1], inner_returns_to);
    CHECK_EQ(c->ips[2], outer_returns_to);
    CHECK_EQ(c->end, SXS_SAMPLE_END_BOTTOM);
    CHECK_EQ(c->tid, gettid_now());
    CHECK(c->id == 7 && c->n == 2.5 && c->value == 100 && c->related == 8 && c->name == 3);
    CHECK(c->runtime == 2 && c->flags == SXS_COST_LARGE && c->kind == SXS_COST_ALLOCATION);
    CHECK_EQ(sxs_samples_header(writer)->n_costs[SXS_COST_ALLOCATION], 1);
    outer(1);
    CHECK_EQ(last_cost()->ips[0], inner_returns_to - 1); /* within the call */
    CHECK_EQ(last_cost()->ips[1], outer_returns_to);
    outer(1000);
    CHECK_EQ(last_cost()->n_ips, 0);
    CHECK_EQ(sxs_samples_header(writer)->n_costs[SXS_COST_ALLOCATION], 3);
}

static void the_stack_begins_with_the_caller(void **state)
{
    (void)state;
    PASSES(caller_body);
}

__attribute__((noinline)) static void below(unsigned frames, void (*body)(void))
{
    if (frames)
        below(frames - 1, body);
    else
        body();
    __asm__ volatile("" ::: "memory");
}

static void record_plain(void)
{
    sxs_recorder_cost(&some, 0);
}

/* Records a cost below @frames. A walk that is interrupted again and again on a busy machine may come
 * to its time limit, and says so: then another one. */
static void record_below(unsigned frames)
{
    unsigned tries = 0;
    do
        below(frames, record_plain);
    while (last_cost()->end == SXS_SAMPLE_END_TIMEOUT && ++tries < 20);
}

static void deep_body(void)
{
    begin_recording(1 << 24);
    record_below(300);
    CHECK(last_cost()->n_ips > 300);
    CHECK_EQ(last_cost()->end, SXS_SAMPLE_END_BOTTOM);
    record_below(2000);
    CHECK_EQ(last_cost()->n_ips, SXS_MAX_STACK - 1);
    CHECK_EQ(last_cost()->end, SXS_SAMPLE_END_CUT);
}

static void a_deep_stack_keeps_its_youngest_frames(void **state)
{
    (void)state;
    PASSES(deep_body);
}

static void buffers_body(void)
{
    unsigned n = 0;
    begin_recording(1 << 24);
    while (n < 4096 && sxs_scratch_take(n))
        n++;
    CHECK(n < 4096);
    record_below(100);
    CHECK_EQ(last_cost()->end, SXS_SAMPLE_END_CUT);
    CHECK(last_cost()->n_ips > 40);
}

static void without_a_buffer_a_cost_has_a_shorter_stack(void **state)
{
    (void)state;
    PASSES(buffers_body);
}

/* ---- other threads --------------------------------------------------------------------------- */

static struct sxs_thread_slot *thread_slot;

/* What the recorder does when a thread starts. */
static void be_listed(uintptr_t stack_lo, uintptr_t stack_hi)
{
    thread_slot = sxs_threads_begin(stack_lo, stack_hi);
    CHECK(thread_slot);
    sxs_threads_ready(thread_slot);
}

static void *record_on_small_stack(void *arg)
{
    pthread_attr_t attr;
    void          *lo;
    size_t         size;
    (void)arg;
    record_plain(); /* nobody has listed this thread's stack yet */
    CHECK(last_cost()->n_ips > 2);
    CHECK_EQ(sxs_stacks_missed(), 1);
    CHECK_EQ(pthread_getattr_np(pthread_self(), &attr), 0);
    CHECK_EQ(pthread_attr_getstack(&attr, &lo, &size), 0);
    pthread_attr_destroy(&attr);
    be_listed((uintptr_t)lo, (uintptr_t)lo + size);
    record_plain();
    CHECK(last_cost()->n_ips > 2);
    CHECK_EQ(last_cost()->tid, gettid_now());
    CHECK(last_cost()->tid != (uint32_t)getpid());
    return NULL;
}

static void small_body(void)
{
    pthread_attr_t attr;
    pthread_t      thread;
    begin_recording(1 << 24);
    pthread_attr_init(&attr);
    CHECK_EQ(pthread_attr_setstacksize(&attr, (size_t)PTHREAD_STACK_MIN), 0);
    CHECK_EQ(pthread_create(&thread, &attr, record_on_small_stack, NULL), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attr);
}

static void a_thread_with_the_smallest_stack_records_costs(void **state)
{
    (void)state;
    PASSES(small_body);
}

static _Atomic uint32_t waiting_tid;
static uintptr_t        wait_returns_to;
static _Atomic int      may_end;

__attribute__((noinline)) static void wait_here(void)
{
    wait_returns_to = (uintptr_t)__builtin_return_address(0);
    waiting_tid = gettid_now();
    while (!may_end)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    __asm__ volatile("" ::: "memory");
}

static int blocks_signals, has_small_stack;

static void *wait_for_end(void *arg)
{
    sigset_t all;
    sigfillset(&all);
    if (blocks_signals)
        pthread_sigmask(SIG_SETMASK, &all, NULL);
    be_listed((uintptr_t)&all - (has_small_stack ? 8192 : 1 << 20), (uintptr_t)&all + 4096);
    wait_here();
    return arg;
}

/* Asks for the stack of a thread. Returns what sxs_recorder_cost_of() returned. */
static int ask_waiting(void)
{
    pthread_t thread;
    int       err;
    begin_recording(1 << 24);
    CHECK_EQ(pthread_create(&thread, NULL, wait_for_end, NULL), 0);
    while (!waiting_tid)
        usleep(100);
    usleep(10000); /* it is in nanosleep() now, in nearly every run */
    sxs_stacks_refresh();
    err = sxs_recorder_cost_of(waiting_tid, &some);
    may_end = 1;
    pthread_join(thread, NULL);
    return err;
}

static void another_body(void)
{
    const struct sxs_record_cost *c;
    int                           found = 0;
    CHECK_EQ(ask_waiting(), 0);
    c = last_cost();
    CHECK(c && c->tid == waiting_tid && c->id == 7);
    for (unsigned i = 0; i < c->n_ips; i++)
        found |= c->ips[i] == wait_returns_to;
    CHECK(found);
    CHECK_EQ(sxs_recorder_cost_of(999999999, &some), -EAGAIN); /* there is no such thread */
}

static void another_thread_is_asked_for_its_stack(void **state)
{
    (void)state;
    skip_under_thread_sanitizer("it delivers signals of handlers later");
    PASSES(another_body);
}

static void refusing_body(void)
{
    CHECK_EQ(ask_waiting(), -EAGAIN);
    CHECK(!last_cost());
    CHECK_EQ(sxs_samples_header(writer)->n_costs[SXS_COST_ALLOCATION], 0);
}

static void a_thread_that_cannot_answer_is_not_waited_for(void **state)
{
    (void)state;
    blocks_signals = 1;
    PASSES(refusing_body);
    blocks_signals = 0;
    has_small_stack = 1;
    PASSES(refusing_body);
    has_small_stack = 0;
}

enum { N_THREADS = 8, N_EACH = 2000 };

static void *record_many(void *arg)
{
    for (int i = 0; i < N_EACH; i++)
        record_plain();
    return arg;
}

static void many_body(void)
{
    pthread_t threads[N_THREADS];
    unsigned  n;
    begin_recording(1 << 26);
    for (int i = 0; i < N_THREADS; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, record_many, NULL), 0);
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQ(sxs_samples_header(writer)->n_costs[SXS_COST_ALLOCATION] +
                 sxs_samples_header(writer)->n_costs_dropped[SXS_COST_ALLOCATION],
             N_THREADS * N_EACH);
    last_record(SXS_RECORD_COST, &n);
    CHECK_EQ(n, sxs_samples_header(writer)->n_costs[SXS_COST_ALLOCATION]);
}

static void no_cost_of_many_threads_is_lost_uncounted(void **state)
{
    (void)state;
    PASSES(many_body);
}

/* ---- no room, and a forked child ------------------------------------------------------------- */

static void full_body(void)
{
    struct sxs_samples_header *header;
    begin_recording(1); /* the smallest file */
    header = sxs_samples_header(writer);
    sxs_recorder_costs_on(SXS_COST_ALLOCATION, 512 << 10, 1);
    CHECK_EQ(header->cost_interval[SXS_COST_ALLOCATION], 512 << 10);
    CHECK_EQ(header->cost_live[SXS_COST_ALLOCATION], 1);
    while (!header->n_costs_dropped[SXS_COST_ALLOCATION])
        record_plain();
    while (sxs_recorder_name(1, "x", 1) && sxs_recorder_total(SXS_COST_ALLOCATION, 1, 1, 0))
        continue;
    CHECK(!sxs_recorder_total(SXS_COST_ALLOCATION, 1, 1, 0));
    for (int i = 0; i < 64; i++)
        sxs_recorder_released(1); /* the rest of the last chunk */
    CHECK(header->n_notes_dropped > 0);
    CHECK_EQ(sxs_recorder_name(1, "another", 7), 0);
    sxs_recorder_released(1);
    sxs_recorder_live(1, 2, 3);
}

static void costs_without_room_are_counted(void **state)
{
    (void)state;
    PASSES(full_body);
}

static void notes_body(void)
{
    const struct sxs_record_live     *live;
    const struct sxs_record_released *released;
    struct sxs_record_total          *total;
    unsigned                          n;
    uint64_t                          id;
    begin_recording(1 << 24);
    id = sxs_recorder_cost_id();
    CHECK(id != 0 && sxs_recorder_cost_id() == id + 1);
    sxs_recorder_live(id, 2, 3);
    sxs_recorder_released(id);
    live = last_record(SXS_RECORD_LIVE, &n);
    CHECK(live && live->id == id && live->generation == 2 && live->collections == 3);
    released = last_record(SXS_RECORD_RELEASED, &n);
    CHECK(released && released->id == id && released->time_ns >= live->time_ns);
    total = sxs_recorder_total(SXS_COST_ALLOCATION, 2, 5, SXS_COST_PINNED);
    CHECK(total && total->name == 5 && total->runtime == 2 && total->flags == SXS_COST_PINNED);
    atomic_fetch_add(&total->n, 1);
    CHECK(last_record(SXS_RECORD_TOTAL, &n) == total);
}

static void what_becomes_of_a_cost_is_recorded(void **state)
{
    (void)state;
    PASSES(notes_body);
}

static void names_body(void)
{
    static char                   text[5000];
    const struct sxs_record_name *r;
    unsigned                      n;
    char                          name[16];
    begin_recording(1 << 26);
    CHECK_EQ(sxs_recorder_name(1, "A", 1), 1);
    CHECK_EQ(sxs_recorder_name(2, "A", 1), 2);
    CHECK_EQ(sxs_recorder_name(1, "AB", 2), 3);
    CHECK_EQ(sxs_recorder_name(1, "A", 1), 1);
    last_record(SXS_RECORD_NAME, &n);
    CHECK_EQ(n, 3);
    memset(text, 'x', sizeof(text));
    memcpy(text + 4095, "\xc3\xa4", 2); /* a character that would be cut in two */
    CHECK_EQ(sxs_recorder_name(1, text, sizeof(text)), 4);
    r = last_record(SXS_RECORD_NAME, &n);
    CHECK(r->size == 4095 && memcmp(r->text, text, 4095) == 0);
    for (unsigned i = 5; i <= 65536; i++) {
        snprintf(name, sizeof(name), "%u", i);
        CHECK_EQ(sxs_recorder_name(1, name, strlen(name)), i);
        if (i % 1024 == 0)
            CHECK_EQ(sxs_samples_make_room(writer), 0);
    }
    CHECK_EQ(sxs_recorder_name(1, "one more", 8), 0);
    CHECK_EQ(sxs_recorder_name(2, "A", 1), 2);
}

static void a_text_has_one_number_in_a_runtime(void **state)
{
    (void)state;
    PASSES(names_body);
}

static void child_body(void)
{
    const char *path = temporary();
    char        dir[300];
    pid_t       child;
    int         status;
    unsigned    n;
    snprintf(dir, sizeof(dir), "%s/session", path);
    record_plain(); /* before the recorder has started */
    sxs_session_open(dir);
    CHECK_EQ(sxs_recorder_start(), 0);
    writer = sxs_recorder_writer();
    CHECK(sxs_recorder_is_on());
    record_plain();
    CHECK(last_cost() && last_cost()->n_ips > 2);
    child = fork();
    if (child == 0) {
        record_plain();
        sxs_recorder_released(1);
        _exit(sxs_recorder_is_on() || sxs_recorder_name(1, "child's", 7) != 0 ||
              sxs_recorder_total(SXS_COST_LOCK, 1, 1, 0) ||
              sxs_recorder_cost_of((uint32_t)getppid(), &some) != -EAGAIN);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_EQ(status, 0);
    CHECK_EQ(sxs_samples_header(writer)->n_costs[SXS_COST_ALLOCATION], 1);
    CHECK_EQ(sxs_samples_header(writer)->n_costs_dropped[SXS_COST_ALLOCATION], 0);
    CHECK_EQ(sxs_samples_header(writer)->n_notes_dropped, 0);
    CHECK(!last_record(SXS_RECORD_RELEASED, &n));
    remove_tree(path);
}

static void a_forked_child_records_nothing(void **state)
{
    (void)state;
    PASSES(child_body);
}

/* ---- names ----------------------------------------------------------------------------------- */

static uint64_t record_in_code(void *arg)
{
    sxs_recorder_cost(arg, 0);
    return 0;
}

/* Returns the CODE record that covers @ip, or NULL. */
static const struct sxs_record_code *code_at(uint64_t ip)
{
    struct sxs_samples_header *header = sxs_samples_header(writer);
    unsigned char             *chunk = (unsigned char *)header + SXS_HEADER_SIZE;
    uint32_t                   used = atomic_load(&((struct sxs_chunk_header *)chunk)->used);
    for (uint32_t off = sizeof(struct sxs_chunk_header); off < used && off < SXS_CHUNK_SIZE;) {
        const struct sxs_record_code *r = (const struct sxs_record_code *)(chunk + off);
        uint32_t                      size = __atomic_load_n(&r->head.size, __ATOMIC_RELAXED);
        if (!size)
            break;
        if (atomic_load(&r->head.type) == SXS_RECORD_CODE && ip >= r->lo && ip < r->hi)
            return r;
        off += size;
    }
    return NULL;
}

static void code_body(void)
{
    static const struct sxs_tool *const tools[] = {&sxs_recorder_tool};
    const char                         *path = temporary();
    const struct sxs_record_code       *code = NULL;
    const struct sxs_record_cost       *c;
    struct fake_host                    h;
    FunctionID                          f;
    setenv("SXSPROF_OUT", path, 1);
    setenv("SXSPROF_TOOLS", "recorder", 1);
    profile_without_signals(tools, ARRAY_LEN(tools));
    h = fake_start("8.0");
    writer = sxs_recorder_writer();
    CHECK(writer && sxs_samples_header(writer)->mode == 0);
    f = h.c->method_new(h.c->class_new(h.c->module_load("/fake/Demo.dll"), "Demo.A", 0, 0, NULL),
                        "M", NULL, 0, 0, NULL);
    CHECK_EQ(h.c->jit(f), S_OK);
    h.c->call(f, record_in_code, (void *)(uintptr_t)&some);
    c = last_cost();
    CHECK(c && c->n_ips > 2);
    for (int i = 0; i < 1000 && !code; i++, usleep(10000))
        for (unsigned j = 1; j < c->n_ips && !code; j++)
            code = code_at(c->ips[j] - 1);
    CHECK(code && code->runtime == 1 && code->function == f);
    CHECK(code->name_size >= 8 && memcmp(code->text, "Demo.A.M", 8) == 0);
    fake_end(&h);
    remove_tree(path);
}

static void managed_code_in_the_stack_of_a_cost_gets_its_name(void **state)
{
    (void)state;
    PASSES(code_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_stack_begins_with_the_caller),
        cmocka_unit_test(a_deep_stack_keeps_its_youngest_frames),
        cmocka_unit_test(without_a_buffer_a_cost_has_a_shorter_stack),
        cmocka_unit_test(a_thread_with_the_smallest_stack_records_costs),
        cmocka_unit_test(another_thread_is_asked_for_its_stack),
        cmocka_unit_test(a_thread_that_cannot_answer_is_not_waited_for),
        cmocka_unit_test(no_cost_of_many_threads_is_lost_uncounted),
        cmocka_unit_test(costs_without_room_are_counted),
        cmocka_unit_test(what_becomes_of_a_cost_is_recorded),
        cmocka_unit_test(a_text_has_one_number_in_a_runtime),
        cmocka_unit_test(a_forked_child_records_nothing),
        cmocka_unit_test(managed_code_in_the_stack_of_a_cost_gets_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
