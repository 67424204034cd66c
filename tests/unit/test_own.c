/* SPDX-License-Identifier: MIT */
/* test_own.c - which frames of a stack are the profiler's own work. */
#include <string.h>

#include "cmd/report/own.h"

/* cmocka wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MAX_FRAMES 16
#define LIBRARY    "/usr/lib/sxsprof/libsxsprof.so!"
#define LIBC       "/lib/libc.so.6!"
#define LOADER     "/lib64/ld-linux-x86-64.so.2!"

/* Makes a stack of @names, youngest first, NULL at the end, and returns how many frames are the
 * profiler's. "file!symbol" is native, the other frames are managed. */
static size_t own_of(const char *const *names)
{
    struct sxs_model m = {0};
    struct sxs_named frames[MAX_FRAMES];
    size_t           n = 0, own;
    sxs_strings_add(&m.strings, "", 0);
    for (; names[n]; n++) {
        const char            *mark = strchr(names[n], '!');
        struct sxs_model_frame f = {.runtime = mark ? 0 : 1};
        f.name = sxs_strings_add(&m.strings, mark ? mark + 1 : names[n],
                                 strlen(mark ? mark + 1 : names[n]));
        f.file = mark ? sxs_strings_add(&m.strings, names[n], (size_t)(mark - names[n])) : 0;
        frames[n] = (struct sxs_named){.frame = sxs_model_frame(&m, &f)};
    }
    own = sxs_own_frames(&m, frames, n, false);
    sxs_model_free(&m);
    return own;
}

#define OWN_OF(...) own_of((const char *const[]){__VA_ARGS__, NULL})

static void what_managed_code_calls_in_the_library_is_own(void **state)
{
    (void)state;
    assert_int_equal(OWN_OF(LIBC "syscall", LIBRARY "sxs_descriptors_call",
                            LIBRARY "cb_ModuleLoadFinished", "App.Work()"),
                     3);
    assert_int_equal(OWN_OF("App.Inner()", "App.Work()"), 0);
}

static void what_the_end_of_the_process_calls_in_the_library_is_own(void **state)
{
    (void)state;
    assert_int_equal(OWN_OF(LIBC "syscall", LIBRARY "sxs_descriptors_call",
                            LIBRARY "sxs_file_shorten", LIBRARY "sxs_calls_file_trim",
                            LOADER "_dl_call_fini", LOADER "_dl_fini", LIBC "__run_exit_handlers",
                            LIBC "exit"),
                     4);
    assert_int_equal(OWN_OF(LIBC "munmap", LIBRARY "ended", LIBC "__cxa_finalize", LIBC "exit"), 2);
    assert_int_equal(OWN_OF(LIBC "free", LIBRARY "forget_thread", LIBC "__nptl_deallocate_tsd",
                            LIBC "start_thread"),
                     2);
    assert_int_equal(OWN_OF(LIBC "write", "/opt/app/host!at_exit", LIBC "__run_exit_handlers"), 0);
}

static void what_the_program_does_below_the_library_is_the_programs(void **state)
{
    (void)state;
    assert_int_equal(OWN_OF("App.Handler()", LIBRARY "router_entry", LOADER "_dl_relocate_object"),
                     0);
    assert_int_equal(OWN_OF(LIBC "mmap", LIBRARY "hook_mmap", "App.Work()"), 0);
    assert_int_equal(
        OWN_OF(LIBC "mmap", "/usr/lib/sxsprof/libsxsprof-preload.so!mmap", LOADER "_dl_map_object"),
        0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_managed_code_calls_in_the_library_is_own),
        cmocka_unit_test(what_the_end_of_the_process_calls_in_the_library_is_own),
        cmocka_unit_test(what_the_program_does_below_the_library_is_the_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
