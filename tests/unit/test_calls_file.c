/* SPDX-License-Identifier: MIT */
/* Options, patterns, the file "calls" and its reader, damaged or not. */
#include "tests/unit/calls_fixture.h"

#include <sys/stat.h>

#include "arch/arch.h"
#include "base/idle.h"
#include "session/write/calls_write.h"
#include "tests/unit/dice.h"
#include "tools/options/calls_options.h"

/* ---- options ----------------------------------------------------------------------------------- */

static struct sxs_calls_options parsed(const char *text)
{
    struct sxs_calls_options o;
    char                     why[SXS_TOOL_WHY] = "";
    assert_int_equal(sxs_calls_parse(text, &o, why, sizeof(why)), 0);
    return o;
}

static void options(void **state)
{
    static const char *const wrong[] = {"fast", "tree,fast", "count tree", "inline", "inline=yes",
                                        "backoff", "backoff=", "backoff=1", "backoff=1/", "backoff=/1",
                                        "backoff=0/1", "backoff=1/0", "backoff=-1/1", "backoff=1/2x",
                                        "backoff=99999999999999999999/1", "tree,,x"};
    struct sxs_calls_options o = parsed("");
    char                     why[SXS_TOOL_WHY];
    (void)state;
    assert_int_equal(o.mode, SXS_CALLS_TREE);
    assert_int_equal(o.inlining, 0);
    assert_int_equal(o.backoff_hz, 1000000);
    assert_int_equal(o.backoff_ns, 200);
    assert_int_equal(parsed("count").mode, SXS_CALLS_COUNT);
    o = parsed("time,inline=on,backoff=5/7");
    assert_int_equal(o.mode, SXS_CALLS_TIME);
    assert_int_equal(o.inlining, 1);
    assert_int_equal(o.backoff_hz, 5);
    assert_int_equal(o.backoff_ns, 7);
    assert_int_equal(parsed("tree,backoff=off").backoff_hz, 0);
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        if (sxs_calls_parse(wrong[i], &o, why, sizeof(why)) != -1)
            fail_msg("\"%s\" was taken", wrong[i]);
    assert_int_equal(sxs_calls_parse("tree,fast", &o, why, sizeof(why)), -1);
    assert_string_equal(why, "fast: no option of the tool calls; expected count, time, tree, "
                             "trace[=MB], mode=count|time|tree|trace, inline=on|off, "
                             "backoff=N/NS|off or await=physical|logical");
}

static void await_logical_needs_a_call_tree(void **state)
{
    struct sxs_calls_options o;
    char                     why[SXS_TOOL_WHY];
    (void)state;
    assert_int_equal(parsed("await=logical").logical, 1);
    assert_int_equal(parsed("count,trace,await=logical").logical, 1);
    assert_int_equal(parsed("count,await=physical").logical, 0);
    assert_int_equal(sxs_calls_parse("await=logical,mode=count", &o, why, sizeof(why)), -1);
    assert_string_equal(why, "await=logical: expected with tree or trace; count records no call paths");
    assert_int_equal(sxs_calls_parse("time,await=logical", &o, why, sizeof(why)), -1);
}

/* The first 63 characters of the second option are a valid option with another number. */
static void an_option_is_read_whole_or_refused(void **state)
{
    struct sxs_calls_options o;
    char                     text[80], bad[128];
    (void)state;
    snprintf(text, sizeof(text), "trace=%057d", 12);
    assert_int_equal(strlen(text), 63);
    assert_int_equal(parsed(text).trace_mb, 12);
    snprintf(text, sizeof(text), "trace=%058d", 123);
    assert_int_equal(sxs_calls_parse(text, &o, bad, sizeof(bad)), -1);
    assert_int_equal(strncmp(bad, "trace=000", 9), 0);
    assert_non_null(strstr(bad, "...: expected"));
    snprintf(text, sizeof(text), "trace=%058d,tree", 123);
    assert_int_equal(sxs_calls_parse(text, &o, bad, sizeof(bad)), -1);
}

static int fits(const char *pattern, const char *version, const char *assembly, const char *name)
{
    struct sxs_calls_pattern p;
    if (sxs_calls_pattern(pattern, strlen(pattern), &p))
        return -1;
    return sxs_calls_pattern_assembly(&p, version, assembly) && sxs_calls_pattern_name(&p, name);
}

static void patterns(void **state)
{
    static const struct {
        const char *pattern, *name;
        int         fits; /* version 8.0.29, assembly app */
    } all[] = {
        {"app:*", "A.B.C(D)", 1},
        {"*:*", "A.B.C", 1},
        {"app:A.B.C", "A.B.C(System.Int32)", 1},
        {"app:A.B.C", "A.B.CD(System.Int32)", 0},
        {"app:A.B.C", "A.B<X>.C<Y<Z>>(D<E>)", 1},
        {"app:A.*.C", "A.B.X.C()", 1},
        {"app:A.?.C", "A.BB.C()", 0},
        {"app:*.<Run>b__0", "A.<>c.<Run>b__0(D)", 1},
        {"app:A+<It>d__1.MoveNext", "A+<It>d__1.MoveNext()", 1},
        {"app:*(*", "A.B.C(D)", 0}, /* parameters are passed over */
        {"ap:*", "A.B.C", 0},
        {"AP?:*", "A.B.C", 0},
        {"a*p:*", "A.B.C", 1},
        {"8/app:*", "A.B.C", 1},
        {"8.0/app:*", "A.B.C", 1},
        {"8.0.2/app:*", "A.B.C", 0},
        {"8.0.2*/app:*", "A.B.C", 1},
        {"9/app:*", "A.B.C", 0},
        {"*/app:*", "A.B.C", 1},
        {"1/8/app:*", "A.B.C", 0},
        {"app:", "A", -1}, {":A", "A", -1}, {"app", "A", -1}, {"", "A", -1}, {"/app:A", "A", -1},
        {"8/:A", "A", -1},
        {"app:::op", "::op", 1},
    };
    char long_one[2000];
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (fits(all[i].pattern, "8.0.29", "app", all[i].name) != all[i].fits)
            fail_msg("%s and %s: not %d", all[i].pattern, all[i].name, all[i].fits);
    memset(long_one, 'a', sizeof(long_one) - 1);
    long_one[sizeof(long_one) - 1] = '\0';
    memcpy(long_one, "x:", 2);
    assert_int_equal(fits(long_one, "8", "x", "a"), -1);
    memset(long_one, '<', sizeof(long_one) - 1);
    assert_int_equal(fits("x:*", "8", "x", long_one), 1);
    assert_int_equal(fits("x:a*a*a*a*a*a*a*b", "8", "x", long_one), 0);
}

/* ---- cells ------------------------------------------------------------------------------------- */

static void cells(void **state)
{
    struct sxs_calls_arena a = {0, 0, 7}, b = {0, 0, 8};
    sxs_calls_ref          first = sxs_calls_cells(&a, 1), other = sxs_calls_cells(&b, 1), next;
    (void)state;
    assert_true(first && other && first / SXS_CALLS_CELLS != other / SXS_CALLS_CELLS);
    assert_int_equal(sxs_calls_cells(&a, 3), first + 1);
    assert_int_equal(sxs_calls_cells(&a, 1), first + 4);
    assert_int_equal(sxs_calls_cells(&a, SXS_CALLS_CELLS), 0); /* as long as a chunk: never */
    next = sxs_calls_cells(&a, SXS_CALLS_CELLS - 1);           /* a chunk of its own */
    assert_int_equal(next % SXS_CALLS_CELLS, 1);
    assert_int_not_equal(next / SXS_CALLS_CELLS, first / SXS_CALLS_CELLS);
    for (const uint64_t *at = sxs_calls_cell(next), *end = at + 1023 * 8; at < end; at++)
        assert_int_equal(*at, 0);
    assert_int_equal(((struct sxs_calls_chunk *)sxs_calls_cell(next - 1))->owner, 7);
}

static void *take_many(void *arg)
{
    struct sxs_calls_arena a = {0, 0, 1};
    uint32_t              *cell;
    (void)arg;
    for (int i = 0; i < 20000; i++) {
        sxs_calls_ref ref = sxs_calls_cells(&a, 1 + (uint32_t)(i % 3));
        if (!ref)
            return (void *)1;
        cell = sxs_calls_cell(ref);
        if (*cell) /* somebody else's */
            return (void *)2;
        *cell = 1;
        while (i % 500 == 0 && sxs_calls_file_make_room() > 0)
            ;
    }
    return NULL;
}

/* Two owners at once never get the same cell; one makes room. */
static void cells_of_many(void **state)
{
    pthread_t threads[4];
    void     *said;
    (void)state;
    for (int i = 0; i < 40; i++)
        assert_int_equal(sxs_calls_file_make_room(), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_many, NULL), 0);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], &said);
        assert_null(said);
    }
}

/* More than is ever kept ready, and the thread that makes room does not come. */
static void a_late_service_thread_costs_no_path(void **state)
{
    struct sxs_calls_arena arena = {0};
    (void)state;
    for (int i = 0; i < 110; i++)
        assert_int_not_equal(sxs_calls_cells(&arena, SXS_CALLS_CELLS - 1), 0);
}

static void what_threads_leave_over_is_for_those_to_come(void **state)
{
    uint32_t before = atomic_load(&head->n_taken);
    (void)state;
    for (int i = 0; i < 1000; i++) {
        struct sxs_calls_arena arena = {0};
        sxs_calls_ref          ref = sxs_calls_cells(&arena, 10);
        assert_int_not_equal(ref, 0);
        assert_int_equal(*(uint64_t *)sxs_calls_cell(ref), 0);
        memset(sxs_calls_cell(ref), 0xff, 10 * SXS_CALLS_CELL);
        sxs_calls_cells_end(&arena);
    }
    assert_in_range(atomic_load(&head->n_taken) - before, 1, 11);
}

/* ---- the service thread's sleep ---------------------------------------------------------------- */

static void *sleep_until_woken(void *arg)
{
    struct sxs_idle *d = arg;
    for (int i = 0; i < 100; i++)
        sxs_idle_wait(d, 0);
    return NULL;
}

static void idle_waits(void **state)
{
    struct sxs_idle d = {0};
    pthread_t       thread;
    (void)state;
    sxs_idle_wait(&d, 0);
    assert_int_equal(d.ns, SXS_IDLE_SHORT_NS);
    sxs_idle_wait(&d, 0);
    assert_int_equal(d.ns, 2 * SXS_IDLE_SHORT_NS);
    for (int i = 0; i < 3; i++)
        sxs_idle_wait(&d, 0);
    assert_int_equal(d.ns, SXS_IDLE_LONG_NS);
    sxs_idle_wait(&d, 1);
    assert_int_equal(d.ns, SXS_IDLE_SHORT_NS);
    sxs_idle_wake(&d); /* before it sleeps: not lost */
    assert_int_equal(atomic_load(&d.word), 2);
    sxs_idle_wait(&d, 0);
    assert_int_equal(atomic_load(&d.word), 0);
    /* Whenever it comes, a call finds the thread asleep, awake or woken, and it goes on. */
    assert_int_equal(pthread_create(&thread, NULL, sleep_until_woken, &d), 0);
    for (int i = 0; i < 200; i++) {
        sxs_idle_wake(&d);
        usleep(100);
    }
    pthread_join(thread, NULL);
}

/* ---- quantiles --------------------------------------------------------------------------------- */

static void quantiles(void **state)
{
    static uint64_t     buckets[SXS_CALLS_BUCKETS];
    struct sxs_calls    c = {.ns_per_tick = 1};
    struct sxs_calls_read_function fn = {.buckets = buckets, .min_ns = 1000, .max_ns = 70000};
    uint64_t            ns;
    (void)state;
    assert_int_equal(sxs_calls_quantile(&c, &fn, 0.5), 0); /* no calls */
    for (uint64_t d = 1000; d < 2000; d++) /* a thousand durations, one each */
        buckets[(63 - __builtin_clzll(d)) * 8 + ((d >> (63 - __builtin_clzll(d) - 3)) & 7)]++;
    buckets[16 * 8 + 0]++; /* and one of 65,536 or more */
    ns = sxs_calls_quantile(&c, &fn, 0.5);
    assert_in_range(ns, 1500 * 7 / 8, 1500 * 9 / 8);
    ns = sxs_calls_quantile(&c, &fn, 0.99);
    assert_in_range(ns, 1990 * 7 / 8, 1990 * 9 / 8);
    assert_int_equal(sxs_calls_quantile(&c, &fn, 0), 1000);
    assert_in_range(sxs_calls_quantile(&c, &fn, 1), 65536, 70000);
    fn.buckets = NULL;
    assert_int_equal(sxs_calls_quantile(&c, &fn, 0.5), 0);
}

/* ---- damage ------------------------------------------------------------------------------------ */

static unsigned char *good_bytes(size_t *size)
{
    unsigned char *bytes;
    *size = SXS_CALLS_HEADER + (size_t)atomic_load(&head->n_taken) * SXS_CALLS_CHUNK;
    bytes = malloc(*size);
    assert_non_null(bytes);
    memcpy(bytes, head, SXS_CALLS_HEADER);
    memcpy(bytes + SXS_CALLS_HEADER, sxs_calls_cell(0), *size - SXS_CALLS_HEADER);
    return bytes;
}

static int dir_fd = -1;
static char dir[] = "/tmp/test-calls-bad-XXXXXX";

static int reads(const unsigned char *bytes, size_t size, char *why, size_t why_size)
{
    struct sxs_calls *c;
    int               err, fd;
    if (dir_fd < 0) {
        assert_non_null(mkdtemp(dir));
        dir_fd = open(dir, O_RDONLY | O_DIRECTORY);
    }
    fd = openat(dir_fd, SXS_CALLS_FILE, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    close(fd);
    err = sxs_calls_read(SXS_FILES_OF(dir_fd), &c, why, why_size);
    if (!err && c->n_problems)
        snprintf(why, why_size, "%s", c->problems[0]);
    for (size_t i = 0; !err && i < c->n_fns; i++)
        sxs_calls_quantile(c, &c->fns[i], 0.5);
    for (size_t i = 0; !err && i < c->n_paths; i++) {
        assert_true(c->paths[i].parent == SXS_CALLS_NONE || c->paths[i].parent < i);
        assert_true(c->paths[i].fn == SXS_CALLS_NONE || c->paths[i].fn < c->n_fns);
        assert_true(c->paths[i].thread < c->n_threads);
    }
    assert_true(!err == (c != NULL));
    sxs_calls_free(c);
    return err;
}

static const char *some_calls(void)
{
    uintptr_t sp = 0x100000;
    for (unsigned i = 0; i < 3000; i++) {
        unsigned fn = (unsigned)roll(N_FUNCTIONS);
        if (i % 5 == 4 && sp < 0x100000) {
            sp = sxs_calls_state->top->sp;
            if (sxs_tree_leave(sxs_calls_state->top->fn, sp, sxs_tick()))
                sxs_tree_leave_slow(sxs_calls_state->top->fn, sp);
            sp += 64;
        } else {
            sp -= 64;
            if (sxs_tree_enter(&called[fn], sp))
                sxs_tree_enter_slow(&called[fn], sp, 0);
        }
    }
    return NULL;
}

static void heads(void **state)
{
    size_t         size;
    char           why[200];
    unsigned char *b;
    (void)state;
    on_thread(some_calls);
    b = good_bytes(&size);
    assert_int_equal(reads(b, size, why, sizeof(why)), 0);
    assert_string_equal(why, "");
    assert_int_equal(reads(b, 100, why, sizeof(why)), EINVAL);
    assert_non_null(strstr(why, "cut"));
    assert_int_equal(reads(b, size - 5000, why, sizeof(why)), 0);
    assert_non_null(strstr(why, "cut"));
    assert_int_equal(reads(b, SXS_CALLS_HEADER, why, sizeof(why)), 0);
    b[0] = 'X';
    assert_int_equal(reads(b, size, why, sizeof(why)), EINVAL);
    b[0] = 'S';
    b[8] = 99;
    assert_int_equal(reads(b, size, why, sizeof(why)), EINVAL);
    assert_non_null(strstr(why, "version 99"));
    free(b);
}

/* Bytes, words and references changed: a message at most. */
static void damage(void **state)
{
    static const uint64_t odd[] = {0, 1, 2, 0xffff, 1024, 1025, 0x7fffffff, 0xffffffff, UINT64_MAX};
    size_t                size;
    char                  why[200];
    unsigned char        *good = good_bytes(&size), *b = malloc(size);
    const char           *rounds = getenv("N_FUZZ");
    (void)state;
    assert_non_null(b);
    for (int n = rounds ? atoi(rounds) : 400; n > 0; n--) {
        size_t cut = roll(6) ? size : roll(size);
        memcpy(b, good, size);
        for (uint64_t k = 1 + roll(20); k > 0; k--) {
            size_t at = roll(4) ? SXS_CALLS_HEADER + roll(size - SXS_CALLS_HEADER - 8) : 8 + roll(120);
            uint32_t ref = (uint32_t)roll(size / SXS_CALLS_CELL);
            switch (roll(4)) {
            case 0: b[at] = (unsigned char)roll(256); break;
            case 1: memcpy(b + (at & ~7u), &odd[roll(9)], 8); break;
            case 2: memcpy(b + (at & ~3u), &ref, 4); break;
            default: b[at] ^= (unsigned char)(1u << roll(8)); break;
            }
        }
        alarm(20);
        reads(b, cut, why, sizeof(why));
    }
    alarm(0);
    free(b);
    free(good);
}

/* The @i-th cell that is no chunk's head. */
static sxs_calls_ref cell_number(uint32_t i)
{
    return i / (SXS_CALLS_CELLS - 1) * SXS_CALLS_CELLS + 1 + i % (SXS_CALLS_CELLS - 1);
}

/* Two hundred thousand functions, each called by the one before: no time of squares. */
static void long_chains(void **state)
{
    enum { N = 200000 };
    uint32_t                 chunks = cell_number(2 * N + 10) / SXS_CALLS_CELLS + 1;
    size_t                   size = SXS_CALLS_HEADER + (size_t)chunks * SXS_CALLS_CHUNK;
    unsigned char           *b = calloc(1, size), *at = b + SXS_CALLS_HEADER;
    struct sxs_calls_header *h = (struct sxs_calls_header *)b;
    struct sxs_calls_thread *t;
    char                     why[200];
    (void)state;
    assert_non_null(b);
    memcpy(b, head, sizeof(*h));
    atomic_store(&h->n_taken, chunks);
    atomic_store(&h->n_chunks, chunks);
    atomic_store(&h->functions, cell_number(10));
    atomic_store(&h->threads, cell_number(0));
    t = (struct sxs_calls_thread *)(at + (size_t)cell_number(0) * SXS_CALLS_CELL);
    t->root = cell_number(2);
    ((struct sxs_calls_node *)(at + (size_t)t->root * SXS_CALLS_CELL))->child = cell_number(11);
    for (uint32_t i = 0; i < N; i++) {
        struct sxs_calls_function *f = (void *)(at + (size_t)cell_number(10 + 2 * i) * SXS_CALLS_CELL);
        struct sxs_calls_node     *n = (void *)(at + (size_t)cell_number(11 + 2 * i) * SXS_CALLS_CELL);
        f->next = i + 1 < N ? cell_number(12 + 2 * i) : 0;
        n->child = i + 1 < N ? cell_number(13 + 2 * i) : 0;
        n->function = cell_number(10 + 2 * i);
        n->calls = 1;
    }
    alarm(30);
    assert_int_equal(reads(b, size, why, sizeof(why)), 0);
    assert_string_equal(why, "");
    alarm(0);
    free(b);
    unlinkat(dir_fd, SXS_CALLS_FILE, 0);
    close(dir_fd);
    rmdir(dir);
}

/* ---- the end ----------------------------------------------------------------------------------- */

static void what_nobody_took_is_given_back(void **state)
{
    uint32_t               taken = atomic_load(&head->n_taken);
    struct sxs_calls_arena arena = {0};
    struct stat            st;
    struct sxs_calls      *c;
    (void)state;
    assert_true(taken < atomic_load(&head->n_chunks));
    sxs_calls_file_trim();
    assert_int_equal(fstatat(folder_fd, SXS_CALLS_FILE, &st, 0), 0);
    assert_int_equal(st.st_size, SXS_CALLS_HEADER + (off_t)taken * SXS_CALLS_CHUNK);
    assert_int_equal(sxs_calls_cells(&arena, 1), 0); /* a thread that begins now */
    assert_int_equal(sxs_calls_file_make_room(), 0);
    assert_int_equal(fstatat(folder_fd, SXS_CALLS_FILE, &st, 0), 0);
    assert_int_equal(st.st_size, SXS_CALLS_HEADER + (off_t)taken * SXS_CALLS_CHUNK);
    c = read_file();
    assert_int_equal(c->n_fns, N_FUNCTIONS);
    sxs_calls_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(await_logical_needs_a_call_tree),
        cmocka_unit_test(an_option_is_read_whole_or_refused),
        cmocka_unit_test(options),
        cmocka_unit_test(idle_waits),
        cmocka_unit_test(patterns),
        cmocka_unit_test(quantiles),
        cmocka_unit_test(heads),
        cmocka_unit_test(damage), /* while the file is small */
        cmocka_unit_test(cells),
        cmocka_unit_test(a_late_service_thread_costs_no_path),
        cmocka_unit_test(what_threads_leave_over_is_for_those_to_come),
        cmocka_unit_test(cells_of_many),
        cmocka_unit_test(long_chains),
        cmocka_unit_test(what_nobody_took_is_given_back), /* the last: nobody counts afterwards */
    };
    return cmocka_run_group_tests(tests, make_file, drop_file);
}
