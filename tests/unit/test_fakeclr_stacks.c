/* SPDX-License-Identifier: MIT */
/* test_fakeclr_stacks.c - stacks of the simulated runtime. */
#include "tests/unit/fakeclr_fixture.h"

/* -- Stacks -- */

struct seen {
    FunctionID ids[64];
    uint64_t sps[64];
    ULONG32 size;
    unsigned n;
};

static HRESULT see(FunctionID id, UINT_PTR ip, COR_PRF_FRAME_INFO info, ULONG32 size, BYTE *context,
                   void *data)
{
    struct seen *seen = data;
    CONTEXT registers;
    (void)info;
    memcpy(&registers, context, sizeof(registers));
    assert_int_equal(registers.Rip, ip);
    seen->size = size;
    seen->sps[seen->n] = registers.Rsp;
    seen->ids[seen->n++] = id;
    return S_OK;
}

struct hop {
    struct runtime *rt[2];
    FunctionID fn[2];
    unsigned left;
    struct seen seen[2];
};

static uint64_t hop(void *arg)
{
    struct hop *h = arg;
    if (h->left == 0) {
        for (int i = 0; i < 2; i++) {
            ICorProfilerInfo15 *info = h->rt[i]->p->info;
            assert_int_equal(info->vtbl->DoStackSnapshot(info, 0, see, 1, &h->seen[i], NULL, 0),
                             S_OK);
        }
        return 0;
    }
    unsigned at = --h->left % 2;
    return h->rt[at]->c->call(h->fn[at], hop, h) + 1;
}

static void frames_of_two_runtimes_interleave_on_one_real_stack(void **state)
{
    (void)state;
    struct runtime eight = start("8.0"), ten = start("10.0");
    struct hop h = {.rt = {&eight, &ten}, .left = 6};
    for (int i = 0; i < 2; i++) {
        ModuleID module = h.rt[i]->c->module_load("/fake/Demo.dll");
        h.fn[i] = h.rt[i]->c->method_new(h.rt[i]->c->class_new(module, "A", 0, 0, NULL), "M", NULL,
                                         0, 0, NULL);
        h.rt[i]->c->jit(h.fn[i]);
    }
    assert_int_equal(hop(&h), 6);
    assert_int_equal(h.seen[0].size, 3104);
    assert_int_equal(h.seen[1].size, 3232);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(h.seen[i].n, 5); /* three of its own, two runs of others between them */
        for (unsigned k = 0; k < 5; k++)
            assert_int_equal(h.seen[i].ids[k], k % 2 ? 0 : h.fn[i]);
        for (unsigned k = 1; k < 5; k++)
            assert_true(h.seen[i].sps[k] > h.seen[i].sps[k - 1]);
    }
    assert_true(h.seen[0].sps[0] < h.seen[1].sps[0]); /* the last hop was to the first runtime */
    end(&eight);
    end(&ten);
}

static void a_seed_counts_in_cooperative_mode_only(void **state)
{
    (void)state;
    struct runtime rt = start("8.0");
    ICorProfilerInfo15 *info = rt.p->info;
    ModuleID module = rt.c->module_load("/fake/Demo.dll");
    FunctionID fn = rt.c->method_new(rt.c->class_new(module, "A", 0, 0, NULL), "M", NULL, 0, 0,
                                     NULL);
    rt.c->jit(fn);
    for (unsigned i = 0; i < 4; i++)
        rt.c->push_frame(fn, 0, 0x4000 - i * 0x100, 0);
    union {
        CONTEXT c;
        BYTE bytes[sizeof(CONTEXT)];
    } seed = {.c = {.ContextFlags = 0}};
    seed.c.Rsp = 0x3F00;
    struct seen seen = {.n = 0};
    assert_int_equal(info->vtbl->DoStackSnapshot(info, 0, see, 1, &seen, seed.bytes, sizeof(seed)),
                     CORPROF_E_STACKSNAPSHOT_UNMANAGED_CTX);
    seed.c.Rip = rt.c->code(fn) + 4;
    assert_int_equal(info->vtbl->DoStackSnapshot(info, 0, see, 1, &seen, seed.bytes, sizeof(seed)),
                     S_OK);
    assert_int_equal(seen.n, 4);
    seen.n = 0;
    rt.c->set_cooperative(1);
    assert_int_equal(info->vtbl->DoStackSnapshot(info, 0, see, 1, &seen, seed.bytes, sizeof(seed)),
                     S_OK);
    assert_int_equal(seen.n, 2);
    end(&rt);
}

static void another_threads_stack_needs_a_suspended_runtime(void **state)
{
    (void)state;
    struct runtime rt = start("8.0");
    ICorProfilerInfo15 *info = rt.p->info;
    ThreadID thread = rt.c->thread_start(NULL, NULL);
    struct seen seen = {.n = 0};
    assert_int_equal(info->vtbl->DoStackSnapshot(info, thread, see, 1, &seen, NULL, 0), E_NOTIMPL);
    assert_int_equal(info->vtbl->SuspendRuntime(info), S_OK);
    assert_int_equal(info->vtbl->DoStackSnapshot(info, thread, see, 1, &seen, NULL, 0), S_OK);
    assert_int_equal(info->vtbl->ResumeRuntime(info), S_OK);
    rt.c->thread_stop(thread);
    end(&rt);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup(name, before_each)
        T(frames_of_two_runtimes_interleave_on_one_real_stack),
        T(a_seed_counts_in_cooperative_mode_only),
        T(another_threads_stack_needs_a_suspended_runtime),
    };
    return cmocka_run_group_tests_name("fakeclr", tests, NULL, NULL);
}
