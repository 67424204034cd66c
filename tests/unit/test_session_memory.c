/* SPDX-License-Identifier: MIT */
/* test_session_memory.c - what sessions leave in the process: no block of malloc() or mapping
 * more after many sessions than after the first ones. */
#include "manager/sessions.h"

#include <malloc.h>
#include <sys/syscall.h>

#include "sampling/recorder_tool.h"
#include "stackwalk/walk.h"
#include "tests/unit/fake_host.h"
#include "tests/unit/sanitized.h"
#include "tools/events/events.h"
#include "tools/exceptions/exceptions.h"
#include "tools/gc/gc.h"
#include "tools/sample/tool.h"
#include "tools/tools.h"

/* The first sessions fill caches (buffers of streams, names, arenas of threads). Whatever a session
 * left would be multiplied by the second number. */
enum { FIRST = 20, MANY = 60, MOST_BYTES = 64 * MANY };

static const struct sxs_tool *const tools[] = {
    &sxs_guard_tool,      &sxs_pin_tool,      &sxs_census_tool,
    &sxs_stackwalk_tool,  &sxs_recorder_tool, &sxs_sample_tool,
    &sxs_exceptions_tool, &sxs_events_tool,   &sxs_gc_tool};

static unsigned lines_of_file(const char *path)
{
    unsigned n = 0;
    FILE    *f = fopen(path, "r");
    CHECK(f != NULL);
    for (int c; (c = fgetc(f)) != EOF;)
        n += c == '\n';
    fclose(f);
    return n;
}

static struct fake_host eight, nine;
static char             out[300];

static void *raise_some(void *arg)
{
    for (int i = 0; i < 200; i++) {
        fake_raise0(arg, "JITCompilationStarted", 0x1234, 1);
        fake_raise0(arg, "ThreadAssignedToOSThread", 7, (uint64_t)syscall(SYS_gettid));
    }
    return NULL;
}

static void one_session(void)
{
    const struct sxs_session_request request = {.tools = "sample:cpu=199;events;gc;exceptions",
                                                .out = out};
    char                             why[SXS_SESSION_WHY];
    pthread_t                        thread;
    int                              err = sxs_session_begin(&request, why);
    if (err)
        dprintf(check_fd, "%s\n", why);
    CHECK_EQ(err, 0);
    CHECK_EQ(pthread_create(&thread, NULL, raise_some, &eight), 0);
    raise_some(&nine);
    pthread_join(thread, NULL);
    CHECK_EQ(sxs_session_end(why), 0);
    remove_tree(out);
}

static void memory_body(void)
{
    size_t   bytes;
    unsigned maps;
    profile_without_signals(tools, ARRAY_LEN(tools));
    snprintf(out, sizeof(out), "%s/out", temporary());
    eight = fake_start("8.0");
    nine = fake_start("9.0");
    for (int i = 0; i < FIRST; i++)
        one_session();
    bytes = mallinfo2().uordblks;
    maps = lines_of_file("/proc/self/maps");
    for (int i = 0; i < MANY; i++)
        one_session();
    CHECK(mallinfo2().uordblks < bytes + MOST_BYTES);
    CHECK(lines_of_file("/proc/self/maps") < maps + MANY / 2);
    *strrchr(out, '/') = '\0';
    remove_tree(out);
}

static void sessions_leave_no_memory(void **state)
{
    (void)state;
    skip_under_thread_sanitizer("its own memory grows");
    PASSES(memory_body);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test_setup(sessions_leave_no_memory, plain_environment),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
