/* SPDX-License-Identifier: MIT */
/* test_wait_class.c - classes of waits from stacks and the kernel's reason. */
#include <string.h>

#include "cmd/report/wait_class.h"
#include "session/format/samples.h"

/* cmocka wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MAX_FRAMES 16

/* Makes a stack of @names, youngest first, NULL at the end, and returns the class. "file!symbol" is
 * native. */
static enum sxs_wait_class class_of(const char *const *names, unsigned waiting, bool suspended)
{
    struct sxs_model m = {0};
    struct sxs_named frames[MAX_FRAMES];
    size_t           n = 0;
    enum sxs_wait_class class;
    sxs_strings_add(&m.strings, "", 0);
    for (; names[n]; n++) {
        const char            *mark = strchr(names[n], '!');
        struct sxs_model_frame f = {.runtime = mark ? 0 : 1};
        f.name = sxs_strings_add(&m.strings, mark ? mark + 1 : names[n],
                                 strlen(mark ? mark + 1 : names[n]));
        f.file = mark ? sxs_strings_add(&m.strings, names[n], (size_t)(mark - names[n])) : 0;
        frames[n] = (struct sxs_named){.frame = sxs_model_frame(&m, &f)};
    }
    class = sxs_wait_class(&m, frames, n, waiting, suspended);
    sxs_model_free(&m);
    return class;
}

#define CLASS_OF(waiting, suspended, ...) \
    class_of((const char *const[]){__VA_ARGS__, NULL}, waiting, suspended)
#define FUTEX "/lib/libc.so.6!futex", "/net/libcoreclr.so!?"

static void a_call_into_the_runtime_is_a_monitor_or_a_suspension(void **state)
{
    (void)state;
    assert_int_equal(CLASS_OF(SXS_WAITS_LOCK, false, FUTEX, "App.Work()"), SXS_WAIT_MONITOR);
    assert_int_equal(CLASS_OF(SXS_WAITS_LOCK, true, FUTEX, "App.Work()"), SXS_WAIT_COLLECTION);
    assert_int_equal(CLASS_OF(SXS_WAITS, false, FUTEX, "App.Work()"), SXS_WAIT_MONITOR);
}

static void the_outermost_function_of_the_framework_decides(void **state)
{
    (void)state;
    assert_int_equal(CLASS_OF(SXS_WAITS_LOCK, false, FUTEX,
                              "System.Threading.Monitor.Wait(System.Object, System.Int32)",
                              "System.Threading.ManualResetEventSlim.Wait(System.Int32)",
                              "System.Threading.Tasks.Task.Wait()", "App.Work()"),
                     SXS_WAIT_TASK);
    assert_int_equal(CLASS_OF(SXS_WAITS_LOCK, false, FUTEX,
                              "System.Threading.Monitor.Wait(System.Object, System.Int32)",
                              "App.Work()", "System.Threading.Tasks.Task.Execute()"),
                     SXS_WAIT_EVENT);
    assert_int_equal(CLASS_OF(SXS_WAITS_LOCK, true, FUTEX, "System.Threading.WaitHandle.WaitOne()",
                              "System.Threading.Lock.TryEnterSlow()", "App.Work()"),
                     SXS_WAIT_MONITOR);
    assert_int_equal(
        CLASS_OF(SXS_WAITS_LOCK, false, FUTEX, "System.Threading.Thread.Sleep()", "App.Work()"),
        SXS_WAIT_SLEEP);
}

static void an_idle_thread_of_the_pool_differs_from_one_whose_work_waits(void **state)
{
    (void)state;
    assert_int_equal(
        CLASS_OF(SXS_WAITS_LOCK, false, FUTEX, "System.Threading.LowLevelLifoSemaphore.Wait()",
                 "System.Threading.PortableThreadPool+WorkerThread.WorkerThreadStart()"),
        SXS_WAIT_POOL_IDLE);
    assert_int_equal(
        CLASS_OF(SXS_WAITS_LOCK, false, FUTEX, "System.Threading.Thread.Sleep()", "App.Item()",
                 "System.Threading.ThreadPoolWorkQueue.Dispatch()",
                 "System.Threading.PortableThreadPool+WorkerThread.WorkerThreadStart()"),
        SXS_WAIT_SLEEP);
    assert_int_equal(CLASS_OF(SXS_WAITS_LOCK, false, FUTEX, "App.Item()",
                              "System.Threading.ThreadPoolWorkQueue.Dispatch()"),
                     SXS_WAIT_MONITOR);
}

static void the_kernel_decides_about_native_code(void **state)
{
    (void)state;
    assert_int_equal(CLASS_OF(SXS_WAITS_IO, false, "/lib/libc.so.6!read", "App.Work()"),
                     SXS_WAIT_IO);
    assert_int_equal(CLASS_OF(SXS_WAITS_SLEEP, false, "/lib/libc.so.6!usleep", "App.Work()"),
                     SXS_WAIT_SLEEP);
    assert_int_equal(
        CLASS_OF(SXS_WAITS_LOCK, false, "/lib/libc.so.6!futex", "/lib/libdb.so!wait", "App.Work()"),
        SXS_WAIT_NATIVE);
    assert_int_equal(CLASS_OF(SXS_WAITS_LOCK, false, "/lib/libc.so.6!futex", "/app/host!main"),
                     SXS_WAIT_NATIVE);
    assert_int_equal(CLASS_OF(SXS_WAITS_POLL, false, "/lib/libc.so.6!poll", "/app/host!main"),
                     SXS_WAIT_IO);
    assert_int_equal(CLASS_OF(SXS_WAITS_POLL, false, "/lib/libc.so.6!poll", "/net/libcoreclr.so!?"),
                     SXS_WAIT_RUNTIME);
    assert_int_equal(CLASS_OF(SXS_WAITS_PROCESSOR, true, FUTEX, "App.Work()"), SXS_WAIT_PROCESSOR);
}

static void without_a_stack_only_the_kernel_knows(void **state)
{
    (void)state;
    assert_int_equal(class_of((const char *const[]){NULL}, SXS_WAITS, false), SXS_WAIT_UNKNOWN);
    assert_int_equal(class_of((const char *const[]){NULL}, SXS_WAITS_SLEEP, false), SXS_WAIT_SLEEP);
    assert_int_equal(class_of((const char *const[]){NULL}, 200, true), SXS_WAIT_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_into_the_runtime_is_a_monitor_or_a_suspension),
        cmocka_unit_test(the_outermost_function_of_the_framework_decides),
        cmocka_unit_test(an_idle_thread_of_the_pool_differs_from_one_whose_work_waits),
        cmocka_unit_test(the_kernel_decides_about_native_code),
        cmocka_unit_test(without_a_stack_only_the_kernel_knows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
