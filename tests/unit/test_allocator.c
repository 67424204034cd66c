/* SPDX-License-Identifier: MIT */
/* test_allocator.c - libsxsprof-malloc.so reports what is allocated, once, and what is freed. The
 * program is linked with the library as if it were preloaded. */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "allocator/allocator.h"
#include "allocator/live.h"

#define PAGE 4096u

/* ---- a listener ------------------------------------------------------------------------------ */

/* What was reported; allocation number I has the ID I + 1. */
#define MANY 200000u
static struct sxs_allocation seen[MANY];
static _Atomic uint8_t       n_freed[MANY];
static _Atomic uint32_t      n_seen;
static _Atomic int           allocates; /* 1: the listener allocates, too */

static uint64_t on_allocated(const struct sxs_allocation *a)
{
    uint32_t i = atomic_fetch_add(&n_seen, 1);
    if (allocates)
        free(malloc(4001));
    errno = EDOM;
    if (i >= MANY)
        return 0;
    seen[i] = *a;
    return i + 1;
}

static void on_freed(uint64_t id)
{
    n_freed[id - 1]++;
    errno = EDOM;
}

static const struct sxs_allocator_listener listener = {on_allocated, on_freed};

/* Reports allocations with @interval, from a new thread, which has not counted any bytes before. */
struct body {
    void (*run)(void);
    uint64_t interval;
};

static void *run_body(void *argument)
{
    const struct body *b = argument;
    b->run();
    return NULL;
}

static void listen_during(void (*run)(void), uint64_t interval)
{
    struct body b = {run, interval};
    pthread_t   thread;
    n_seen = 0;
    memset(n_freed, 0, sizeof(n_freed));
    assert_int_equal(sxsprof_allocator_v1()->listen(&listener, interval), 0);
    assert_int_equal(pthread_create(&thread, NULL, run_body, &b), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    sxsprof_allocator_v1()->leave();
}

/* Returns the number of allocations of @bytes that were reported; *@freed: how many of them have
 * been freed. */
static uint32_t count(uint64_t bytes, uint32_t *freed)
{
    uint32_t n = 0;
    *freed = 0;
    for (uint32_t i = 0; i < n_seen && i < MANY; i++) {
        n += seen[i].bytes == bytes;
        *freed += seen[i].bytes == bytes ? n_freed[i] : 0;
    }
    return n;
}

static void assert_counts(uint64_t bytes, uint32_t allocated, uint32_t freed)
{
    uint32_t gone, n = count(bytes, &gone);
    if (n != allocated || gone != freed)
        fail_msg("%ju bytes: %u allocations, %u freed; expected %u and %u", (uintmax_t)bytes, n,
                 gone, allocated, freed);
}

/* With this interval every allocation of more than some 40 bytes is reported, as itself. */
#define ALL 1u

/* ---- each function --------------------------------------------------------------------------- */

static void *kept[32];

static void call_each_function(void)
{
    unsigned n = 0;
    kept[n++] = malloc(10001);
    kept[n++] = calloc(3, 10001);
    kept[n++] = realloc(NULL, 10003);
    kept[n++] = reallocarray(NULL, 5, 10001);
    kept[n++] = memalign(64, 10005);
    kept[n++] = aligned_alloc(64, 64 * 157);
    if (posix_memalign(&kept[n++], 64, 10007) != 0)
        kept[n - 1] = NULL;
    kept[n++] = valloc(10009);
    kept[n++] = pvalloc(10011);
    kept[n] = malloc(10013);
    kept[n] = realloc(kept[n], 20013);
    n++;
}

static void free_each(void)
{
    for (unsigned i = 0; i < ARRAY_LEN(kept); i++) {
        free(kept[i]);
        kept[i] = NULL;
    }
}

static void call_and_free(void)
{
    call_each_function();
    free_each();
}

static const uint64_t each_size[] = {10001, 30003, 10003, 50005,    10005,
                                     10007, 10009, 10011, 64 * 157, 20013};

static void each_function_is_reported_once_with_its_size(void **state)
{
    (void)state;
    listen_during(call_each_function, ALL);
    for (size_t i = 0; i < ARRAY_LEN(each_size); i++)
        assert_counts(each_size[i], 1, 0);
    assert_counts(10013, 1, 1); /* moved by realloc() */
    for (uint32_t i = 0; i < n_seen; i++) {
        assert_true(seen[i].bytes < 100 || seen[i].n == 1.0);
        assert_true(seen[i].followed);
    }
    free_each();
}

static void each_freed_block_is_reported_once(void **state)
{
    (void)state;
    listen_during(call_and_free, ALL);
    for (size_t i = 0; i < ARRAY_LEN(each_size); i++)
        assert_counts(each_size[i], 1, 1);
    for (uint32_t i = 0; i < n_seen; i++)
        assert_true(n_freed[i] <= 1);
}

static void nothing_is_reported_without_a_listener(void **state)
{
    (void)state;
    n_seen = 0;
    call_and_free();
    assert_int_equal(n_seen, 0);
}

static void an_allocation_changes_the_remaining_bytes(void **state)
{
    (void)state;
    for (int i = 0; i < 10000; i++) {
        uint64_t before = sxsprof_allocator_v1()->remaining();
        free(malloc(16));
        assert_int_not_equal(sxsprof_allocator_v1()->remaining(), before);
    }
}

static void a_second_listener_is_refused(void **state)
{
    (void)state;
    assert_int_equal(sxsprof_allocator_v1()->listen(&listener, ALL), 0);
    assert_int_equal(sxsprof_allocator_v1()->listen(&listener, ALL), -1);
    sxsprof_allocator_v1()->leave();
    assert_int_equal(sxsprof_allocator_v1()->listen(&listener, ALL), 0);
    sxsprof_allocator_v1()->leave();
}

static void call_what_dlsym_finds(void)
{
    void *library = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    void *(*found_malloc)(size_t);
    void *(*found_mmap)(void *, size_t, int, int, int, off_t);
    void (*found_free)(void *);
    int (*found_munmap)(void *, size_t);
    void *at;
    *(void **)&found_malloc = dlsym(library, "malloc");
    *(void **)&found_free = dlsym(library, "free");
    *(void **)&found_mmap = dlsym(library, "mmap");
    *(void **)&found_munmap = dlsym(library, "munmap");
    found_free(found_malloc(8011));
    kept[0] = found_malloc(8013);
    at = found_mmap(NULL, 23 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_int_equal(found_munmap(at, 23 * PAGE), 0);
    assert_ptr_equal(dlsym(library, "getpid"), (void *)(uintptr_t)getpid);
    assert_null(dlsym(library, "a_function_that_nobody_wrote"));
    assert_ptr_equal(dlsym(RTLD_DEFAULT, "malloc"), (void *)(uintptr_t)malloc);
    dlclose(library);
}

/* As a runtime does for a P/Invoke. */
static void functions_that_are_looked_up_in_the_c_library_are_reported(void **state)
{
    (void)state;
    listen_during(call_what_dlsym_finds, ALL);
    assert_counts(8011, 1, 1);
    assert_counts(8013, 1, 0);
    assert_counts(23 * PAGE, 1, 1);
    free_each();
}

/* ---- C++ and jemalloc ------------------------------------------------------------------------ */

/* This program is in C and has no operators of C++ after those of the library. */
extern void *_Znwm(size_t size);
extern void *_ZnamSt11align_val_t(size_t size, size_t align);
extern void  _ZdlPvm(void *block, size_t size);
extern void  _ZdaPvSt11align_val_t(void *block, size_t align);

static void use_operators(void)
{
    kept[0] = _Znwm(9001);
    _ZdlPvm(_Znwm(9003), 9003);
    kept[1] = _ZnamSt11align_val_t(9088, 64);
    assert_int_equal((uintptr_t)kept[1] % 64, 0);
    _ZdaPvSt11align_val_t(_ZnamSt11align_val_t(9152, 64), 64);
    free(_Znwm(9005));
    _ZdlPvm(malloc(9007), 9007);
}

static void operators_without_a_library_of_cxx_allocate_by_malloc(void **state)
{
    (void)state;
    listen_during(use_operators, ALL);
    assert_counts(9001, 1, 0);
    assert_counts(9003, 1, 1);
    assert_counts(9088, 1, 0);
    assert_counts(9152, 1, 1);
    assert_counts(9005, 1, 1);
    assert_counts(9007, 1, 1);
    free_each();
}

static void an_operator_without_memory_and_without_a_library_of_cxx_returns_null(void **state)
{
    volatile size_t most = SIZE_MAX / 2 - 4096;
    (void)state;
    assert_null(_Znwm(most));
    assert_null(_ZnamSt11align_val_t(SIZE_MAX, 64));
}

extern void  *mallocx(size_t size, int flags);
extern void  *rallocx(void *block, size_t size, int flags);
extern size_t xallocx(void *block, size_t size, size_t extra, int flags);
extern void   dallocx(void *block, int flags);
extern void   sdallocx(void *block, size_t size, int flags);

static void use_functions_of_jemalloc(void)
{
    char *block = mallocx(11001, 0);
    memset(block, 'x', 11001);
    block = rallocx(block, 11003, 6); /* aligned to 64 bytes */
    assert_int_equal((uintptr_t)block % 64, 0);
    for (int i = 0; i < 11001; i++)
        assert_int_equal(block[i], 'x');
    assert_in_range(xallocx(block, 11100, 0, 0), 11003, 11200);
    dallocx(block, 0);
    block = mallocx(11005, 64); /* all zero */
    for (int i = 0; i < 11005; i++)
        assert_int_equal(block[i], 0);
    sdallocx(block, 11005, 0);
}

static void functions_of_jemalloc_work_without_it(void **state)
{
    (void)state;
    listen_during(use_functions_of_jemalloc, ALL);
    assert_counts(11001, 1, 1);
    assert_counts(11008, 1, 1); /* a multiple of the alignment */
    assert_counts(11005, 1, 1);
}

/* ---- realloc --------------------------------------------------------------------------------- */

/* Through pointers, so that neither the compiler nor an analyzer has ideas of its own. */
static void *(*volatile do_realloc)(void *, size_t) = realloc;
static void *(*volatile do_reallocarray)(void *, size_t, size_t) = reallocarray;
static void *(*volatile do_calloc)(size_t, size_t) = calloc;
static void *(*volatile do_malloc)(size_t) = malloc;

static void chain_reallocs(void)
{
    char *block = malloc(1000);
    memset(block, 'x', 1000);
    for (size_t size = 1001; size <= 1100; size++)
        block = do_realloc(block, size);
    kept[0] = block;
}

static void each_realloc_of_a_chain_releases_the_one_before(void **state)
{
    (void)state;
    listen_during(chain_reallocs, ALL);
    for (uint64_t size = 1000; size < 1100; size++)
        assert_counts(size, 1, 1);
    assert_counts(1100, 1, 0);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(((char *)kept[0])[i], 'x');
    free_each();
}

static volatile size_t huge = SIZE_MAX / 2 + 1; /* more than can be allocated */

static void fail_to_realloc(void)
{
    kept[0] = do_malloc(7001);
    errno = 0;
    kept[1] = do_realloc(kept[0], (size_t)PTRDIFF_MAX - 4096);
    assert_int_equal(errno, ENOMEM);
    assert_null(kept[1]);
    errno = 0;
    kept[1] = do_reallocarray(kept[0], huge, 3);
    assert_int_equal(errno, ENOMEM);
    assert_null(kept[1]);
    assert_null(do_calloc(huge, 3));
    assert_null(do_malloc(huge));
}

static void fail_and_free(void)
{
    fail_to_realloc();
    free_each();
}

static void a_realloc_that_fails_releases_nothing(void **state)
{
    (void)state;
    listen_during(fail_to_realloc, ALL);
    assert_counts(7001, 1, 0);
    free_each();
    listen_during(fail_and_free, ALL);
    assert_counts(7001, 1, 1);
    for (uint32_t i = 0; i < n_seen; i++)
        assert_true(seen[i].bytes < PTRDIFF_MAX / 2);
}

static void realloc_to_nothing(void)
{
    kept[0] = malloc(7003);
    kept[0] = realloc(kept[0], 0);
}

static void a_realloc_to_no_bytes_releases_the_block(void **state)
{
    (void)state;
    listen_during(realloc_to_nothing, ALL);
    assert_counts(7003, 1, 1);
    free_each();
}

/* ---- inside the listener ------------------------------------------------------------------------ */

static int errno_after;

static void allocate_with_errno(void)
{
    errno = EXDEV;
    kept[0] = malloc(5001);
    free(kept[0]);
    kept[0] = NULL;
    errno_after = errno;
}

static void what_the_listener_allocates_is_not_reported_and_errno_is_kept(void **state)
{
    (void)state;
    allocates = 1;
    listen_during(allocate_with_errno, ALL);
    allocates = 0;
    assert_counts(5001, 1, 1);
    assert_counts(4001, 0, 0);
    assert_int_equal(errno_after, EXDEV);
}

__attribute__((noinline)) static void allocate_here(void)
{
    kept[0] = malloc(5003);
    free(kept[0]);
    kept[0] = NULL;
}

static void the_caller_is_the_function_that_allocates(void **state)
{
    uintptr_t begin = (uintptr_t)allocate_here;
    (void)state;
    listen_during(allocate_here, ALL);
    for (uint32_t i = 0; i < n_seen; i++)
        if (seen[i].bytes == 5003)
            assert_in_range(seen[i].caller, begin, begin + 64);
}

/* ---- mappings -------------------------------------------------------------------------------- */

static void *map(size_t size, int prot)
{
    void *at = mmap(NULL, size, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(at, MAP_FAILED);
    return at;
}

static void map_and_unmap(void)
{
    char *at = map(11 * PAGE, PROT_READ | PROT_WRITE);
    map(13 * PAGE, PROT_READ | PROT_WRITE);
    map(17 * PAGE, PROT_NONE); /* only reserved */
    assert_int_equal(munmap(at, 11 * PAGE), 0);
    at = map(19 * PAGE, PROT_READ | PROT_WRITE);
    assert_ptr_equal(mmap(at, 19 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
                     at);
}

static void mappings_are_reported_until_they_are_unmapped_or_replaced(void **state)
{
    (void)state;
    listen_during(map_and_unmap, ALL);
    assert_counts(11 * PAGE, 1, 1);
    assert_counts(13 * PAGE, 1, 0);
    assert_counts(17 * PAGE, 0, 0);
    assert_counts(19 * PAGE, 1, 1);
    for (uint32_t i = 0; i < n_seen; i++)
        assert_int_equal(seen[i].mapped, seen[i].bytes % PAGE == 0);
}

#define PARTS 4000u

static void unmap_a_quarter(void)
{
    for (uint32_t i = 0; i < PARTS; i++) {
        char *at = map(8 * PAGE, PROT_READ | PROT_WRITE);
        munmap(at + 3 * PAGE, 2 * PAGE);
        kept[0] = at;
        if (i % 4 != 0) { /* the table has 4096 places */
            munmap(at, 8 * PAGE);
        }
    }
}

static void of_mappings_that_lose_a_part_that_part_counts_as_freed(void **state)
{
    uint32_t freed, n;
    double   expected = PARTS / 4.0 * 0.25 + PARTS * 0.75;
    (void)state;
    listen_during(unmap_a_quarter, ALL);
    n = count(8 * PAGE, &freed);
    assert_int_equal(n, PARTS);
    if (fabs(freed - expected) > 5 * sqrt(PARTS / 4.0 * 0.25 * 0.75))
        fail_msg("%u of %u are freed, expected %g", freed, n, expected);
}

static void remap(void)
{
    char *at = map(5 * PAGE, PROT_READ | PROT_WRITE);
    at = mremap(at, 5 * PAGE, 50 * PAGE, MREMAP_MAYMOVE); /* 45 more */
    assert_ptr_not_equal(at, MAP_FAILED);
    assert_ptr_equal(mremap(at, 50 * PAGE, PAGE * 100000000, 0), MAP_FAILED);
    kept[0] = at;
}

static void remap_and_unmap(void)
{
    char *at, *other = map(60 * PAGE, PROT_NONE);
    remap();
    at = mremap(kept[0], 50 * PAGE, 50 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, other);
    assert_ptr_equal(at, other);
    assert_int_equal(munmap(at, 50 * PAGE), 0);
}

static void mappings_are_followed_where_mremap_moves_them(void **state)
{
    (void)state;
    listen_during(remap, ALL);
    assert_counts(5 * PAGE, 1, 0);
    assert_counts(45 * PAGE, 1, 0);
    munmap(kept[0], 50 * PAGE);
    listen_during(remap_and_unmap, ALL);
    assert_counts(5 * PAGE, 1, 1);
    assert_counts(45 * PAGE, 1, 1);
    kept[0] = NULL;
}

/* ---- sampling, threads, fork ----------------------------------------------------------------------- */

#define INTERVAL 20000u
#define BLOCKS   40000u
#define SIZE     333u

static void *allocate_many(void *unused)
{
    (void)unused;
    for (uint32_t i = 0; i < BLOCKS; i++)
        free(malloc(SIZE));
    return NULL;
}

static void allocate_on_threads(void)
{
    pthread_t threads[4];
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        pthread_create(&threads[i], NULL, allocate_many, NULL);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        pthread_join(threads[i], NULL);
}

static void the_estimate_is_right_on_several_threads_and_all_are_freed(void **state)
{
    double   estimate = 0, variance = 0, all = 4.0 * BLOCKS;
    uint32_t freed, n;
    (void)state;
    listen_during(allocate_on_threads, INTERVAL);
    n = count(SIZE, &freed);
    for (uint32_t i = 0; i < n_seen; i++) {
        estimate += seen[i].bytes == SIZE ? seen[i].n : 0;
        variance += seen[i].bytes == SIZE ? seen[i].n * (seen[i].n - 1) : 0;
    }
    if (fabs(estimate - all) > 5 * sqrt(variance) || sqrt(variance) > all / 10)
        fail_msg("%g blocks, expected %g, standard deviation %g", estimate, all, sqrt(variance));
    assert_int_equal(freed, n);
    for (uint32_t i = 0; i < n_seen; i++)
        assert_true(n_freed[i] <= 1);
}

static int child_status;

/* A part of the library that registers a listener lets it leave in a forked child. */
static void fork_and_allocate(void)
{
    pid_t child;
    kept[0] = malloc(6001);
    child = fork();
    if (child == 0) {
        uint32_t before = n_seen;
        sxsprof_allocator_v1()->leave();
        free(kept[0]);
        for (int i = 0; i < 1000; i++)
            free(malloc(6003));
        _exit(n_seen != before);
    }
    waitpid(child, &child_status, 0);
}

static void a_forked_child_allocates_and_frees_unreported(void **state)
{
    (void)state;
    listen_during(fork_and_allocate, ALL);
    assert_int_equal(child_status, 0);
    assert_counts(6001, 1, 0);
    free_each();
}

static void **filled;
#define FILLED (3 * SXS_LIVE_BLOCKS / 2)

static void fill_the_table(void)
{
    for (uint32_t i = 0; i < FILLED; i++)
        filled[i] = malloc(777);
}

static void what_does_not_fit_into_the_table_is_counted(void **state)
{
    struct sxs_allocator_counts before, after;
    uint32_t                    not_followed = 0;
    (void)state;
    filled = calloc(FILLED, sizeof(*filled));
    sxsprof_allocator_v1()->counts(&before);
    listen_during(fill_the_table, ALL);
    sxsprof_allocator_v1()->counts(&after);
    for (uint32_t i = 0; i < n_seen && i < MANY; i++)
        not_followed += !seen[i].followed;
    assert_in_range(not_followed, FILLED - SXS_LIVE_BLOCKS, FILLED / 2);
    assert_int_equal(after.n_not_followed - before.n_not_followed, not_followed);
    assert_int_equal(after.n_reported - before.n_reported, n_seen);
    for (uint32_t i = 0; i < FILLED; i++)
        free(filled[i]);
    free(filled);
}

#ifdef SXS_SANITIZED
static void a_sanitizer_has_functions_of_its_own_before_the_library_s(void **state)
{
    (void)state;
    skip();
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_function_is_reported_once_with_its_size),
        cmocka_unit_test(each_freed_block_is_reported_once),
        cmocka_unit_test(functions_that_are_looked_up_in_the_c_library_are_reported),
        cmocka_unit_test(operators_without_a_library_of_cxx_allocate_by_malloc),
        cmocka_unit_test(an_operator_without_memory_and_without_a_library_of_cxx_returns_null),
        cmocka_unit_test(functions_of_jemalloc_work_without_it),
        cmocka_unit_test(nothing_is_reported_without_a_listener),
        cmocka_unit_test(an_allocation_changes_the_remaining_bytes),
        cmocka_unit_test(a_second_listener_is_refused),
        cmocka_unit_test(each_realloc_of_a_chain_releases_the_one_before),
        cmocka_unit_test(a_realloc_that_fails_releases_nothing),
        cmocka_unit_test(a_realloc_to_no_bytes_releases_the_block),
        cmocka_unit_test(what_the_listener_allocates_is_not_reported_and_errno_is_kept),
        cmocka_unit_test(the_caller_is_the_function_that_allocates),
        cmocka_unit_test(mappings_are_reported_until_they_are_unmapped_or_replaced),
        cmocka_unit_test(of_mappings_that_lose_a_part_that_part_counts_as_freed),
        cmocka_unit_test(mappings_are_followed_where_mremap_moves_them),
        cmocka_unit_test(the_estimate_is_right_on_several_threads_and_all_are_freed),
        cmocka_unit_test(a_forked_child_allocates_and_frees_unreported),
        cmocka_unit_test(what_does_not_fit_into_the_table_is_counted),
    };
#ifdef SXS_SANITIZED
    const struct CMUnitTest none[] = {
        cmocka_unit_test(a_sanitizer_has_functions_of_its_own_before_the_library_s),
    };
    (void)tests;
    return cmocka_run_group_tests(none, NULL, NULL);
#else
    return cmocka_run_group_tests(tests, NULL, NULL);
#endif
}
