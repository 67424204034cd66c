/* SPDX-License-Identifier: MIT */
/* test_ring_parts.c - the parts of a ring of segments without a runtime: the names and the folders of
 * segments, which of them go, the rates that a budget allows, and conditions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/base.h"
#include "control/keep/keep_settings.h"
#include "control/ring/budget.h"
#include "control/ring/conditions.h"
#include "control/ring/ring_list.h"
#include "control/ring/segment_file.h"
#include "control/ring/segments.h"
#include "manager/watch.h"
#include "tests/unit/keep_fixture.h"

#define S UINT64_C(1000000000)

/* ---- names ----------------------------------------------------------------------------------- */

static void a_name_says_time_and_number(void **state)
{
    static const char *const none[] = {"",
                                       "4242",
                                       "kept",
                                       "20261124T101500Z",
                                       "20261124T101500Z-",
                                       "20261124T101500Z-0",
                                       "20261124T101500Z-01",
                                       "20261124T101500Z-1x",
                                       "20261124T101500Z-12345678901",
                                       "20261324T101500Z-1",
                                       "20260230T101500Z-1",
                                       "20261124T246000Z-1",
                                       "20261124 101500Z-1",
                                       ".20261124T101500Z-1.gone"};
    struct sxs_segment_name  name = {1795515300, 41}, again;
    char                     text[SXS_SEGMENT_NAME];
    (void)state;
    sxs_segment_name_write(name, text);
    assert_string_equal(text, "20261124T101500Z-41");
    assert_int_equal(sxs_segment_name_read(text, &again), 0);
    assert_int_equal(again.began_s, name.began_s);
    assert_int_equal(again.number, 41);
    for (size_t i = 0; i < ARRAY_LEN(none); i++)
        if (sxs_segment_name_read(none[i], &again) == 0)
            fail_msg("%s is taken for a segment", none[i]);
}

/* ---- which segments go ------------------------------------------------------------------------ */

static void add(struct sxs_ring_list *list, int64_t from, int64_t until, uint64_t bytes)
{
    const struct sxs_ring_segment s = {
        .from_ns = from * (int64_t)S, .until_ns = until * (int64_t)S, .bytes = bytes};
    assert_int_equal(sxs_ring_list_add(list, &s), 0);
}

static void the_oldest_go_by_age_and_by_size(void **state)
{
    struct sxs_ring_list         list = {0};
    const struct sxs_ring_limits age = {.keep_ns = 10 * S}, size = {.keep_bytes = 250};
    (void)state;
    assert_int_equal(sxs_ring_is_too_much(&list, &age, 100 * (int64_t)S, 1000), 0);
    for (int i = 0; i < 200; i++)
        add(&list, i, i + 1, 1);
    assert_int_equal(list.bytes, 200);
    while (sxs_ring_is_too_much(&list, &age, 200 * (int64_t)S, 0))
        sxs_ring_list_drop(&list, 0);
    assert_int_equal(list.n, 11); /* the one that ended ten seconds ago is not too old */
    assert_int_equal(list.items[0].from_ns, 189 * (int64_t)S);
    assert_int_equal(sxs_ring_is_too_much(&list, &size, 0, 239), 0);
    assert_int_equal(sxs_ring_is_too_much(&list, &size, 0, 240), 1);
    sxs_ring_list_drop(&list, 10);
    assert_int_equal(list.items[9].from_ns, 198 * (int64_t)S);
    sxs_ring_list_free(&list);
    assert_int_equal(list.n, 0);
}

static void a_change_of_the_clock_makes_no_segment_too_old(void **state)
{
    const struct sxs_ring_limits age = {.keep_ns = 600 * S};
    struct sxs_ring_list         list = {0};
    struct sxs_ring_segment      s = {.bytes = 1};
    (void)state;
    /* The clock was set back by a year: the segment is of the future, and counts as new. */
    sxs_ring_times_of_name(&s, 2000000000, 1970000000, 50 * (int64_t)S, 60 * S);
    assert_int_equal(s.from_ns, 50 * (int64_t)S);
    assert_int_equal(s.until_ns, 50 * (int64_t)S);
    /* Ten minutes ago, on a machine that was started 50 seconds ago. */
    sxs_ring_times_of_name(&s, 2000000000, 2000000600, 50 * (int64_t)S, 60 * S);
    assert_int_equal(s.from_ns, -550 * (int64_t)S);
    assert_int_equal(s.until_ns, -490 * (int64_t)S);
    sxs_ring_list_add(&list, &s);
    assert_int_equal(sxs_ring_is_too_much(&list, &age, 50 * (int64_t)S, 0), 0);
    assert_int_equal(sxs_ring_is_too_much(&list, &age, 111 * (int64_t)S, 0), 1);
    sxs_ring_list_free(&list);
    /* It began just now: its end is not in the future. */
    sxs_ring_times_of_name(&s, 2000000000, 2000000001, 50 * (int64_t)S, 60 * S);
    assert_int_equal(s.until_ns, 50 * (int64_t)S);
    /* Forty thousand years ago: no overflow. */
    sxs_ring_times_of_name(&s, 0, UINT64_C(1) << 40, 0, 60 * S);
    assert_true(s.from_ns < 0);
}

static void the_minute_around_an_event_overlaps(void **state)
{
    const int64_t s = (int64_t)S, at = 100 * s;
    (void)state;
    assert_int_equal(sxs_ring_overlaps(60 * s, 69 * s, at), 0);
    assert_int_equal(sxs_ring_overlaps(60 * s, 70 * s, at), 1);
    assert_int_equal(sxs_ring_overlaps(99 * s, 101 * s, at), 1);
    assert_int_equal(sxs_ring_overlaps(130 * s, 140 * s, at), 1);
    assert_int_equal(sxs_ring_overlaps(131 * s, 140 * s, at), 0);
    assert_int_equal(sxs_ring_overlaps(0, 1000 * s, at), 1);
}

/* ---- the budget ------------------------------------------------------------------------------- */

static struct sxs_ring_cost cost(uint64_t wall_s, uint64_t cpu_ms, uint64_t own_ms)
{
    return (struct sxs_ring_cost){wall_s * S, cpu_ms * 1000000, own_ms * 1000000};
}

static struct sxs_budget_limits of(unsigned budget)
{
    return (struct sxs_budget_limits){.budget = budget, .can_scale = 1, .stretch = 1};
}

static void rates_fall_and_rise_with_the_budget(void **state)
{
    struct sxs_budget b = {.scale = 1, .stretch = 1};
    (void)state;
    /* 1 % of 10 s are 100 ms: 350 ms are four times too much at most. */
    assert_int_equal(sxs_budget_step(&b, cost(60, 10350, 350), of(1000)), SXS_BUDGET_LOWER);
    assert_int_equal(b.scale, 4);
    assert_int_equal(sxs_budget_step(&b, cost(60, 10090, 90), of(1000)), SXS_BUDGET_SAME);
    assert_int_equal(b.scale, 4);
    assert_int_equal(sxs_budget_step(&b, cost(60, 10030, 30), of(1000)), SXS_BUDGET_HIGHER);
    assert_int_equal(b.scale, 2);
    assert_int_equal(sxs_budget_step(&b, cost(60, 10030, 30), of(1000)), SXS_BUDGET_HIGHER);
    assert_int_equal(sxs_budget_step(&b, cost(60, 10030, 30), of(1000)), SXS_BUDGET_SAME);
    assert_int_equal(b.scale, 1);
    assert_int_equal(sxs_budget_step(&b, cost(60, 10350, 350), of(0)), SXS_BUDGET_SAME);
    assert_int_equal(sxs_budget_step(&b, cost(60, 2000, 1000), of(1)), SXS_BUDGET_LOWER);
    assert_in_range(b.scale, 16, SXS_KEEP_MAX_SCALE);
}

static void a_quiet_program_does_not_lower_rates(void **state)
{
    struct sxs_budget b = {.scale = 1, .stretch = 1};
    (void)state;
    /* The program has used 2.6 s in a minute, the profiler 134 ms: 5 %, but below 1 % of a quarter of
     * one processor. */
    assert_int_equal(sxs_budget_step(&b, cost(60, 2700, 134), of(1000)), SXS_BUDGET_LEAST);
    assert_int_equal(sxs_budget_step(&b, cost(60, 2700, 134), of(1000)), SXS_BUDGET_SAME);
    assert_int_equal(sxs_budget_step(&b, cost(60, 2700, 10), of(1000)), SXS_BUDGET_SAME);
    assert_int_equal(sxs_budget_step(&b, cost(60, 2700, 134), of(1000)), SXS_BUDGET_LEAST);
    assert_int_equal(sxs_budget_step(&b, cost(60, 175, 170), of(1000)), SXS_BUDGET_LOWER);
    /* Of a small budget, 0.1 % of one processor is always allowed. */
    b = (struct sxs_budget){.scale = 1, .stretch = 1};
    assert_int_equal(sxs_budget_step(&b, cost(60, 55, 50), of(100)), SXS_BUDGET_LEAST);
    assert_int_equal(sxs_budget_step(&b, cost(60, 75, 70), of(100)), SXS_BUDGET_LOWER);
    assert_int_equal(sxs_cost_of_processor(cost(60, 2700, 134)), 223);
    assert_int_equal(sxs_cost_part(cost(60, 10100, 100)), 999);
}

/* What a segment costs does not depend on rates, as its begin and its end: longer ones cost less. */
static void segments_get_longer_if_lower_rates_do_not_help(void **state)
{
    struct sxs_budget        b = {.scale = 1, .stretch = 1};
    struct sxs_budget_limits limits = {.budget = 1000, .can_scale = 1, .stretch = 5};
    (void)state;
    assert_int_equal(sxs_budget_step(&b, cost(10, 2134, 134), limits), SXS_BUDGET_LOWER);
    assert_int_equal(sxs_budget_step(&b, cost(10, 2134, 134), limits), SXS_BUDGET_NO_HELP);
    assert_int_equal(sxs_budget_step(&b, cost(10, 2134, 134), limits), SXS_BUDGET_LONGER);
    assert_int_equal(b.stretch, 2);
    assert_int_equal(sxs_budget_step(&b, cost(20, 4134, 134), limits), SXS_BUDGET_LONGER);
    assert_int_equal(b.stretch, 4);
    assert_int_equal(sxs_budget_step(&b, cost(40, 8434, 434), limits), SXS_BUDGET_OVER);
    assert_int_equal(sxs_budget_step(&b, cost(40, 8434, 434), limits), SXS_BUDGET_SAME);
    assert_int_equal(sxs_budget_step(&b, cost(40, 8080, 80), limits), SXS_BUDGET_SAME);
    assert_int_equal(sxs_budget_step(&b, cost(40, 8020, 20), limits), SXS_BUDGET_SHORTER);
    assert_int_equal(b.stretch, 2);
    assert_int_equal(b.scale, 1);
    limits.can_scale = 0; /* no rates at all */
    assert_int_equal(sxs_budget_step(&b, cost(20, 4434, 434), limits), SXS_BUDGET_LONGER);
    assert_int_equal(b.stretch, 4);
}

static void rates_go_back_if_lower_ones_do_not_help(void **state)
{
    struct sxs_budget b = {.scale = 1, .stretch = 1};
    (void)state;
    assert_int_equal(sxs_budget_step(&b, cost(60, 10300, 300), of(1000)), SXS_BUDGET_LOWER);
    assert_int_equal(sxs_budget_step(&b, cost(60, 10290, 290), of(1000)), SXS_BUDGET_NO_HELP);
    assert_int_equal(b.scale, 1);
    assert_int_equal(sxs_budget_step(&b, cost(60, 10300, 300), of(1000)), SXS_BUDGET_OVER);
    assert_int_equal(sxs_budget_step(&b, cost(60, 10300, 300), of(1000)), SXS_BUDGET_SAME);
    assert_int_equal(sxs_budget_step(&b, cost(60, 10050, 50), of(1000)), SXS_BUDGET_SAME);
    assert_int_equal(sxs_budget_step(&b, cost(60, 10300, 300), of(1000)), SXS_BUDGET_LOWER);
    assert_int_equal(sxs_budget_step(&b, cost(60, 10160, 160), of(1000)), SXS_BUDGET_LOWER);
}

/* ---- conditions ------------------------------------------------------------------------------- */

static void processor_time_is_that_of_five_seconds(void **state)
{
    struct sxs_cpu_window w = {0};
    (void)state;
    for (unsigned i = 0; i < 5; i++) /* one processor and a half */
        assert_int_equal(sxs_cpu_window_add(&w, (100 + i) * S, i * 3 * S / 2), 0);
    for (unsigned i = 5; i < 40; i++)
        assert_int_equal(sxs_cpu_window_add(&w, (100 + i) * S, i * 3 * S / 2), 150000);
    /* The process sleeps from now on. */
    for (unsigned i = 40; i < 44; i++)
        assert_in_range(sxs_cpu_window_add(&w, (100 + i) * S, 39 * 3 * S / 2), 1, 149999);
    assert_int_equal(sxs_cpu_window_add(&w, 144 * S, 39 * 3 * S / 2), 0);
}

static struct sxs_trigger_event last_event;
static unsigned                 n_events;

static void take_event(const struct sxs_trigger_event *event, void *arg)
{
    (void)arg;
    last_event = *event;
    n_events++;
}

static void one_event_a_minute_counts(void **state)
{
    static struct sxs_keep_settings s;
    (void)state;
    s = parsed(NULL, NULL, "gc>200ms;exception=Timeout*", NULL);
    sxs_conditions_start(&s);
    assert_int_equal(sxs_watch_type("System.TimeoutException"), 1);
    assert_int_equal(sxs_watch_type("System.Exception"), 0);
    n_events = 0;
    sxs_watch_pause(2, 1000 * S, S / 5); /* not longer */
    sxs_watch_pause(2, 1000 * S, S / 5 + 1000000);
    sxs_watch_pause(1, 1010 * S, S);
    sxs_watch_pause(1, 1059 * S, S);
    sxs_conditions_look(take_event, NULL);
    assert_int_equal(n_events, 1);
    assert_int_equal(last_event.time_ns, 1000 * S);
    assert_string_equal(last_event.on, "gc>200ms");
    assert_string_equal(last_event.what, "a pause of 201 ms for a collection in runtime 2");
    assert_int_equal(last_event.left_out, 0);
    sxs_watch_exception(3, 1010 * S, "System.TimeoutException");
    sxs_conditions_look(take_event, NULL);
    assert_int_equal(n_events, 2);
    assert_string_equal(last_event.what, "System.TimeoutException was thrown in runtime 3");
    sxs_watch_pause(1, 1060 * S, S);
    sxs_conditions_look(take_event, NULL);
    assert_int_equal(n_events, 3);
    assert_int_equal(last_event.left_out, 2);
    sxs_conditions_stop();
    assert_int_equal(sxs_watch_type("System.TimeoutException"), 0);
    sxs_watch_pause(1, 5000 * S, S);
    sxs_conditions_look(take_event, NULL);
    assert_int_equal(n_events, 3);
}

static void what_is_waited_for_is_copied(void **state)
{
    struct sxs_watch       watch = {.pause_ns = 100};
    struct sxs_watch_event e;
    uint64_t               n_lost;
    (void)state;
    sxs_watch_for(&watch);
    watch.pause_ns = 0; /* as the next session does with its own */
    sxs_watch_pause(1, 5, 101);
    assert_int_equal(sxs_watch_take(&e, &n_lost), 1);
    assert_int_equal(e.duration_ns, 101);
    sxs_watch_for(NULL);
}

static void events_that_nobody_takes_are_dropped_and_counted(void **state)
{
    static const struct sxs_watch watch = {.pause_ns = 1};
    struct sxs_watch_event        e;
    uint64_t                      n_lost;
    unsigned                      n = 0;
    (void)state;
    sxs_watch_for(&watch);
    for (unsigned i = 0; i < 100; i++)
        sxs_watch_pause(1, i, 2);
    assert_int_equal(sxs_watch_take(&e, &n_lost), 1);
    assert_int_equal(n_lost, 36);
    assert_int_equal(e.time_ns, 0);
    while (sxs_watch_take(&e, &n_lost))
        n++;
    assert_int_equal(n, 63);
    assert_int_equal(n_lost, 0);
    sxs_watch_for(NULL);
}

/* ---- files ------------------------------------------------------------------------------------ */

static void descriptions_are_json(void **state)
{
    const struct sxs_segment_facts facts = {
        .number = 7, .pid = 42, .started_ns = 5, .tools = "sample:\"\\\n", .adapted = ""};
    struct sxs_trigger_event events[2] = {{.real_ns = 9, .on = "gc>1s", .what = "a", .left_out = 3},
                                          {.real_ns = 10, .on = "exception=*", .what = "b\"c"}};
    const unsigned char      both[] = {1, 1}, second[] = {0, 1};
    char                     text[SXS_SEGMENT_TEXT];
    (void)state;
    sxs_segment_text(&facts, text);
    assert_non_null(strstr(text, "{\"sxsprof_segment\":1,\n \"number\":7,\n \"pid\":42,"));
    assert_non_null(strstr(text, "\"tools\":\"sample:\\\"\\\\\\u000a\","));
    assert_non_null(strstr(text, "\"ended_ns\":0,"));
    sxs_trigger_text(events, both, 2, text);
    assert_string_equal(
        text, "{\"sxsprof_trigger\":1,\"triggers\":[\n"
              " {\"time_ns\":9,\"on\":\"gc>1s\",\"what\":\"a\",\"left_out\":3},\n"
              " {\"time_ns\":10,\"on\":\"exception=*\",\"what\":\"b\\\"c\",\"left_out\":0}]}\n");
    sxs_trigger_text(events, second, 2, text);
    assert_null(strstr(text, "gc>1s"));
}

static char              base[] = "/tmp/sxsprof-test.XXXXXX";
static struct sxs_folder dir;

static int make_base(void **state)
{
    (void)state;
    return mkdtemp(base) ? 0 : -1;
}

static int remove_base(void **state)
{
    char command[100];
    (void)state;
    snprintf(command, sizeof(command), "rm -rf '%s'", base);
    return system(command); // NOLINT(cert-env33-c): a folder of this test
}

static int exists(const char *name)
{
    char        path[200];
    struct stat st;
    snprintf(path, sizeof(path), "%s/ring/%s", base, name);
    return lstat(path, &st) == 0;
}

static void put_file(const char *name)
{
    char path[200];
    snprintf(path, sizeof(path), "%s/%s", base, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, path, 100), 100);
    close(fd);
}

static void put_folder(const char *name)
{
    char path[200];
    snprintf(path, sizeof(path), "%s/%s", base, name);
    assert_int_equal(mkdir(path, 0700), 0);
}

static void open_ring(void)
{
    char path[100], why[200] = "";
    snprintf(path, sizeof(path), "%s/ring", base);
    if (sxs_segments_open(&dir, path, why, sizeof(why)) != 0)
        fail_msg("%s", why);
}

static void segments_are_made_kept_and_deleted(void **state)
{
    struct sxs_segment_name   name = {1795515300, 41};
    char                      first[SXS_SEGMENT_NAME], second[SXS_SEGMENT_NAME];
    struct sxs_segment_found *found;
    size_t                    n;
    uint64_t                  highest, left, all;
    (void)state;
    open_ring();
    assert_int_equal(sxs_segment_make(&dir, &name, first), 0);
    assert_string_equal(first, "20261124T101500Z-41");
    assert_int_equal(sxs_segment_make(&dir, &name, second), 0);
    assert_string_equal(second, "20261124T101500Z-42");
    assert_int_equal(sxs_segments_list(&dir, &found, &n, &highest), 0);
    assert_int_equal(n, 0); /* no description yet: it may be a folder of the user's */
    free(found);
    assert_int_equal(sxs_segment_delete(&dir, first, 0), 0);
    assert_true(exists(first));
    assert_int_equal(sxs_segment_write(&dir, first, 0, SXS_SEGMENT_FILE,
                                       "{\"pid\":17,\n \"process_started\":99}"),
                     0);
    assert_int_equal(sxs_segment_write(&dir, second, 0, SXS_SEGMENT_FILE, "{}"), 0);
    put_folder("ring/20261124T101500Z-41/17");
    put_file("ring/20261124T101500Z-41/17/census");
    assert_true(sxs_segment_bytes(&dir, first, 0) >= 4096);
    assert_int_equal(sxs_segment_write(&dir, second, 0, SXS_TRIGGER_FILE, "{}"), 0);
    assert_int_equal(sxs_segment_keep(&dir, second), 0);
    assert_true(exists("kept/20261124T101500Z-42/trigger.json"));
    assert_int_equal(sxs_segments_list(&dir, &found, &n, &highest), 0);
    assert_int_equal(n, 2);
    assert_int_equal(highest, 42);
    assert_int_equal(found[0].pid, 17);
    assert_int_equal(found[0].process_started, 99);
    assert_int_equal(found[0].is_kept, 0);
    assert_int_equal(found[1].is_kept, 1);
    assert_int_equal(found[1].has_trigger, 1);
    free(found);
    assert_int_equal(sxs_segment_delete(&dir, first, 0), 0);
    assert_int_equal(sxs_segment_delete(&dir, first, 0), 0);
    assert_int_equal(sxs_segment_delete(&dir, second, 1), 0);
    assert_false(exists(first));
    assert_false(exists("kept/20261124T101500Z-42"));
    assert_int_equal(sxs_segments_room(&dir, &left, &all), 0);
    assert_true(all >= left && all > 0);
}

static void nothing_else_is_deleted_and_no_link_is_followed(void **state)
{
    char path[200], target[200];
    (void)state;
    put_folder("other");
    put_folder("other/17");
    put_file("other/segment.json");
    put_file("other/17/census");
    open_ring();
    snprintf(target, sizeof(target), "%s/other", base);
    snprintf(path, sizeof(path), "%s/ring/20261124T101500Z-50", base);
    assert_int_equal(symlink(target, path), 0);
    assert_int_equal(sxs_segment_delete(&dir, "20261124T101500Z-50", 0), 0);
    assert_true(exists("20261124T101500Z-50"));
    put_folder("ring/20261124T101500Z-51");
    put_file("ring/20261124T101500Z-51/segment.json");
    snprintf(path, sizeof(path), "%s/ring/20261124T101500Z-51/17", base);
    assert_int_equal(symlink(target, path), 0);
    assert_int_equal(sxs_segment_delete(&dir, "20261124T101500Z-51", 0), 0);
    assert_false(exists("20261124T101500Z-51"));
    assert_true(exists("../other/17/census"));
}

static void an_interrupted_deletion_is_completed(void **state)
{
    (void)state;
    open_ring();
    put_folder("ring/.20261124T101500Z-60.gone");
    put_folder("ring/.20261124T101500Z-60.gone/17");
    put_file("ring/.20261124T101500Z-60.gone/17/census");
    put_folder("ring/.20261124T101599Z-60.gone");
    open_ring();
    assert_false(exists(".20261124T101500Z-60.gone"));
    assert_true(exists(".20261124T101599Z-60.gone"));
}

static void a_folder_that_is_not_safe_is_refused(void **state)
{
    char path[200], link[200], why[200] = "";
    (void)state;
    put_folder("open");
    snprintf(path, sizeof(path), "%s/open", base);
    assert_int_equal(chmod(path, 0777), 0);
    assert_int_equal(sxs_segments_open(&dir, path, why, sizeof(why)), -1);
    assert_non_null(strstr(why, "others may write"));
    assert_int_equal(chmod(path, 0700), 0);
    snprintf(link, sizeof(link), "%s/link", base);
    assert_int_equal(symlink(path, link), 0);
    assert_int_equal(sxs_segments_open(&dir, link, why, sizeof(why)), -1);
    assert_non_null(strstr(why, "symbolic link"));
    snprintf(path, sizeof(path), "%s/none/ring", base);
    assert_int_equal(sxs_segments_open(&dir, path, why, sizeof(why)), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_says_time_and_number),
        cmocka_unit_test(the_oldest_go_by_age_and_by_size),
        cmocka_unit_test(a_change_of_the_clock_makes_no_segment_too_old),
        cmocka_unit_test(the_minute_around_an_event_overlaps),
        cmocka_unit_test(rates_fall_and_rise_with_the_budget),
        cmocka_unit_test(a_quiet_program_does_not_lower_rates),
        cmocka_unit_test(segments_get_longer_if_lower_rates_do_not_help),
        cmocka_unit_test(rates_go_back_if_lower_ones_do_not_help),
        cmocka_unit_test(processor_time_is_that_of_five_seconds),
        cmocka_unit_test(one_event_a_minute_counts),
        cmocka_unit_test(what_is_waited_for_is_copied),
        cmocka_unit_test(events_that_nobody_takes_are_dropped_and_counted),
        cmocka_unit_test(descriptions_are_json),
        cmocka_unit_test(segments_are_made_kept_and_deleted),
        cmocka_unit_test(nothing_else_is_deleted_and_no_link_is_followed),
        cmocka_unit_test(an_interrupted_deletion_is_completed),
        cmocka_unit_test(a_folder_that_is_not_safe_is_refused),
    };
    return cmocka_run_group_tests(tests, make_base, remove_base);
}
