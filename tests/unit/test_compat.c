/* SPDX-License-Identifier: MIT */
/* test_compat.c - ProfilerCompatibilitySetting x order of loading x kind of profiler, as a table. */
#include "tests/unit/fake_host.h"
#include "tools/tools.h"

static const struct sxs_tool *const tools[] = {&sxs_census_tool};

/* ---- a profiler written for 2.0: it knows no ICorProfilerCallback3 --------------------------- */

static unsigned created, initialized, released;

static union {
    ICorProfilerCallback11Vtbl vtbl;
    HRESULT (*slots[SXS_N_CALLBACK_SLOTS])(void *self);
} old;
static struct {
    const ICorProfilerCallback11Vtbl *vtbl;
} old_profiler = {&old.vtbl};

static HRESULT any_event(void *self)
{
    (void)self;
    return S_OK;
}

static HRESULT old_query(ICorProfilerCallback11 *self, REFIID iid, void **out)
{
    *out = NULL;
    for (unsigned i = 0; i <= 2; i++)
        if (memcmp(iid, sxs_callback_iids[i], sizeof(*iid)) == 0)
            *out = self;
    return *out ? S_OK : E_NOINTERFACE;
}

static ULONG old_count(ICorProfilerCallback11 *self)
{
    (void)self;
    return 1;
}

static ULONG old_release(ICorProfilerCallback11 *self)
{
    (void)self;
    released++;
    return 1;
}

static HRESULT old_initialize(ICorProfilerCallback11 *self, IUnknown *info)
{
    (void)self;
    (void)info;
    initialized++;
    return S_OK;
}

static HRESULT old_create(IClassFactory *self, IUnknown *outer, REFIID iid, void **out)
{
    (void)self;
    (void)outer;
    created++;
    return old_query((ICorProfilerCallback11 *)(void *)&old_profiler, iid, out);
}

static ULONG factory_count(IClassFactory *self)
{
    (void)self;
    return 1;
}

__attribute__((visibility("default"))) HRESULT old_class_object(const GUID *clsid, const GUID *iid,
                                                                void **out);
HRESULT old_class_object(const GUID *clsid, const GUID *iid, void **out)
{
    static const IClassFactoryVtbl vtbl = {
        .AddRef = factory_count, .Release = factory_count, .CreateInstance = old_create};
    static IClassFactory factory = {&vtbl};
    (void)clsid;
    (void)iid;
    *out = &factory;
    return S_OK;
}

/* ---- the table ------------------------------------------------------------------------------- */

static struct fakeclr_compat_row row; /* the one at hand */

static void prepare(void)
{
    for (int i = 0; i < SXS_N_CALLBACK_SLOTS; i++)
        old.slots[i] = any_event;
    old.vtbl.QueryInterface = old_query;
    old.vtbl.AddRef = old_count;
    old.vtbl.Release = old_release;
    old.vtbl.Initialize = old_initialize;
    profile_without_signals(tools, ARRAY_LEN(tools));
    if (!row.v4_profiler)
        profile_with("@program:old_class_object");
    if (row.setting)
        setenv("COMPLUS_ProfAPI_ProfilerCompatibilitySetting", row.setting, 1);
}

static void row_body(void)
{
    struct fake_host h[2];
    unsigned         active = 0;
    prepare();
    h[0] = fake_start(row.first);
    h[1] = fake_start(row.second);
    CHECK_EQ(h[0].c->load_state(), row.first_ends);
    CHECK_EQ(h[1].c->load_state(), row.second_ends);
    for (int i = 0; i < 2; i++)
        active += h[i].c->load_state() == FAKECLR_ACTIVE;
    if (!row.v4_profiler) {
        unsigned disabled =
            (row.first_ends == FAKECLR_V2_DISABLED) + (row.second_ends == FAKECLR_V2_DISABLED);
        CHECK_EQ(created, active + disabled); /* created all the same, and released again */
        CHECK_EQ(initialized, active);
        CHECK(!disabled || released > 0);
    }
    /* the profiler that is loaded works, whatever became of the other */
    for (int i = 0; i < 2; i++) {
        fake_run(&h[i], "!modules 1; jit 2; gc 1");
        fake_end(&h[i]);
    }
}

static void the_setting_decides_for_4_0_alone_in_either_order(void **state)
{
    struct fake_host                 h = fake_load("2.0");
    size_t                           n = 0;
    const struct fakeclr_compat_row *all = h.c->compat_table(&n);
    (void)state;
    assert_int_equal(n, 16); /* 4 settings, 2 orders, 2 kinds */
    for (size_t i = 0; i < n; i++) {
        row = all[i];
        int how = child_status(row_body);
        if (how)
            fail_msg("setting %s, %s before %s, %s profiler: status 0x%x",
                     row.setting ? row.setting : "(none)", row.first, row.second,
                     row.v4_profiler ? "new" : "V2", how);
    }
}

static void core_body(void)
{
    prepare();
    struct fake_host h = fake_start("8.0");
    CHECK_EQ(h.c->load_state(), row.first_ends);
    fake_end(&h);
}

static void later_runtimes_load_a_new_profiler_unless_loading_is_prevented(void **state)
{
    static const struct fakeclr_compat_row rows[] = {
        {.setting = NULL, .v4_profiler = 1, .first_ends = FAKECLR_ACTIVE},
        {.setting = "EnableV2Profiler", .v4_profiler = 1, .first_ends = FAKECLR_ACTIVE},
        {.setting = "DisableV2Profiler", .v4_profiler = 1, .first_ends = FAKECLR_ACTIVE},
        {.setting = "PreventLoad", .v4_profiler = 1, .first_ends = FAKECLR_PREVENTED},
        {.setting = NULL, .v4_profiler = 0, .first_ends = FAKECLR_V2_DISABLED},
        {.setting = "EnableV2Profiler", .v4_profiler = 0, .first_ends = FAKECLR_ACTIVE},
    };
    (void)state;
    for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
        row = rows[i];
        PASSES(core_body);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_setting_decides_for_4_0_alone_in_either_order),
        cmocka_unit_test(later_runtimes_load_a_new_profiler_unless_loading_is_prevented),
    };
    plain_environment(NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
