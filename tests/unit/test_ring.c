/* SPDX-License-Identifier: MIT */
/* test_ring.c - the ring of segments when something goes wrong between two of them. Sessions, runtimes
 * and the thread of sessions are stubs; the test takes the thread's turns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/clock.h"
#include "base/descriptors.h"
#include "control/ring.h"
#include "control/ring_internal.h"
#include "control/session_thread.h"
#include "manager/settings.h"
#include "sampling/recorder.h"

#define LONG_AGO INT64_C(7200000000000) /* more than the time of a segment in these tests */

/* ---- what the ring is built upon ------------------------------------------------------------- */

static struct {
    struct sxs_session_state state;
    int                      begin_err, end_err; /* of the next calls; 0: they succeed */
    unsigned                 n_changes;
    uint64_t (*turn)(void);
    int (*ended)(unsigned number);
} stub;

int sxs_session_begin(const struct sxs_session_request *r, char why[SXS_SESSION_WHY])
{
    why[0] = '\0';
    if (stub.begin_err)
        return stub.begin_err;
    if (stub.state.phase != SXS_SESSION_NONE)
        return -EBUSY;
    stub.state.phase = SXS_SESSION_ON;
    stub.state.number++;
    snprintf(stub.state.out, sizeof(stub.state.out), "%s", r->out);
    return 0;
}

int sxs_session_end(char why[SXS_SESSION_WHY])
{
    snprintf(why, SXS_SESSION_WHY, "a stub");
    if (stub.end_err)
        return stub.end_err;
    stub.state.phase = SXS_SESSION_NONE;
    return 0;
}

void sxs_session_get_state(struct sxs_session_state *out)
{
    *out = stub.state;
}

size_t sxs_runtimes_live(struct sxs_runtime **out, size_t cap)
{
    (void)cap;
    out[0] = NULL;
    return 1;
}

void sxs_runtime_unref(struct sxs_runtime *rt)
{
    (void)rt;
}

struct sxs_samples_writer *sxs_recorder_writer(void)
{
    return NULL;
}

void sxs_settings_change_by(const struct sxs_settings_changes *changes)
{
    (void)changes;
}

int sxs_session_thread_limit(unsigned number, uint64_t ms, int detach)
{
    (void)number, (void)ms, (void)detach;
    return 0;
}

int sxs_session_thread_runs(void)
{
    return 1;
}

void sxs_session_thread_wake(void)
{
}

void sxs_session_thread_also(uint64_t (*turn)(void), int (*ended)(unsigned number))
{
    stub.turn = turn;
    stub.ended = ended;
}

void sxs_session_thread_goes_on(unsigned before, unsigned after)
{
    (void)before, (void)after;
}

int sxs_session_thread_is_same(unsigned a, unsigned b)
{
    (void)a, (void)b;
    return 1;
}

void sxs_session_thread_change(void)
{
    stub.n_changes++;
}

/* ---- what the tests share -------------------------------------------------------------------- */

static int make_folder(void **state)
{
    *state = strdup("/tmp/sxsprof-test.XXXXXX");
    return *state && mkdtemp(*state) ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[PATH_MAX];
    snprintf(command, sizeof(command), "rm -rf '%s'", (const char *)*state);
    free(*state);
    return system(command);
}

static void begin_ring(const char *folder, const char *keep)
{
    const struct sxs_session_request request = {.tools = "sample", .out = folder, .id = ""};
    const struct sxs_keep_texts      texts = {.keep = keep, .segment = "1h"};
    char                             why[SXS_SESSION_WHY];
    int                              err;
    memset(&stub.state, 0, sizeof(stub.state));
    err = sxs_ring_begin(&request, &texts, why);
    if (err)
        fail_msg("%s", why);
    sxs_ring_start();
}

static void end_ring(void)
{
    stub.begin_err = stub.end_err = 0;
    stub.state.phase = SXS_SESSION_NONE;
    sxs_ring_stop(0);
    assert_int_equal(sxs_ring.is_on, 0);
    assert_int_equal(stub.n_changes % 2, 0);
}

/* Takes a turn when the time of the segment is over, or the ring tries again after a failure. */
static void take_due_turn(void)
{
    sxs_ring.now.started_ns -= LONG_AGO;
    if (sxs_ring.retry_ns && sxs_ring.retry_ns != INT64_MAX)
        sxs_ring.retry_ns -= LONG_AGO;
    stub.turn();
}

static char *path_of(const char *folder, const char *segment, const char *file)
{
    static char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s/%s", folder, segment, file);
    return path;
}

/* Returns 1 if the segment's description says that it has ended. */
static int has_ended(const char *folder, const char *segment)
{
    char        text[SXS_SEGMENT_TEXT] = "";
    const char *at;
    FILE       *file = fopen(path_of(folder, segment, SXS_SEGMENT_FILE), "r");
    assert_non_null(file);
    fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    at = strstr(text, "\"ended_ns\":");
    assert_non_null(at);
    return strncmp(at, "\"ended_ns\":0,", 13) != 0;
}

static int count_descriptors(void *arg)
{
    int n = 0;
    (void)arg;
    for (int fd = 0; fd < 1024; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

/* ---- the folder of segments ------------------------------------------------------------------ */

static void a_ring_whose_folder_is_moved_away_goes_on_in_a_new_one(void **state)
{
    char folder[PATH_MAX], moved[PATH_MAX], first[SXS_SEGMENT_NAME];
    snprintf(folder, sizeof(folder), "%s/ring", (const char *)*state);
    snprintf(moved, sizeof(moved), "%s/moved", (const char *)*state);
    begin_ring(folder, "10h");
    snprintf(first, sizeof(first), "%s", sxs_ring.now.name);
    assert_int_equal(rename(folder, moved), 0);
    take_due_turn();
    assert_string_not_equal(sxs_ring.now.name, "");
    assert_string_not_equal(sxs_ring.now.name, first);
    assert_int_equal(sxs_ring.now.facts.number, 2);
    assert_int_equal(has_ended(moved, first), 1);
    assert_int_equal(has_ended(folder, sxs_ring.now.name), 0);
    snprintf(first, sizeof(first), "%s", sxs_ring.now.name);
    end_ring();
    assert_int_equal(has_ended(folder, first), 1);
}

/* A session would be recorded into the new folder, which the ring would not look after. */
static void a_ring_whose_folder_is_replaced_goes_on_in_the_new_one(void **state)
{
    char folder[PATH_MAX], moved[PATH_MAX], first[SXS_SEGMENT_NAME];
    snprintf(folder, sizeof(folder), "%s/ring", (const char *)*state);
    snprintf(moved, sizeof(moved), "%s/moved", (const char *)*state);
    begin_ring(folder, "10h");
    snprintf(first, sizeof(first), "%s", sxs_ring.now.name);
    assert_int_equal(rename(folder, moved), 0);
    assert_int_equal(mkdir(folder, 0700), 0);
    take_due_turn();
    assert_int_equal(has_ended(moved, first), 1);
    assert_int_equal(has_ended(folder, sxs_ring.now.name), 0);
    end_ring();
}

static void a_ring_that_ends_leaves_no_descriptor(void **state)
{
    char folder[PATH_MAX];
    int  before;
    snprintf(folder, sizeof(folder), "%s/ring", (const char *)*state);
    before = sxs_descriptors_call(count_descriptors, NULL);
    for (int i = 0; i < 3; i++) {
        begin_ring(folder, "10h");
        take_due_turn();
        end_ring();
    }
    assert_int_equal(sxs_descriptors_call(count_descriptors, NULL), before);
}

/* ---- between two segments -------------------------------------------------------------------- */

static void clients_hold_a_ring_that_has_no_session_for_a_while(void **state)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof(folder), "%s/ring", (const char *)*state);
    begin_ring(folder, "10h");
    stub.begin_err = -EACCES;
    take_due_turn();
    assert_string_equal(sxs_ring.now.name, "");
    assert_int_equal(stub.n_changes % 2, 1);
    take_due_turn();
    assert_int_equal(stub.n_changes % 2, 1);
    stub.begin_err = 0;
    take_due_turn();
    assert_string_not_equal(sxs_ring.now.name, "");
    assert_int_equal(stub.n_changes % 2, 0);
    end_ring();
}

static void a_ring_that_has_no_session_can_be_ended(void **state)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof(folder), "%s/ring", (const char *)*state);
    begin_ring(folder, "10h");
    stub.begin_err = -EACCES;
    take_due_turn();
    assert_int_equal(stub.ended(stub.state.number), 1);
    assert_int_equal(sxs_ring.is_on, 0);
    assert_int_equal(stub.ended(stub.state.number), 0);
    end_ring();
}

/* ---- ends that fail -------------------------------------------------------------------------- */

static void a_segment_whose_session_does_not_end_goes_on(void **state)
{
    char folder[PATH_MAX], name[SXS_SEGMENT_NAME];
    snprintf(folder, sizeof(folder), "%s/ring", (const char *)*state);
    begin_ring(folder, "10h");
    snprintf(name, sizeof(name), "%s", sxs_ring.now.name);
    stub.end_err = -ETIMEDOUT; /* an earlier request does not end */
    take_due_turn();
    assert_string_equal(sxs_ring.now.name, name);
    assert_int_equal(has_ended(folder, name), 0);
    assert_int_equal(stub.n_changes % 2, 0);
    stub.end_err = 0;
    stub.turn(); /* not before some seconds have gone by */
    assert_string_equal(sxs_ring.now.name, name);
    take_due_turn();
    assert_string_not_equal(sxs_ring.now.name, name);
    assert_int_equal(has_ended(folder, name), 1);
    end_ring();
}

static void a_session_that_somebody_else_ends_ends_the_ring(void **state)
{
    char folder[PATH_MAX], name[SXS_SEGMENT_NAME];
    snprintf(folder, sizeof(folder), "%s/ring", (const char *)*state);
    begin_ring(folder, "10h");
    snprintf(name, sizeof(name), "%s", sxs_ring.now.name);
    stub.state.phase = SXS_SESSION_NONE;
    stub.turn();
    assert_int_equal(sxs_ring.is_on, 0);
    assert_int_equal(has_ended(folder, name), 1);
    end_ring();
}

/* ---- events ---------------------------------------------------------------------------------- */

/* The oldest of those that are kept is deleted first. */
static void segments_around_an_event_are_kept_in_their_order(void **state)
{
    struct sxs_trigger_event event = {.on = "gc>1s", .what = "a pause"};
    char                     folder[PATH_MAX];
    struct sxs_segment_name  name;
    snprintf(folder, sizeof(folder), "%s/ring", (const char *)*state);
    begin_ring(folder, "10h");
    for (int i = 0; i < 3; i++)
        take_due_turn();
    event.time_ns = sxs_now_ns(CLOCK_MONOTONIC);
    sxs_ring_happened(&event, NULL);
    assert_int_equal(sxs_ring.list.n, 0);
    assert_int_equal(sxs_ring.kept.n, 3);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(sxs_segment_name_read(sxs_ring.kept.items[i].name, &name), 0);
        assert_int_equal(name.number, i + 1);
    }
    end_ring();
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void segments_of_a_ring_without_a_limit_are_forgotten(void **state)
{
    char                    folder[PATH_MAX], name[SXS_SEGMENT_NAME];
    struct sxs_ring_segment old = {.name = "20261124T101500Z-1"};
    snprintf(folder, sizeof(folder), "%s/ring", (const char *)*state);
    begin_ring(folder, NULL);
    snprintf(name, sizeof(name), "%s", sxs_ring.now.name);
    old.until_ns = (int64_t)sxs_now_ns(CLOCK_MONOTONIC) - LONG_AGO;
    sxs_ring_list_add(&sxs_ring.list, &old);
    take_due_turn();
    assert_int_equal(sxs_ring.list.n, 1); /* an event may still be around this one */
    assert_string_equal(sxs_ring.list.items[0].name, name);
    assert_int_equal(has_ended(folder, name), 1);
    end_ring();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
        IN_FOLDER(a_ring_whose_folder_is_moved_away_goes_on_in_a_new_one),
        IN_FOLDER(a_ring_whose_folder_is_replaced_goes_on_in_the_new_one),
        IN_FOLDER(a_ring_that_ends_leaves_no_descriptor),
        IN_FOLDER(clients_hold_a_ring_that_has_no_session_for_a_while),
        IN_FOLDER(a_ring_that_has_no_session_can_be_ended),
        IN_FOLDER(a_segment_whose_session_does_not_end_goes_on),
        IN_FOLDER(a_session_that_somebody_else_ends_ends_the_ring),
        IN_FOLDER(segments_around_an_event_are_kept_in_their_order),
        IN_FOLDER(segments_of_a_ring_without_a_limit_are_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
