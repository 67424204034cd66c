/* SPDX-License-Identifier: MIT */
/* frames.c - the simulated stack of each thread, and DoStackSnapshot, which walks it. */
#include "tests/fake/fake.h"

/* Size of a reported CONTEXT in bytes: up to 9.0, and from 10.0. */
#define CONTEXT_SIZE_TO_9 3104
#define CONTEXT_SIZE_FROM_10 3232

static void frame_push(struct fake_frame frame)
{
    struct fake_thread *thread = fake_thread_attach();
    if (thread && thread->n_frames < FAKE_MAX_FRAMES)
        thread->frames[thread->n_frames++] = frame;
}

void fake_push_frame(struct fake_function *function, uint64_t ip, uint64_t sp, uint64_t fp)
{
    if (function && !ip)
        ip = (uint64_t)(uintptr_t)fake_code_of(function) + FAKE_RETURN_AT;
    frame_push((struct fake_frame){.function = function, .ip = ip, .sp = sp, .fp = fp});
}

void fake_pop_frame(void)
{
    if (fake_self && fake_self->n_frames)
        fake_self->n_frames--;
}

/* Called by compiled code only. The return address of this call is the IP of the frame that it
 * pushes; SP and frame pointer come from the frame pointer chain. */
__attribute__((noinline, no_sanitize("address"))) uint64_t fake_frame_body(uint64_t (*fn)(void *),
                                                                          void *arg)
{
    const uint64_t *frame = __builtin_frame_address(0);
    uint64_t ip = (uint64_t)(uintptr_t)__builtin_return_address(0);
    struct fake_thread *thread = fake_thread_attach();
    if (!thread)
        return fn(arg);
    unsigned depth = thread->n_frames;
    frame_push((struct fake_frame){.function = fake_function_at(ip), .ip = ip, .real = true,
                                   .sp = (uint64_t)(uintptr_t)(frame + 2), .fp = frame[0]});
    uint64_t result = fn(arg);
    thread->n_frames = depth;
    return result;
}

static HRESULT report(StackSnapshotCallback *callback, const struct fake_frame *frame, bool native,
                      ULONG32 flags, void *client_data)
{
    _Alignas(16) BYTE bytes[CONTEXT_SIZE_FROM_10] = {0};
    CONTEXT *context = (CONTEXT *)(void *)bytes;
    ULONG32 size = fake.major >= 10 ? CONTEXT_SIZE_FROM_10 : CONTEXT_SIZE_TO_9;
    context->Rip = frame->ip;
    context->Rsp = frame->sp;
    context->Rbp = frame->fp;
    bool wanted = flags & (ULONG32)COR_PRF_SNAPSHOT_REGISTER_CONTEXT;
    FunctionID id = native ? 0 : (FunctionID)(uintptr_t)frame->function;
    return callback(id, frame->ip, native ? 0 : frame->sp, wanted ? size : 0, wanted ? bytes : NULL,
                    client_data);
}

/* Reports frames from the youngest (@from - 1) to the oldest. Native frames lie between a real
 * frame and the next younger one; such a run is reported once, with FunctionID 0. */
static HRESULT walk(const struct fake_thread *thread, unsigned from,
                    StackSnapshotCallback *callback, ULONG32 flags, void *client_data)
{
    bool in_native = false;
    for (unsigned i = from; i-- > 0;) {
        const struct fake_frame *frame = &thread->frames[i];
        HRESULT hr = S_OK;
        if (!frame->function) {
            if (!in_native)
                hr = report(callback, frame, true, flags, client_data);
            in_native = true;
        } else {
            if (frame->real && !in_native && i + 1 < from) {
                struct fake_frame run = {.sp = frame->sp - 16, .fp = frame->sp - 16};
                hr = report(callback, &run, true, flags, client_data);
            }
            if (hr == S_OK)
                hr = report(callback, frame, false, flags, client_data);
            in_native = false;
        }
        if (hr != S_OK)
            return CORPROF_E_STACKSNAPSHOT_ABORTED;
    }
    return S_OK;
}

/* Sets *from to the frame at which a walk with a seed starts. As in a CLR, the seed is used only in
 * cooperative mode; otherwise the walk starts at the youngest frame. */
static HRESULT seeded_start(const struct fake_thread *thread, const BYTE *bytes, ULONG32 size,
                            unsigned *from)
{
    CONTEXT seed;
    if (size < sizeof(seed))
        return E_INVALIDARG;
    memcpy(&seed, bytes, sizeof(seed));
    if (!fake_function_at(seed.Rip))
        return CORPROF_E_STACKSNAPSHOT_UNMANAGED_CTX;
    if (!thread->cooperative)
        return S_OK;
    while (*from && thread->frames[*from - 1].sp < seed.Rsp)
        --*from;
    return S_OK;
}

HRESULT fake_DoStackSnapshot(ICorProfilerInfo15 *self, ThreadID thread_id,
                             StackSnapshotCallback *callback, ULONG32 flags, void *client_data,
                             BYTE *context, ULONG32 context_size)
{
    (void)self;
    struct fake_thread *thread = fake_self;
    if (!callback)
        return E_INVALIDARG;
    if (!(atomic_load(&fake.mask_low) & (uint32_t)COR_PRF_ENABLE_STACK_SNAPSHOT))
        return CORPROF_E_INCONSISTENT_WITH_FLAGS;
    if (thread_id && !(thread = fake_find(thread_id, FAKE_THREAD)))
        return E_INVALIDARG;
    if (!thread || atomic_load(&thread->state) != FAKE_RUNNING)
        return CORPROF_E_STACKSNAPSHOT_INVALID_TGT_THREAD;
    if (thread != fake_self && !atomic_load(&fake.suspended))
        return E_NOTIMPL;
    unsigned from = thread->n_frames;
    HRESULT hr = context ? seeded_start(thread, context, context_size, &from) : S_OK;
    return FAILED(hr) ? hr : walk(thread, from, callback, flags, client_data);
}
