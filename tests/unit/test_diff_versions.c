/* SPDX-License-Identifier: MIT */
/* test_diff_versions.c - comparisons of sessions with different versions of runtimes: which runtimes are compared,
 * and that nothing is added up or lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cmd/heap/counts.h"
#include "cmd/output/runtime_pairs.h"
#include "cmd/report/merged.h"
#include "tests/unit/dice.h"

enum { BEFORE, NOW };

/* ---- pairs ----------------------------------------------------------------------------------- */

/* Adds the runtimes of one side: "9.0.18#1 10.0.11#2". */
static void add_all(struct sxs_runtime_pairs *p, int side, char *text)
{
    for (char *at = text, *one; (one = strsep(&at, " ")) != NULL;) {
        char *number = strchr(one, '#');
        if (!number)
            continue;
        *number++ = '\0';
        sxs_runtime_pairs_add(p, side, one, (uint32_t)atoi(number));
    }
}

/* Checks which runtimes are paired: "9.0.18#1=10.0.11#1", those of before from the newest on, and those without a
 * partner last. */
static void check_pairs(const char *before, const char *now, const char *expected)
{
    char                     a[200], b[200], got[400] = "";
    struct sxs_runtime_pairs p = {.n = {0}};
    size_t                   n = 0;
    snprintf(a, sizeof(a), "%s", before);
    snprintf(b, sizeof(b), "%s", now);
    add_all(&p, BEFORE, a);
    add_all(&p, NOW, b);
    sxs_runtime_pairs_match(&p);
    for (size_t i = 0; i < p.n[BEFORE]; i++) {
        const struct sxs_paired_runtime *r = &p.of[BEFORE][i];
        if (!r->partner)
            continue;
        const struct sxs_paired_runtime *s = &p.of[NOW][r->partner - 1];
        assert_int_equal(s->partner, i + 1);
        n += (size_t)snprintf(got + n, sizeof(got) - n, "%s%s#%u=%s#%u", n ? " " : "", r->version, r->number, s->version,
                              s->number);
    }
    for (int side = BEFORE; side <= NOW; side++)
        for (size_t i = 0; i < p.n[side]; i++)
            if (!p.of[side][i].partner)
                n += (size_t)snprintf(got + n, sizeof(got) - n, "%s%s%s#%u", n ? " " : "", side ? "+" : "-",
                                      p.of[side][i].version, p.of[side][i].number);
    assert_string_equal(got, expected);
    sxs_runtime_pairs_free(&p);
}

static void one_runtime_each_is_a_pair(void **state)
{
    (void)state;
    check_pairs("9.0.18#1", "10.0.11#1", "9.0.18#1=10.0.11#1");
    check_pairs("9.0.18#2", "10.0.11#1", "9.0.18#2=10.0.11#1");
    check_pairs("10.0.11#1", "9.0.18#1", "10.0.11#1=9.0.18#1");
    check_pairs("9.0.18#1 9.0.18#1", "9.0.18#1", "9.0.18#1=9.0.18#1"); /* of two processes */
    check_pairs("", "9.0.18#1", "+9.0.18#1");
    check_pairs("", "", "");
}

static void equal_versions_are_paired_first(void **state)
{
    (void)state;
    check_pairs("8.0.29#1 9.0.18#2", "9.0.18#1 10.0.11#2", "9.0.18#2=9.0.18#1 8.0.29#1=10.0.11#2");
    check_pairs("9.0.18#1", "10.0.11#1 9.0.18#2", "9.0.18#1=9.0.18#2 +10.0.11#1");
    check_pairs("9.0.18#1 10.0.11#2", "10.0.11#1", "10.0.11#2=10.0.11#1 -9.0.18#1");
}

static void of_equal_versions_equal_numbers_are_paired_first(void **state)
{
    (void)state;
    check_pairs("9.0.18#1 9.0.18#2", "9.0.18#2 9.0.18#3", "9.0.18#1=9.0.18#3 9.0.18#2=9.0.18#2");
    check_pairs("9.0.18#3", "9.0.18#1 9.0.18#2", "9.0.18#3=9.0.18#1 +9.0.18#2");
}

static void then_equal_minor_versions_then_the_newest(void **state)
{
    (void)state;
    check_pairs("8.0.29#1 9.0.18#2", "9.0.23#1 10.0.11#2", "9.0.18#2=9.0.23#1 8.0.29#1=10.0.11#2");
    check_pairs("9.0.9#1 9.0.18#2", "9.0.23#1", "9.0.18#2=9.0.23#1 -9.0.9#1");
    check_pairs("8.0.29#1 9.0.18#2", "10.0.11#1", "9.0.18#2=10.0.11#1 -8.0.29#1");
    check_pairs("8.0.29#1 9.0.18#2", "10.0.11#1 11.0.0#2", "9.0.18#2=11.0.0#2 8.0.29#1=10.0.11#1");
    check_pairs("?#1", "10.0.11#1", "?#1=10.0.11#1"); /* a version that is not known */
}

/* ---- models ---------------------------------------------------------------------------------- */

static uint32_t add_text(struct sxs_model *m, const char *text)
{
    return sxs_strings_add(&m->strings, text, strlen(text));
}

static void begin(struct sxs_model *m)
{
    memset(m, 0, sizeof(*m));
    m->data = SXS_DATA_SAMPLES;
    add_text(m, "");
    sxs_model_thread(m, 0, 1);
}

/* Adds a frame. @version: of its runtime; NULL: native code. */
static uint32_t add_frame(struct sxs_model *m, const char *version, uint32_t number, const char *file, const char *name)
{
    char path[300];
    snprintf(path, sizeof(path), "/usr/share/dotnet/shared/Microsoft.NETCore.App/%s/libcoreclr.so", version ? version : "");
    uint16_t runtime =
        version ? (uint16_t)(sxs_model_runtime(m, number, add_text(m, version), add_text(m, path)) + 1) : 0;
    snprintf(path, sizeof(path), "/usr/share/dotnet/shared/Microsoft.NETCore.App/%s/%s", version ? version : ".", file);
    const struct sxs_model_frame f = {.name = add_text(m, name), .file = add_text(m, path), .runtime = runtime};
    return sxs_model_frame(m, &f);
}

static uint32_t add_weight(struct sxs_model *m, uint32_t parent, uint32_t frame, uint64_t weight)
{
    uint32_t node = sxs_model_child(m, parent, frame, 0, 0);
    m->nodes[node].self += weight ? 1 : 0;
    m->nodes[node].self_ns += weight;
    m->total += weight ? 1 : 0;
    m->total_ns += weight;
    return node;
}

/* Adds Main, which calls Work, in one runtime. */
static void add_program(struct sxs_model *m, const char *version, uint32_t number, uint64_t main, uint64_t work)
{
    uint32_t root = m->threads[0].root;
    uint32_t at = add_weight(m, root, add_frame(m, version, number, "app.dll", "App.Main()"), main);
    add_weight(m, at, add_frame(m, version, number, "app.dll", "App.Work(System.Int32)"), work);
}

/* Checks the sums of both sides by function: "[9.0.18] App.Main() 1 3 -> 0 0", one a line, in the order of strcmp(). */
static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void check_merged(const struct sxs_model *before, const struct sxs_model *now, const char *expected)
{
    struct sxs_merged merged;
    char             *lines[64], text[400], got[4000] = "";
    sxs_merged_make(&merged, before, now);
    size_t n = merged.both.n_frames;
    assert_true(n < 64);
    struct {
        uint64_t self, total;
    } of[2][64];
    for (int side = NOW; side >= BEFORE; side--) {
        sxs_merged_sum(&merged, side == BEFORE);
        for (size_t i = 0; i < n; i++) {
            of[side][i].self = merged.both.frames[i].self_ns;
            of[side][i].total = merged.both.frames[i].total_ns;
        }
    }
    for (size_t i = 0; i < n; i++) {
        sxs_frame_text(&merged.both, (uint32_t)i, SXS_STYLE_FULL, text, sizeof(text));
        assert_true(asprintf(&lines[i], "%s %lu %lu -> %lu %lu\n", text, of[BEFORE][i].self, of[BEFORE][i].total,
                             of[NOW][i].self, of[NOW][i].total) > 0);
    }
    qsort(lines, n, sizeof(*lines), by_text);
    for (size_t i = 0; i < n; i++) {
        strcat(got, lines[i]);
        free(lines[i]);
    }
    assert_string_equal(got, expected);
    sxs_merged_free(&merged);
}

static void functions_of_another_version_are_matched(void **state)
{
    struct sxs_model before, now;
    (void)state;
    begin(&before);
    begin(&now);
    add_program(&before, "9.0.18", 1, 1, 2);
    add_program(&now, "10.0.11", 1, 3, 4);
    check_merged(&before, &now,
                 "[9.0.18 -> 10.0.11] App.Main() 1 3 -> 3 7\n"
                 "[9.0.18 -> 10.0.11] App.Work(System.Int32) 2 2 -> 4 4\n");
    check_merged(&now, &before,
                 "[10.0.11 -> 9.0.18] App.Main() 3 7 -> 1 3\n"
                 "[10.0.11 -> 9.0.18] App.Work(System.Int32) 4 4 -> 2 2\n");
    check_merged(&now, &now,
                 "[10.0.11] App.Main() 3 7 -> 3 7\n"
                 "[10.0.11] App.Work(System.Int32) 4 4 -> 4 4\n");
    sxs_model_free(&before);
    sxs_model_free(&now);
}

static void native_code_of_the_runtime_is_matched_by_its_file(void **state)
{
    struct sxs_model before, now;
    (void)state;
    begin(&before);
    begin(&now);
    add_weight(&before, before.threads[0].root, add_frame(&before, NULL, 0, "9.0.18/libcoreclr.so", "run"), 5);
    add_weight(&now, now.threads[0].root, add_frame(&now, NULL, 0, "10.0.11/libcoreclr.so", "run"), 6);
    check_merged(&before, &now, "[native] libcoreclr.so!run 5 5 -> 6 6\n");
    sxs_model_free(&before);
    sxs_model_free(&now);
}

static void other_assemblies_and_signatures_are_other_functions(void **state)
{
    struct sxs_model before, now;
    (void)state;
    begin(&before);
    begin(&now);
    add_weight(&before, before.threads[0].root, add_frame(&before, "9.0.18", 1, "a.dll", "A.F()"), 1);
    add_weight(&now, now.threads[0].root, add_frame(&now, "10.0.11", 1, "b.dll", "A.F()"), 2);
    add_weight(&before, before.threads[0].root, add_frame(&before, "9.0.18", 1, "a.dll", "A.G()"), 3);
    add_weight(&now, now.threads[0].root, add_frame(&now, "10.0.11", 1, "a.dll", "A.G(System.Int32)"), 4);
    check_merged(&before, &now,
                 "[9.0.18 -> 10.0.11] A.F() 0 0 -> 2 2\n"
                 "[9.0.18 -> 10.0.11] A.F() 1 1 -> 0 0\n"
                 "[9.0.18 -> 10.0.11] A.G() 3 3 -> 0 0\n"
                 "[9.0.18 -> 10.0.11] A.G(System.Int32) 0 0 -> 4 4\n");
    sxs_model_free(&before);
    sxs_model_free(&now);
}

static void runtimes_beside_each_other_stay_apart(void **state)
{
    struct sxs_model before, now;
    (void)state;
    begin(&before);
    begin(&now);
    add_program(&before, "8.0.29", 1, 1, 2);
    add_program(&before, "9.0.18", 2, 10, 20);
    add_program(&now, "9.0.18", 1, 30, 40); /* the other number */
    add_program(&now, "10.0.11", 2, 3, 4);
    check_merged(&before, &now,
                 "[8.0.29 -> 10.0.11] App.Main() 1 3 -> 3 7\n"
                 "[8.0.29 -> 10.0.11] App.Work(System.Int32) 2 2 -> 4 4\n"
                 "[9.0.18] App.Main() 10 30 -> 30 70\n"
                 "[9.0.18] App.Work(System.Int32) 20 20 -> 40 40\n");
    sxs_model_free(&now);
    begin(&now);
    add_program(&now, "10.0.11", 1, 3, 4); /* one runtime less: the newest is compared */
    check_merged(&before, &now,
                 "[8.0.29] App.Main() 1 3 -> 0 0\n"
                 "[8.0.29] App.Work(System.Int32) 2 2 -> 0 0\n"
                 "[9.0.18 -> 10.0.11] App.Main() 10 30 -> 3 7\n"
                 "[9.0.18 -> 10.0.11] App.Work(System.Int32) 20 20 -> 4 4\n");
    sxs_model_free(&before);
    sxs_model_free(&now);
}

/* Makes sessions with two programs each, and a function that is in @from before and in @to now. */
static void check_moved(const char *const versions[4], const char *from, const char *to, const char *expected)
{
    struct sxs_model of[2];
    for (int side = BEFORE; side <= NOW; side++) {
        begin(&of[side]);
        for (uint32_t i = 0; i < 2; i++)
            if (versions[side * 2 + i])
                add_program(&of[side], versions[side * 2 + i], i + 1, 1, 2);
    }
    add_weight(&of[BEFORE], of[BEFORE].threads[0].root, add_frame(&of[BEFORE], from, 1, "app.dll", "App.Moved()"), 5);
    add_weight(&of[NOW], of[NOW].threads[0].root, add_frame(&of[NOW], to, 2, "app.dll", "App.Moved()"), 6);
    check_merged(&of[BEFORE], &of[NOW], expected);
    sxs_model_free(&of[BEFORE]);
    sxs_model_free(&of[NOW]);
}

static void a_function_that_moved_to_one_runtime_more_is_matched(void **state)
{
    (void)state;
    check_moved((const char *const[]){"9.0.18", NULL, "9.0.18", "10.0.11"}, "9.0.18", "10.0.11",
                "[10.0.11] App.Main() 0 0 -> 1 3\n"
                "[10.0.11] App.Work(System.Int32) 0 0 -> 2 2\n"
                "[9.0.18 -> 10.0.11] App.Moved() 5 5 -> 6 6\n"
                "[9.0.18] App.Main() 1 3 -> 1 3\n"
                "[9.0.18] App.Work(System.Int32) 2 2 -> 2 2\n");
}

static void between_runtimes_with_partners_nothing_is_matched(void **state)
{
    (void)state;
    check_moved((const char *const[]){"8.0.29", "9.0.18", "8.0.29", "9.0.18"}, "8.0.29", "9.0.18",
                "[8.0.29] App.Main() 1 3 -> 1 3\n"
                "[8.0.29] App.Moved() 5 5 -> 0 0\n"
                "[8.0.29] App.Work(System.Int32) 2 2 -> 2 2\n"
                "[9.0.18] App.Main() 1 3 -> 1 3\n"
                "[9.0.18] App.Moved() 0 0 -> 6 6\n"
                "[9.0.18] App.Work(System.Int32) 2 2 -> 2 2\n");
}

static void two_runtimes_of_one_version_stay_apart(void **state)
{
    struct sxs_model before, now;
    (void)state;
    begin(&before);
    begin(&now);
    add_program(&before, "9.0.18", 1, 1, 2);
    add_program(&before, "9.0.18", 2, 10, 20);
    add_program(&now, "10.0.11", 1, 3, 4);
    add_program(&now, "10.0.11", 2, 30, 40);
    check_merged(&before, &now,
                 "[9.0.18 -> 10.0.11] App.Main() 1 3 -> 3 7\n"
                 "[9.0.18 -> 10.0.11] App.Main() 10 30 -> 30 70\n"
                 "[9.0.18 -> 10.0.11] App.Work(System.Int32) 2 2 -> 4 4\n"
                 "[9.0.18 -> 10.0.11] App.Work(System.Int32) 20 20 -> 40 40\n");
    sxs_model_free(&before);
    sxs_model_free(&now);
}

/* ---- chance ---------------------------------------------------------------------------------- */

/* Makes stacks of functions of several runtimes, with recursion. */
static void make_random(struct sxs_model *m)
{
    static const char *const versions[] = {"8.0.29", "8.0.34", "9.0.18", "9.0.23", "10.0.11", "11.0.0"};
    static const char *const names[] = {"A.F()", "A.G()", "A.H()"};
    static const char *const files[] = {"a.dll", "b.dll"};
    begin(m);
    for (int stack = (int)roll(60); stack-- > 0;) {
        uint32_t node = m->threads[0].root;
        for (int depth = 1 + (int)roll(6); depth-- > 0;)
            node = add_weight(m, node,
                              add_frame(m, roll(8) ? versions[roll(6)] : NULL, 1 + (uint32_t)roll(3),
                                        files[roll(2)], names[roll(3)]),
                              depth ? 0 : 1 + roll(1000));
    }
    sxs_model_sum(m);
}

struct sums {
    const char *name, *file; /* file: without its folder */
    uint64_t    self, total;
};

static int by_sums(const void *a, const void *b)
{
    const struct sums *x = a, *y = b;
    int                order = strcmp(x->name, y->name);
    order = order ? order : strcmp(x->file, y->file);
    if (order)
        return order;
    if (x->total != y->total)
        return x->total < y->total ? -1 : 1;
    return (x->self > y->self) - (x->self < y->self);
}

/* Lists the managed functions with weight. Returns how many. */
static size_t list_sums(const struct sxs_model *m, struct sums *out)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n_frames; i++)
        if (m->frames[i].runtime && m->frames[i].total_ns)
            out[n++] = (struct sums){sxs_model_text(m, m->frames[i].name), sxs_base_name(sxs_model_text(m, m->frames[i].file)),
                                     m->frames[i].self_ns, m->frames[i].total_ns};
    qsort(out, n, sizeof(*out), by_sums);
    return n;
}

static void each_side_keeps_its_sums(void **state)
{
    (void)state;
    for (int round = 0; round < 400; round++) {
        struct sxs_model  of[2];
        struct sxs_merged merged;
        struct sums       want[512], got[512];
        for (int side = BEFORE; side <= NOW; side++)
            make_random(&of[side]);
        sxs_merged_make(&merged, &of[BEFORE], &of[NOW]);
        for (int side = NOW; side >= BEFORE; side--) {
            sxs_merged_sum(&merged, side == BEFORE);
            size_t n = list_sums(&of[side], want);
            assert_int_equal(list_sums(&merged.both, got), n);
            for (size_t i = 0; i < n; i++)
                if (by_sums(&want[i], &got[i]) != 0)
                    fail_msg("round %d, side %d: %s: %lu of %lu, not %lu of %lu", round, side, want[i].name, got[i].self,
                             got[i].total, want[i].self, want[i].total);
        }
        sxs_merged_free(&merged);
        sxs_model_free(&of[BEFORE]);
        sxs_model_free(&of[NOW]);
    }
}

/* ---- heap snapshots -------------------------------------------------------------------------- */

static void add_type(struct sxs_heap_counts *c, uint32_t runtime, const char *version, const char *type, uint64_t objects)
{
    c->all = realloc(c->all, (c->n + 1) * sizeof(*c->all));
    assert_non_null(c->all);
    c->all[c->n++] = (struct sxs_heap_count){.runtime = runtime,
                                             .version = sxs_strings_add(&c->strings, version, strlen(version)),
                                             .type = sxs_strings_add(&c->strings, type, strlen(type)),
                                             .objects = objects,
                                             .bytes = objects * 24};
}

/* Checks the changes: "1 T 1->2, ...", and the versions. */
static void check_changes(const struct sxs_heap_counts *before, const struct sxs_heap_counts *now, uint32_t runtime,
                          const char *expected)
{
    struct sxs_heap_changes c = sxs_heap_changes(before, now, runtime);
    char                    got[1000] = "", text[200];
    size_t                  n = 0;
    for (size_t i = 0; i < c.n; i++)
        n += (size_t)snprintf(got + n, sizeof(got) - n, "%u %s %lu->%lu, ", c.all[i].runtime, c.all[i].type,
                              c.all[i].objects[0], c.all[i].objects[1]);
    n += (size_t)snprintf(got + n, sizeof(got) - n, "all %lu->%lu", c.sum.objects[0], c.sum.objects[1]);
    for (size_t i = 0; i < c.n_versions; i++)
        if (sxs_heap_versions_text(&c.versions[i], text, sizeof(text)))
            n += (size_t)snprintf(got + n, sizeof(got) - n, ", %s", text);
    assert_string_equal(got, expected);
    sxs_heap_changes_free(&c);
}

static void types_are_compared_in_pairs_of_runtimes(void **state)
{
    struct sxs_heap_counts a = {.n = 0}, b = {.n = 0}, none = {.n = 0};
    (void)state;
    add_type(&a, 1, "8.0.29", "T", 1);
    add_type(&a, 2, "9.0.18", "T", 10);
    add_type(&b, 1, "10.0.11", "T", 20);
    check_changes(&a, &b, 0, "1 T 10->20, 1 T 1->0, all 11->20, runtime 1: 9.0.18 -> 10.0.11, runtime 1: 8.0.29, not now");
    check_changes(&a, &b, 1, "1 T 10->20, all 10->20, runtime 1: 9.0.18 -> 10.0.11");
    check_changes(&b, &a, 0, "1 T 0->1, 2 T 20->10, all 20->11, runtime 1: 8.0.29, not before, runtime 2: 10.0.11 -> 9.0.18");
    check_changes(&none, &a, 0, "2 T 0->10, 1 T 0->1, all 0->11, runtime 1: 8.0.29, not before, runtime 2: 9.0.18, not before");
    check_changes(&a, &a, 0, "all 11->11");
    add_type(&b, 2, "9.0.18", "T", 30);
    check_changes(&a, &b, 0, "2 T 10->30, 1 T 1->20, all 11->50, runtime 1: 8.0.29 -> 10.0.11");
    sxs_heap_counts_free(&a);
    sxs_heap_counts_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_runtime_each_is_a_pair),
        cmocka_unit_test(equal_versions_are_paired_first),
        cmocka_unit_test(of_equal_versions_equal_numbers_are_paired_first),
        cmocka_unit_test(then_equal_minor_versions_then_the_newest),
        cmocka_unit_test(functions_of_another_version_are_matched),
        cmocka_unit_test(native_code_of_the_runtime_is_matched_by_its_file),
        cmocka_unit_test(other_assemblies_and_signatures_are_other_functions),
        cmocka_unit_test(runtimes_beside_each_other_stay_apart),
        cmocka_unit_test(a_function_that_moved_to_one_runtime_more_is_matched),
        cmocka_unit_test(between_runtimes_with_partners_nothing_is_matched),
        cmocka_unit_test(two_runtimes_of_one_version_stay_apart),
        cmocka_unit_test(each_side_keeps_its_sums),
        cmocka_unit_test(types_are_compared_in_pairs_of_runtimes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
