/* SPDX-License-Identifier: MIT */
/* test_live.c - a session that is followed while it grows has the sums that a report of the whole
 * has.
 *
 * The file is made in memory first. Then it is written to the disk step by step, as several threads
 * of a process do it: some records are committed later than those after them, some get even their
 * size later. Between the steps it is looked at. The clock is the file's own. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/costs/costs.h"
#include "cmd/live/live.h"

/* cmocka wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/live_fixture.h"

static struct sxs_live *open_live(uint64_t max_bytes)
{
    struct sxs_live        *live;
    char                    why[256];
    struct sxs_live_options o = {.now_ns = virtual_now, .max_bytes = max_bytes};
    assert_int_equal(sxs_live_open(dir, &o, &live, why, sizeof(why)), 0);
    return live;
}

static void look_to_the_end(struct sxs_live *live)
{
    unsigned looks = 0;
    while (!(sxs_live_look(live) & SXS_LIVE_ENDED))
        assert_true(++looks < 100000);
}

/* ---- comparing ---- */

static const struct sxs_model_frame *frame_like(const struct sxs_model       *m,
                                                const struct sxs_model       *of,
                                                const struct sxs_model_frame *f)
{
    for (size_t i = 0; i < m->n_frames; i++)
        if (m->frames[i].runtime == f->runtime &&
            strcmp(sxs_model_text(m, m->frames[i].name), sxs_model_text(of, f->name)) == 0 &&
            strcmp(sxs_model_text(m, m->frames[i].file), sxs_model_text(of, f->file)) == 0)
            return &m->frames[i];
    return NULL;
}

static void compare_frames(const struct sxs_model *live, const struct sxs_model *whole)
{
    for (size_t i = 0; i < whole->n_frames; i++) {
        const struct sxs_model_frame *f = &whole->frames[i], *g = frame_like(live, whole, f);
        if (!f->total)
            continue;
        assert_non_null(g);
        assert_int_equal(g->self, f->self);
        assert_int_equal(g->total, f->total);
        assert_int_equal(g->self_ns, f->self_ns);
        assert_int_equal(g->total_ns, f->total_ns);
        assert_memory_equal(g->tier_self, f->tier_self, sizeof(f->tier_self));
    }
}

static void compare_with_report(struct sxs_live *l)
{
    static const struct sxs_report_options all;
    static struct sxs_model                whole;
    const struct sxs_model                *live = sxs_live_model(l);
    struct sxs_opened                      v;
    assert_int_equal(sxs_opened_open(dir, NULL, &v), 0);
    assert_int_equal(sxs_model_load(&v, &all, SXS_DATA_SAMPLES, 0, &whole), 0);
    sxs_opened_close(&v);
    assert_true(whole.total > 0);
    assert_int_equal(live->total, whole.total);
    assert_int_equal(live->total_ns, whole.total_ns);
    assert_int_equal(live->waiting_ns, whole.waiting_ns);
    assert_int_equal(live->gc_ns, whole.gc_ns);
    assert_int_equal(live->jit_ns, whole.jit_ns);
    assert_int_equal(live->own_ns, whole.own_ns);
    assert_int_equal(live->native_ns, whole.native_ns);
    assert_int_equal(live->n_nodes, whole.n_nodes);
    assert_int_equal(live->n_runtimes, whole.n_runtimes);
    for (size_t i = 0; i < whole.n_runtimes; i++) {
        assert_int_equal(live->runtimes[i].self_ns, whole.runtimes[i].self_ns);
        assert_int_equal(live->runtimes[i].total_ns, whole.runtimes[i].total_ns);
    }
    compare_frames(live, &whole);
    sxs_model_free(&whole);
}

/* Returns the sum of a list's first values in the window. */
static double window_of(struct sxs_live *live, enum sxs_live_list list)
{
    struct sxs_live_wanted     all = {.n = 100000};
    size_t                     n;
    double                     sum = 0;
    const struct sxs_live_row *rows = sxs_live_rows(live, list, &all, &n, NULL);
    for (size_t i = 0; i < n; i++)
        sum += rows[i].first.window;
    return sum;
}

/* ---- tests ---- */

static void a_growing_session_has_the_sums_of_a_report(void **state)
{
    (void)state;
    begin_image();
    make_samples(6000);
    end_image();
    open_disk();
    struct sxs_live *live = open_live(0);
    bool             more = true;
    for (unsigned step = 0; more; step++) {
        for (unsigned i = 0; i < 60 && more; i++)
            more = write_record(step);
        write_late(step);
        virtual_ns = disk.time_ns;
        unsigned changes = sxs_live_look(live);
        assert_int_equal(changes & SXS_LIVE_ENDED, 0);
        const struct sxs_live_process *p = sxs_live_process(live);
        double                         functions = window_of(live, SXS_LIVE_FUNCTIONS);
        assert_true(fabs(functions - p->cpu_s.window) < 1e-6);
        assert_true(fabs(window_of(live, SXS_LIVE_THREAD_LIST) - p->cpu_s.window) < 1e-6);
        assert_true(p->cpu_s.window <= p->cpu_s.all + 1e-9);
        assert_true(p->covered_s <= p->window_s * 1.1 + 1e-6);
    }
    assert_true(sxs_live_process(live)->n_waiting > 0);
    end_disk();
    look_to_the_end(live);
    assert_int_equal(sxs_live_process(live)->n_waiting, 0);
    assert_int_equal(sxs_live_process(live)->lost, 0);
    assert_null(sxs_live_problem(live, 0));
    compare_with_report(live);
    sxs_live_close(live);
}

static void a_session_that_has_ended_has_them_too(void **state)
{
    static const uint64_t budgets[] = {0, 70000, 1u << 20};
    (void)state;
    for (size_t i = 0; i < sizeof(budgets) / sizeof(*budgets); i++) {
        struct sxs_live *live = open_live(budgets[i]);
        look_to_the_end(live);
        compare_with_report(live);
        sxs_live_close(live);
    }
}

static void the_window_has_the_last_seconds_only(void **state)
{
    (void)state;
    begin_image();
    for (unsigned i = 0; i < 4000; i++) { /* 20 s; one function each second */
        uint64_t ip = code_at(i / 200) + 8;
        if (i % 200 == 0)
            name_function(i / 200, BEGAN, 0);
        add_sample(&made, BEGAN + i * 5 * (uint64_t)MS, 100, 1, &ip, SXS_SAMPLE_END_BOTTOM, 0);
    }
    end_image();
    open_disk();
    struct sxs_live *live = open_live(0);
    while (write_record(0))
        ;
    write_late(UINT32_MAX);
    virtual_ns = BEGAN + 21000 * (uint64_t)MS;
    sxs_live_look(live);
    struct sxs_live_wanted     wanted = {.recent = true};
    size_t                     n, of;
    const struct sxs_live_row *rows = sxs_live_rows(live, SXS_LIVE_FUNCTIONS, &wanted, &n, &of);
    assert_in_range(n, 5, 6); /* 5 s, and the bucket that is being filled */
    for (size_t i = 0; i < n; i++) {
        assert_true(rows[i].first.window <= 1.001);
        assert_true(fabs(rows[i].first.all - 1) < 0.001);
        assert_true(strstr(rows[i].text, "Method1") != NULL);
    }
    assert_int_equal(of, n);
    virtual_ns += 30000 * (uint64_t)MS;
    sxs_live_look(live);
    assert_true(sxs_live_process(live)->cpu_s.window < 1e-9);
    assert_true(fabs(sxs_live_process(live)->cpu_s.all - 20) < 0.001);
    sxs_live_rows(live, SXS_LIVE_FUNCTIONS, &wanted, &n, &of);
    assert_int_equal(n, 0);
    end_disk();
    sxs_live_close(live);
}

static void costs_that_change_in_place_are_counted_once(void **state)
{
    const uint64_t ips[2] = {code_at(1), code_at(2)};
    (void)state;
    begin_image();
    add_costs(&made, BEGAN, ips, 2);
    end_image();
    open_disk();
    struct sxs_live *live = open_live(0);
    while (write_record(0))
        ;
    write_late(UINT32_MAX);
    virtual_ns = BEGAN + 2000 * (uint64_t)MS;
    sxs_live_look(live);
    struct sxs_live_wanted     all = {.order = SXS_LIVE_BY_ALL};
    size_t                     n;
    const struct sxs_live_row *row = sxs_live_rows(live, SXS_LIVE_ALLOCATION_LIST, &all, &n, NULL);
    assert_int_equal(n, 1); /* exact counts replace estimates */
    assert_true(row[0].exact && row[0].first.all > 23999.5 && row[0].first.all < 24000.5);
    assert_true(row[0].first.window < 0.5); /* it was there at the first look */
    row = sxs_live_rows(live, SXS_LIVE_LOCK_LIST, &all, &n, NULL);
    assert_int_equal(n, 1);
    assert_true(fabs(row[0].first.all - 4096e-9) < 1e-12);
    /* the process goes on: the total grows, the wait ends */
    for (size_t at = SXS_HEADER_SIZE + sizeof(struct sxs_chunk_header); at < disk.at;) {
        struct sxs_record       *r = (void *)(image + at);
        struct sxs_record_total *total = (void *)r;
        struct sxs_record_cost  *wait = (void *)r;
        if (r->type == SXS_RECORD_TOTAL) {
            total->n += 10;
            total->value += 1000;
        } else if (r->type == SXS_RECORD_COST && wait->kind == SXS_COST_LOCK) {
            wait->value = 2000000000;
            wait->flags = 0;
        }
        if (!r->size)
            break;
        put(at, r->size);
        at += r->size;
    }
    for (int again = 0; again < 3; again++) {
        virtual_ns += 100 * MS;
        sxs_live_look(live);
        row = sxs_live_rows(live, SXS_LIVE_ALLOCATION_LIST, &all, &n, NULL);
        assert_true(fabs(row[0].first.all - 25000) < 0.5 && fabs(row[0].first.window - 1000) < 0.5);
        assert_true(fabs(row[0].second.window - 10) < 0.01);
        row = sxs_live_rows(live, SXS_LIVE_LOCK_LIST, &all, &n, NULL);
        assert_true(fabs(row[0].first.all - 2) < 1e-6 && fabs(row[0].second.all - 1) < 1e-6);
    }
    end_disk();
    sxs_live_close(live);
}

/* Damage while the file grows, and a file that shrinks: no look may crash or go on for ever. */
static void damage_is_survived(void **state)
{
    (void)state;
    begin_image();
    make_samples(1500);
    const uint64_t ips[2] = {code_at(1), code_at(2)};
    add_costs(&made, BEGAN, ips, 2);
    end_image();
    for (unsigned round = 0; round < 40; round++) {
        open_disk();
        struct sxs_live *live = open_live(round % 2 ? 50000 : 0);
        bool             more = true;
        for (unsigned step = 0; more; step++) {
            for (unsigned i = 0; i < 200 && more; i++)
                more = write_record(step);
            write_late(step);
            uint64_t garbage = roll(1u << 31) * roll(1u << 31);
            for (uint64_t i = roll(4); i > 0; i--)
                assert_true(pwrite(disk.fd, &garbage, 1 + roll(8), (off_t)roll(disk.at)) > 0);
            if (roll(20) == 0)
                assert_int_equal(ftruncate(disk.fd, (off_t)roll(disk.at)), 0);
            virtual_ns = disk.time_ns;
            sxs_live_look(live);
            for (unsigned list = 0; list < SXS_LIVE_N_LISTS; list++)
                window_of(live, list);
        }
        end_disk();
        look_to_the_end(live);
        for (size_t i = 0; sxs_live_problem(live, i); i++)
            assert_true(i < 20);
        sxs_live_close(live);
    }
}

/* The magic is the last part of the header that a process writes. */
static void a_file_that_is_being_made_is_no_damage(void **state)
{
    (void)state;
    begin_image();
    make_samples(300);
    end_image();
    open_disk();
    assert_int_equal(ftruncate(disk.fd, 0), 0);
    virtual_ns = BEGAN;
    struct sxs_live *live = open_live(0);
    sxs_live_look(live);
    assert_null(sxs_live_problem(live, 0));
    assert_int_equal(ftruncate(disk.fd, SXS_HEADER_SIZE + SXS_CHUNK_SIZE), 0);
    sxs_live_look(live);
    assert_null(sxs_live_problem(live, 0));
    close(disk.fd);
    open_disk();
    while (write_record(0))
        ;
    end_disk();
    look_to_the_end(live);
    assert_null(sxs_live_problem(live, 0));
    compare_with_report(live);
    sxs_live_close(live);
    assert_int_equal(pwrite(disk.fd, "SXSSOAP", 8, 0), 8);
    live = open_live(0);
    sxs_live_look(live);
    assert_non_null(strstr(sxs_live_problem(live, 0), "it does not begin with"));
    sxs_live_close(live);
}

static void what_is_no_session_is_said(void **state)
{
    struct sxs_live        *live;
    char                    why[256];
    struct sxs_live_options o = {.process = "1"};
    (void)state;
    assert_int_equal(sxs_live_open("/nonexistent", &o, &live, why, sizeof(why)), ENOENT);
    assert_null(live);
    assert_int_equal(sxs_live_open(dir, &o, &live, why, sizeof(why)), ENOENT);
    assert_string_equal(why, "no process 1 is in this session");
    assert_int_equal(sxs_live_open("/proc", &(struct sxs_live_options){0}, &live, why, sizeof(why)),
                     ENOENT);
    assert_non_null(strstr(why, "no session"));
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_folder(void **state)
{
    char path[256];
    (void)state;
    snprintf(path, sizeof(path), "%s/%u/" SXS_SAMPLES_FILE, dir, (unsigned)getpid());
    unlink(path);
    snprintf(path, sizeof(path), "%s/%u/" SXS_CENSUS_FILE, dir, (unsigned)getpid());
    unlink(path);
    snprintf(path, sizeof(path), "%s/%u", dir, (unsigned)getpid());
    rmdir(path);
    return rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_growing_session_has_the_sums_of_a_report),
        cmocka_unit_test(a_session_that_has_ended_has_them_too),
        cmocka_unit_test(the_window_has_the_last_seconds_only),
        cmocka_unit_test(costs_that_change_in_place_are_counted_once),
        cmocka_unit_test(damage_is_survived),
        cmocka_unit_test(a_file_that_is_being_made_is_no_damage),
        cmocka_unit_test(what_is_no_session_is_said),
    };
    return cmocka_run_group_tests_name("live", tests, make_folder, remove_folder);
}
