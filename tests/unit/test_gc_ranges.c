/* SPDX-License-Identifier: MIT */
/* test_gc_ranges.c - a tool gets the ranges of moved and surviving objects of the
 * runtimes that it asked, and of no other. */
#include "tests/unit/manager_fixture.h"

struct ranges {
    unsigned n_moved, n_survived;
    uint64_t from, to, length, start, size;
};

static struct ranges seen[4]; /* by runtime */

static HRESULT moved(struct sxs_sub *sub, ULONG n, ObjectID *from, ObjectID *to, SIZE_T *length)
{
    struct ranges *r = &seen[sxs_runtime_number(sub->rt)];
    r->n_moved += n;
    r->from = from[n - 1];
    r->to = to[n - 1];
    r->length = length[n - 1];
    return S_OK;
}

static HRESULT survived(struct sxs_sub *sub, ULONG n, ObjectID *start, SIZE_T *length)
{
    struct ranges *r = &seen[sxs_runtime_number(sub->rt)];
    r->n_survived += n;
    r->start = start[n - 1];
    r->size = length[n - 1];
    return S_OK;
}

/* Asks runtime 1 by the mask of collections, runtime 2 by that of ranges alone, and runtime 3 not. */
static HRESULT start_tool(struct sxs_sub *sub, const char *options)
{
    (void)options;
    if (sxs_runtime_number(sub->rt) == 1)
        sub->low = COR_PRF_MONITOR_GC;
    else if (sxs_runtime_number(sub->rt) == 2)
        sub->high = COR_PRF_HIGH_MONITOR_GC_MOVED_OBJECTS;
    return S_OK;
}

static const struct sxs_events events = {.MovedReferences2 = moved, .SurvivingReferences2 = survived};
static const struct sxs_tool   tool = {
      .name = "ranges", .always = 1, .on = &events, .start = start_tool};
static const struct sxs_tool *const tools[] = {&tool};

static void raise_ranges(struct fake_host *h, uint64_t base)
{
    uint64_t from[] = {base, base + 100}, to[] = {base + 8, base + 108}, length[] = {16, 32};
    uint64_t moves[] = {2, (uint64_t)(uintptr_t)from, (uint64_t)(uintptr_t)to,
                        (uint64_t)(uintptr_t)length};
    uint64_t stays[] = {2, (uint64_t)(uintptr_t)from, (uint64_t)(uintptr_t)length};
    h->c->raise("MovedReferences2", 0, 4, moves);
    h->c->raise("SurvivingReferences2", 0, 3, stays);
}

static void ranges_body(void)
{
    struct fake_host hosts[3];
    profile_without_signals(tools, ARRAY_LEN(tools));
    hosts[0] = fake_start("8.0");
    hosts[1] = fake_start("9.0");
    hosts[2] = fake_start("10.0");
    for (unsigned i = 0; i < 3; i++)
        raise_ranges(&hosts[i], 1000 * (i + 1));
    for (unsigned i = 0; i < 2; i++) {
        uint64_t base = 1000 * (i + 1);
        CHECK_EQ(seen[i + 1].n_moved, 2);
        CHECK_EQ(seen[i + 1].n_survived, 2);
        CHECK_EQ(seen[i + 1].from, base + 100);
        CHECK_EQ(seen[i + 1].to, base + 108);
        CHECK_EQ(seen[i + 1].length, 32);
        CHECK_EQ(seen[i + 1].start, base + 100);
        CHECK_EQ(seen[i + 1].size, 32);
    }
    CHECK_EQ(hosts[2].c->would_raise("MovedReferences2"), 0);
    for (unsigned i = 0; i < 3; i++)
        fake_end(&hosts[i]);
}

static void ranges_come_from_the_runtimes_that_were_asked(void **state)
{
    (void)state;
    PASSES(ranges_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_come_from_the_runtimes_that_were_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
