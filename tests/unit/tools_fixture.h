/* SPDX-License-Identifier: MIT */
/* tools_fixture.h - three tools that write down what happens to them. */
#ifndef SXS_TESTS_TOOLS_FIXTURE_H
#define SXS_TESTS_TOOLS_FIXTURE_H

#include "manager/runtime_internal.h"
#include "tests/unit/fake_host.h"

/* ---- three tools that write down what happens to them ---------------------------------------- */

enum { FIRST, SECOND, THIRD, N_SPIES };

struct seen { /* a spy's state on one runtime */
    int      spy;
    unsigned events[SXS_N_CALLBACK_SLOTS];
    uint64_t last_id; /* of the event handled last */
};

static struct spy {
    uint32_t        low, high; /* what it asks for in start() */
    HRESULT         start_result, event_result;
    void          (*in_start)(void); /* called at the end of start(); NULL: nothing */
    int             inline_answer; /* -1: leaves JITInlining's out parameter alone */
    unsigned        started, stopped, released;
    int             detached; /* as stop() was told */
    struct sxs_sub *sub;      /* the latest */
    char            options[32];
} spies[N_SPIES];

static char     order[64]; /* who was called: a letter each */
static unsigned n_order;

static inline void note(char what)
{
    if (n_order < sizeof(order) - 1)
        order[n_order++] = what;
}

static inline HRESULT saw(struct sxs_sub *sub, unsigned slot)
{
    struct seen *seen = sub->state;
    seen->events[slot]++;
    note((char)('1' + seen->spy));
    return spies[seen->spy].event_result;
}

#define SXS_EVENT(name, low, high, always)         \
    static HRESULT saw_##name(struct sxs_sub *sub) \
    {                                              \
        return saw(sub, SXS_SLOT_##name);          \
    }
#define saw_JITInlining           saw_JITInlining_plainly
#define saw_JITCompilationStarted saw_JITCompilationStarted_plainly
#include "sxs_events.inc"
#undef saw_JITInlining
#undef saw_JITCompilationStarted
#undef SXS_EVENT

static inline HRESULT saw_JITInlining(struct sxs_sub *sub, sxs_function caller, sxs_function callee,
                               BOOL *should_inline)
{
    struct seen *seen = sub->state;
    CHECK(caller.rt == sub->rt && callee.rt == sub->rt);
    CHECK_EQ(caller.id, 0x11);
    CHECK_EQ(callee.id, 0x22);
    if (spies[seen->spy].inline_answer >= 0)
        *should_inline = spies[seen->spy].inline_answer;
    return saw_JITInlining_plainly(sub);
}

static inline HRESULT saw_JITCompilationStarted(struct sxs_sub *sub, sxs_function function,
                                                BOOL safe)
{
    (void)safe;
    CHECK(function.rt == sub->rt); /* the ID says whose it is */
    ((struct seen *)sub->state)->last_id = function.id;
    return saw_JITCompilationStarted_plainly(sub);
}

/* Handlers take what a slot passes or less: the caller cleans up. */
static const struct sxs_events everything = {
#define SXS_EVENT(name, low, high, always) .name = (void *)(uintptr_t)saw_##name,
#include "sxs_events.inc"
#undef SXS_EVENT
};

static inline HRESULT spy_start(int which, struct sxs_sub *sub, const char *options)
{
    struct spy  *spy = &spies[which];
    struct seen *seen = calloc(1, sizeof(*seen));
    CHECK(seen);
    seen->spy = which;
    sub->state = seen;
    sub->low = spy->low;
    sub->high = spy->high;
    spy->sub = sub;
    spy->started++;
    snprintf(spy->options, sizeof(spy->options), "%s", options);
    note((char)('A' + which));
    if (spy->in_start)
        spy->in_start();
    return spy->start_result;
}

static inline void spy_stop(struct sxs_sub *sub, int detached)
{
    struct seen *seen = sub->state;
    spies[seen->spy].stopped++;
    spies[seen->spy].detached = detached;
    note((char)('a' + seen->spy));
}

static inline void spy_release(struct sxs_sub *sub)
{
    struct seen *seen = sub->state;
    spies[seen->spy].released++;
    note((char)('x' + seen->spy));
    free(seen);
}

static inline HRESULT start_first(struct sxs_sub *sub, const char *options)
{
    return spy_start(FIRST, sub, options);
}

static inline HRESULT start_second(struct sxs_sub *sub, const char *options)
{
    return spy_start(SECOND, sub, options);
}

static inline HRESULT start_third(struct sxs_sub *sub, const char *options)
{
    return spy_start(THIRD, sub, options);
}

#define SPY(n, ...)                                                          \
    {                                                                        \
        .name = #n, .on = &everything, .start = start_##n, .stop = spy_stop, \
        .release = spy_release, __VA_ARGS__                                  \
    }
static const struct sxs_tool        first = SPY(first, .always = 1);
static const struct sxs_tool        second = SPY(second, .always = 1);
static const struct sxs_tool        third = SPY(third, .always = 1, .on_guarded = 1);
static const struct sxs_tool *const three[] = {&first, &second, &third};

static inline unsigned count(int spy, unsigned slot)
{
    return ((struct seen *)spies[spy].sub->state)->events[slot];
}

#define COUNT(spy, name) count(spy, SXS_SLOT_##name)

static inline struct fake_host with_tools(const char *version, size_t n)
{
    profile_without_signals(three, n);
    struct fake_host h = fake_load(version);
    return h;
}

static inline struct fake_host begin(const char *version, size_t n)
{
    struct fake_host h = with_tools(version, n);
    CHECK_EQ(fake_initialize(&h), S_OK);
    CHECK_EQ(h.c->load_state(), FAKECLR_ACTIVE);
    memset(order, 0, sizeof(order));
    n_order = 0;
    return h;
}

static inline void mask_is(const struct fake_host *h, uint32_t low, uint32_t high)
{
    uint32_t now_low, now_high;
    h->c->mask(&now_low, &now_high);
    CHECK_EQ(now_low, low);
    CHECK_EQ(now_high, high);
}

#define LOW(name) ((uint32_t)COR_PRF_MONITOR_##name)

#endif
