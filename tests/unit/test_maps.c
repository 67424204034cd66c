/* SPDX-License-Identifier: MIT */
/* test_maps.c - whose a memory file of code is that was mapped before anybody watched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "signals/router.h"

#define PAGE ((size_t)4096)
#define GIB  ((uintptr_t)1 << 30)

/* A module of three pages, the last one its data, at an address of its own. */
static uintptr_t add_module(int owner, uintptr_t at)
{
    void *mem = mmap((void *)at, 3 * PAGE, PROT_READ,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    assert_ptr_equal(mem, (void *)at);
    assert_int_equal(mprotect((char *)mem + 2 * PAGE, PAGE, PROT_READ | PROT_WRITE), 0);
    router.owners[owner].text = at;
    snprintf(router.owners[owner].path, sizeof(router.owners[owner].path), "/none/%d/libcoreclr.so",
             owner);
    sxs_ranges_add(&router.ranges, at, at + 3 * PAGE, owner, SXS_RANGE_MODULE);
    atomic_store(&router.n_owners, owner + 1);
    return at + 2 * PAGE;
}

static int memory_file(void)
{
    int fd = memfd_create("doublemapper", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, 8 * (off_t)PAGE), 0);
    return fd;
}

static void map_code(int fd, uintptr_t at, off_t offset)
{
    void *mem =
        mmap((void *)at, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, offset);
    assert_ptr_equal(mem, (void *)at);
}

/* Unused address space of the test's own: far below where the kernel maps libraries. */
#define SPACE ((uintptr_t)0x100000000000)

static uintptr_t data[2];

static int two_modules(void **state)
{
    (void)state;
    sxs_signals(); /* makes the router ready */
    data[0] = add_module(0, SPACE + 600 * GIB);
    data[1] = add_module(1, SPACE + 500 * GIB); /* its neighbours below are not its own */
    return 0;
}

static void the_module_that_points_into_a_file_owns_it_however_far_away(void **state)
{
    int       fd = memory_file();
    uintptr_t far = SPACE + 20 * GIB, near_other = SPACE + 499 * GIB;
    (void)state;
    map_code(fd, far, 0);
    map_code(fd, near_other, (off_t)PAGE);
    *(uintptr_t *)(data[0] + 64) = far + 16;
    maps_scan();
    assert_int_equal(owner_of_code(far), 0);
    assert_int_equal(owner_of_code(near_other), 0);
    close(fd);
}

static void what_was_taken_for_anothers_is_put_right(void **state)
{
    int       fd = memory_file();
    uintptr_t piece = SPACE + 499 * GIB + 64 * PAGE;
    (void)state;
    map_code(fd, piece, 0);
    maps_scan(); /* nothing points there yet: the distance decides */
    assert_int_equal(owner_of_code(piece), 1);
    *(uintptr_t *)(data[0] + 128) = piece;
    maps_scan();
    assert_int_equal(owner_of_code(piece), 0);
    close(fd);
}

static void one_piece_that_was_seen_tells_of_all(void **state)
{
    int       fd = memory_file();
    uintptr_t unread = SPACE + 30 * GIB, seen = SPACE + 31 * GIB;
    (void)state;
    map_code(fd, unread, 0);
    map_code(fd, seen, (off_t)PAGE);
    sxs_ranges_add(&router.ranges, seen, seen + PAGE, 1, SXS_RANGE_CODE);
    maps_scan();
    assert_int_equal(owner_of_code(unread), 1);
    close(fd);
}

static void a_file_that_nothing_describes_has_no_owner(void **state)
{
    int       fd = memory_file();
    uintptr_t piece = SPACE + 40 * GIB;
    (void)state;
    map_code(fd, piece, 0);
    maps_scan();
    assert_int_equal(owner_of_code(piece), -1);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_module_that_points_into_a_file_owns_it_however_far_away),
        cmocka_unit_test(what_was_taken_for_anothers_is_put_right),
        cmocka_unit_test(one_piece_that_was_seen_tells_of_all),
        cmocka_unit_test(a_file_that_nothing_describes_has_no_owner),
    };
#ifdef __SANITIZE_THREAD__
    puts("1..1\nok 1 - maps # SKIP the thread sanitizer has the address space of this test");
    (void)tests;
    return 0;
#else
    return cmocka_run_group_tests(tests, two_modules, NULL);
#endif
}
