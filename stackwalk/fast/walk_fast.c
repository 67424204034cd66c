/* SPDX-License-Identifier: MIT */
#include "stackwalk/fast/walk_fast.h"

#include <stdatomic.h>

#include "arch/arch.h"
#include "base/guarded.h"
#include "base/safe_read.h"
#include "base/session_state.h"
#include "stackwalk/fast/code_scan.h"
#include "stackwalk/fast/loaded.h"
#include "stackwalk/fast/rule_cache.h"
#include "stackwalk/fast/tables.h"
#include "stackwalk/fast/walk_clock.h"
#include "stackwalk/fast/walk_loop.h"

#define HOT inline __attribute__((always_inline))

#define WINDOW_WORDS 32u /* stack words that are copied at a time when limits->checked */

/* Frames between two reads of the clock, each of which costs as much as a few frames. */
#define CLOCK_EVERY 128u

/* The kind of a cache entry, in key bits that are zero in addresses. */
#define KEY_LEAF   (UINT64_C(1) << 63)
/* whether the IP is a return address; SXS_RULE_NOWHERE: no */
#define KEY_RETURN (UINT64_C(1) << 62)
#define EPOCH_BITS 14u

static struct sxs_rule_cache cache;
static atomic_uint           forgotten;
SXS_SESSION_RESETS(cache);
SXS_SESSION_KEEPS(forgotten);

struct fast_walk {
    uintptr_t     ip, sp, bp, bx;
    int           is_leaf; /* ip is the next instruction to run, not a return address */
    const ucontext_t             *uc; /* all registers of this frame; NULL if not known */
    const struct sxs_walk_limits *limits;
    const struct sxs_file_index  *index;
    /* the last one found; frames of a file often follow one another */
    const struct sxs_module      *module;
    /* the epoch of cached rules, shifted to its bits of a key */
    uint64_t                      epoch;
    /* 0: the last rule must not be cached, because other code may come to its address */
    int lasts;
    /* with limits->checked: the addresses copied */
    uintptr_t                     window_at, window_end;
    uintptr_t                     window[WINDOW_WORDS]; /* the copied words */
    struct sxs_walk_counts        counts;
};

SXS_SIGSAFE void sxs_walk_forget(void)
{
    atomic_fetch_add_explicit(&forgotten, 1, memory_order_relaxed);
}

SXS_SIGSAFE __attribute__((noinline)) static int load_checked(struct fast_walk *w, uintptr_t at,
                                                              uintptr_t *word)
{
    if (at < w->window_at || at >= w->window_end) {
        w->window_at = at;
        w->window_end =
            at + sxs_kernel_read(w->window, at, sizeof(w->window)) / sizeof(*word) * sizeof(*word);
        if (w->window_end == at)
            return -1;
    }
    *word = w->window[(at - w->window_at) / sizeof(*word)];
    return 0;
}

/* Loads the word at @at, a multiple of 8, into *@word. Returns -1 if that address cannot be
 * read. */
SXS_SIGSAFE static HOT int load_word(struct fast_walk *w, uintptr_t at, uintptr_t *word)
{
    uintptr_t got;
    if (__builtin_expect(w->limits->checked, 0))
        return load_checked(w, at, word);
    SXS_GUARDED_LOAD(got, at, 0, gone);
    *word = got;
    return 0;
gone:
    return -1;
}

/* Loads the word at @at into *@word if it lies on the stack, at or above w->sp. Returns 0 or -1. */
SXS_SIGSAFE static int read_word(struct fast_walk *w, uintptr_t at, uintptr_t *word)
{
    if (at < w->sp || at > w->limits->stack_hi - sizeof(*word) || at % sizeof(*word))
        return -1;
    return load_word(w, at, word);
}

SXS_SIGSAFE static const struct sxs_module *module_of(struct fast_walk *w, uintptr_t pc)
{
    const struct sxs_module *m = w->module;
    if (m && pc >= m->lo && pc < m->hi)
        return m;
    m = sxs_tables_find(w->index, pc);
    if (m)
        w->module = m;
    return m;
}

SXS_SIGSAFE __attribute__((noinline)) static struct sxs_unwind_rule find_rule(struct fast_walk *w,
                                                                              uintptr_t         ip,
                                                                              int is_leaf)
{
    uintptr_t                pc = ip - !is_leaf, start = 0;
    const struct sxs_module *m = module_of(w, pc);
    struct sxs_unwind_rule   rule = {.kind = SXS_RULE_NOWHERE};
    int                      is_code;
    if (m)
        return sxs_tables_rule(m, pc);
    is_code = w->limits->find_code && w->limits->find_code(pc, &start);
    w->lasts = is_code;
    if (!is_code && (sxs_loaded_rule(pc, &rule) || w->limits->find_code))
        return rule;
    w->lasts = 1;
    rule = sxs_code_scan(ip, is_leaf, start);
    if (rule.kind == SXS_RULE_FRAME && !is_leaf && sxs_code_is_patchpoint(ip))
        rule.kind = SXS_RULE_PATCHPOINT;
    return rule;
}

SXS_SIGSAFE static HOT struct sxs_unwind_rule rule_at(struct fast_walk *w, uintptr_t ip,
                                                      int is_leaf)
{
    uint64_t               key = ip ^ w->epoch ^ (is_leaf ? KEY_LEAF : 0);
    struct sxs_unwind_rule rule = {.kind = SXS_RULE_NOWHERE};
    /* Not an address. Its upper bits would collide with those of the key. */
    if (ip >> 47)
        return rule;
    w->lasts = 1;
    if (__builtin_expect(sxs_rule_cache_get(&cache, key, &rule), 1))
        return rule;
    w->counts.misses++;
    rule = find_rule(w, ip, is_leaf);
    if (w->lasts && rule.kind != SXS_RULE_NOWHERE)
        sxs_rule_cache_put(&cache, key, &rule);
    return rule;
}

/* Whether @ip, found on the stack, can be a return address: a call instruction lies before it. */
SXS_SIGSAFE static int is_return(struct fast_walk *w, uintptr_t ip)
{
    uint64_t               key = ip ^ w->epoch ^ KEY_RETURN;
    struct sxs_unwind_rule rule;
    if (ip < 4096 || ip >> 47)
        return 0;
    if (sxs_rule_cache_get(&cache, key, &rule))
        return rule.kind != SXS_RULE_NOWHERE;
    w->counts.misses++;
    rule = rule_at(w, ip, 0);
    if (!sxs_code_is_return(ip)) {
        rule.kind = SXS_RULE_NOWHERE;
        sxs_rule_cache_put(&cache, key, &rule);
        return 0;
    }
    /* Code that is not known yet is not cached, so it is looked up again next time. */
    if (w->lasts && rule.kind != SXS_RULE_NOWHERE)
        sxs_rule_cache_put(&cache, key, &rule);
    return 1;
}

SXS_SIGSAFE static HOT int base_of(struct fast_walk *w, unsigned reg, uintptr_t *value)
{
    switch (reg) {
    case SXS_DWARF_RSP: *value = w->sp; return 0;
    case SXS_DWARF_RBP: *value = w->bp; return 0;
    case SXS_DWARF_RBX: *value = w->bx; return 0;
    default:
        if (!w->uc)
            return -1;
        return load_word(w, sxs_context_address(w->uc, sxs_dwarf_register(reg)), value);
    }
}

/* Moves to the caller, whose rsp is @cfa. Returns nonzero if that is not a possible frame. */
SXS_SIGSAFE static HOT int leave_to(struct fast_walk *w, uintptr_t cfa, uintptr_t bp, uintptr_t bx)
{
    uintptr_t ip;
    if (cfa <= w->sp || read_word(w, cfa - 8, &ip))
        return -1;
    w->ip = ip;
    w->sp = cfa;
    w->bp = bp;
    w->bx = bx;
    w->uc = NULL;
    w->is_leaf = 0;
    return 0;
}

/* Reads a saved register into *@reg. In an epilogue, unwind tables still name the slot of a
 * register that was already popped. The memory below rsp may be overwritten by then, but the
 * register already has its value, so that is kept. */
SXS_SIGSAFE static HOT int read_saved(struct fast_walk *w, uintptr_t at, uintptr_t *reg)
{
    return at < w->sp ? 0 : read_word(w, at, reg);
}

SXS_SIGSAFE static HOT int saved_registers(struct fast_walk *w, const struct sxs_unwind_rule *rule,
                                           uintptr_t base, uintptr_t *bp, uintptr_t *bx)
{
    *bp = w->bp;
    *bx = w->bx;
    if (rule->rbx_at && read_saved(w, base - 8u * rule->rbx_at, bx))
        return -1;
    if (rule->rbp_at == SXS_RBP_AT_RBP)
        return read_word(w, w->bp, bp);
    return rule->rbp_at ? read_saved(w, base - (uintptr_t)(8 * (intptr_t)rule->rbp_at), bp) : 0;
}

SXS_SIGSAFE static enum sxs_sample_end out_of(const struct fast_walk *w, uintptr_t cfa)
{
    return cfa > w->limits->stack_hi || cfa < w->limits->stack_lo ? SXS_SAMPLE_END_OFF_STACK
                                                                  : SXS_SAMPLE_END_BAD_FRAME;
}

#define GO_ON SXS_N_SAMPLE_ENDS /* not an end: the caller is the next frame */
/* As GO_ON, but the frame just left was not a real frame, and is dropped from the result. */
#define GO_ON_INSTEAD ((enum sxs_sample_end)(GO_ON + 1))

SXS_SIGSAFE static HOT enum sxs_sample_end by_cfa(struct fast_walk             *w,
                                                  const struct sxs_unwind_rule *rule)
{
    uintptr_t base, cfa, bp, bx;
    if (base_of(w, rule->cfa_reg, &base))
        return SXS_SAMPLE_END_NO_TABLE;
    cfa = base + (uintptr_t)(intptr_t)rule->cfa_off;
    if (saved_registers(w, rule, cfa, &bp, &bx) || leave_to(w, cfa, bp, bx))
        return out_of(w, cfa);
    return GO_ON;
}

SXS_SIGSAFE static enum sxs_sample_end by_deref(struct fast_walk             *w,
                                                const struct sxs_unwind_rule *rule)
{
    uintptr_t cfa, bp, bx;
    if (read_word(w, w->bp + (uintptr_t)(intptr_t)rule->cfa_off, &cfa))
        return SXS_SAMPLE_END_BAD_FRAME;
    bp = w->bp;
    bx = w->bx;
    if (read_word(w, w->bp - (uintptr_t)(8 * (intptr_t)rule->rbp_at), &bp) ||
        (rule->rbx_at && read_word(w, w->bp - 8u * rule->rbx_at, &bx)) || leave_to(w, cfa, bp, bx))
        return out_of(w, cfa);
    return GO_ON;
}

SXS_SIGSAFE static enum sxs_sample_end by_plt(struct fast_walk             *w,
                                              const struct sxs_unwind_rule *rule)
{
    uintptr_t pushed = (w->ip & 15) >= (uintptr_t)rule->rbp_at ? 8 : 0;
    uintptr_t cfa = w->sp + (uintptr_t)rule->cfa_off + pushed;
    return leave_to(w, cfa, w->bp, w->bx) ? out_of(w, cfa) : GO_ON;
}

/* Leaves a signal frame. After the return into the restorer, rsp points to the ucontext that the
 * kernel stored. */
SXS_SIGSAFE static enum sxs_sample_end by_signal(struct fast_walk *w)
{
    uintptr_t         at = w->sp, ip, sp, bp, bx;
    const ucontext_t *uc = (const ucontext_t *)at;
    if (at % 8 || at > w->limits->stack_hi || w->limits->stack_hi - at < sizeof(*uc))
        return SXS_SAMPLE_END_BAD_FRAME;
    if (load_word(w, sxs_context_address(uc, SXS_REG_SP), &sp) ||
        load_word(w, sxs_context_address(uc, SXS_REG_IP), &ip) ||
        load_word(w, sxs_context_address(uc, SXS_REG_FP), &bp) ||
        load_word(w, sxs_context_address(uc, SXS_REG_BX), &bx))
        return SXS_SAMPLE_END_BAD_FRAME;
    if (sp < at || sp >= w->limits->stack_hi)
        return SXS_SAMPLE_END_OFF_STACK; /* the signal interrupted code on another stack */
    w->ip = ip;
    w->sp = sp;
    w->bp = bp;
    w->bx = bx;
    w->uc = uc;
    w->is_leaf = 1;
    return GO_ON;
}

/* Leaves the frame with which a runtime handles a fault. The runtime does this on the stack of
 * the code that faulted, below its red zone. Its unwind information leads to the faulting
 * instruction, which has yet to run, so the caller is an interrupted frame and not a return
 * address. */
SXS_SIGSAFE static enum sxs_sample_end by_fault(struct fast_walk             *w,
                                                const struct sxs_unwind_rule *rule)
{
    uintptr_t base, cfa, ip, bp = w->bp;
    if (base_of(w, rule->cfa_reg, &base))
        return SXS_SAMPLE_END_NO_TABLE;
    cfa = base + (uintptr_t)(intptr_t)rule->cfa_off;
    if (cfa <= w->sp || cfa >= w->limits->stack_hi || read_word(w, cfa - 8u * rule->rbx_at, &ip) ||
        (rule->rbp_at && read_word(w, cfa - (uintptr_t)(8 * (intptr_t)rule->rbp_at), &bp)))
        return out_of(w, cfa);
    w->ip = ip;
    w->sp = cfa;
    w->bp = bp;
    w->uc = NULL;
    w->is_leaf = 1;
    return GO_ON;
}

/* Leaves a frame by its frame pointer rbp: the CFA is rbp + 16. */
SXS_SIGSAFE static HOT enum sxs_sample_end by_rbp(struct fast_walk *w)
{
    uintptr_t bp;
    if (read_word(w, w->bp, &bp) || leave_to(w, w->bp + 16, bp, w->bx))
        return w->bp ? SXS_SAMPLE_END_BAD_FRAME : SXS_SAMPLE_END_BOTTOM;
    return GO_ON;
}

/* Leaves a frame whose epilogue places the return address at @at instead of directly above rbp.
 * Returns 1 if it was left.
 * - Below that: a funclet (catch or finally block). It runs with the rbp of the method it
 *   belongs to, which is an older frame. Its caller is the runtime's native code, or that method
 *   itself with the same rbp.
 * - Above that: a method that was replaced while it ran (OSR). Its frame is on top of the
 *   method's first frame, whose saved rbp it has copied.
 * - Otherwise rsp does not have the value it will have at the epilogue, so the epilogue's offset
 *   is of no use. */
SXS_SIGSAFE static int by_epilogue(struct fast_walk *w, uintptr_t at)
{
    uintptr_t ip, bp, copy;
    if (at < w->sp + 8 || read_word(w, at, &ip) || !is_return(w, ip) || read_word(w, at - 8, &bp))
        return 0;
    if (at < w->bp + 8) {
        if (bp != w->bp && !module_of(w, ip))
            return 0;
        w->counts.funclets++;
    } else if (read_word(w, w->bp, &copy) || copy != bp) {
        return 0;
    }
    return !leave_to(w, at + 8, bp, w->bx);
}

SXS_SIGSAFE static HOT enum sxs_sample_end by_frame(struct fast_walk             *w,
                                                    const struct sxs_unwind_rule *rule)
{
    uintptr_t at = w->sp + 8u * ((uintptr_t)rule->rbp_at - 1);
    if (rule->rbp_at && at != w->bp + 8 && by_epilogue(w, at))
        return GO_ON;
    return by_rbp(w);
}

#define PATCHPOINT_WORDS 1024 /* the first frame of a replaced method is not larger than this */

/* Leaves the stale first frame of a method that was replaced while it ran (OSR). The walk gets
 * there if the epilogue of the replacement was not found. rbp already has the caller's value.
 * The stale frame ends where that value is saved below a return address: at the place its own
 * epilogue tells, or else at the last such place below the caller's frame. If the method was not
 * replaced and is still active in the helper, rbp is its own, no such place is found, and rbp is
 * followed. */
SXS_SIGSAFE static enum sxs_sample_end by_patchpoint(struct fast_walk             *w,
                                                     const struct sxs_unwind_rule *rule)
{
    uintptr_t bp, ip, end = 0, at = w->sp + (rule->rbp_at ? 8u * ((uintptr_t)rule->rbp_at - 2) : 0);
    for (unsigned i = 0; i < PATCHPOINT_WORDS && at < w->bp; i++, at += 8) {
        if (!read_word(w, at, &bp) && bp == w->bp && !read_word(w, at + 8, &ip) && is_return(w, ip))
            end = at + 16;
        if (rule->rbp_at)
            break;
    }
    if (!end)
        return by_frame(w, rule);
    return leave_to(w, end, w->bp, w->bx) ? SXS_SAMPLE_END_BAD_FRAME : GO_ON_INSTEAD;
}

SXS_SIGSAFE static enum sxs_sample_end by_guess(struct fast_walk             *w,
                                                const struct sxs_unwind_rule *rule)
{
    uintptr_t ip;
    if (!read_word(w, w->sp + (uintptr_t)rule->cfa_off - 8, &ip) && is_return(w, ip)) {
        w->counts.guesses++;
        return by_cfa(w, rule);
    }
    w->counts.refuted++;
    return by_rbp(w);
}

SXS_SIGSAFE static enum sxs_sample_end by_default(struct fast_walk *w)
{
    enum sxs_sample_end end;
    w->counts.no_tables++;
    end = by_rbp(w);
    return end == SXS_SAMPLE_END_BAD_FRAME ? SXS_SAMPLE_END_NO_TABLE : end;
}

/* Leaves a frame in code that was compiled, or in a file that was loaded, since the last
 * refresh. A caller is accepted only where the stack confirms it. */
SXS_SIGSAFE static enum sxs_sample_end by_unlisted(struct fast_walk *w)
{
    struct sxs_unwind_rule rule = sxs_code_scan(w->ip, w->is_leaf, 0);
    uintptr_t              ip;
    if (rule.kind == SXS_RULE_GUESS && !read_word(w, w->sp + (uintptr_t)rule.cfa_off - 8, &ip) &&
        is_return(w, ip))
        return by_cfa(w, &rule);
    if (rule.kind != SXS_RULE_NOWHERE && !read_word(w, w->bp + 8, &ip) && is_return(w, ip))
        return by_frame(w, &rule);
    return SXS_SAMPLE_END_BAD_FRAME;
}

/* Leaves a frame whose IP is not known as code. It may be new code. Otherwise the thread called
 * an invalid address, and the call has just pushed its return address. */
SXS_SIGSAFE static enum sxs_sample_end by_nothing(struct fast_walk *w)
{
    uintptr_t ip;
    if (w->ip >= 4096 && !(w->ip >> 47) && (w->is_leaf || sxs_code_is_return(w->ip))) {
        w->counts.unlisted++;
        if (by_unlisted(w) == GO_ON)
            return GO_ON;
    }
    if (w->is_leaf && !read_word(w, w->sp, &ip) && is_return(w, ip))
        return leave_to(w, w->sp + 8, w->bp, w->bx) ? SXS_SAMPLE_END_BAD_FRAME : GO_ON;
    return SXS_SAMPLE_END_BAD_FRAME;
}

SXS_SIGSAFE static HOT enum sxs_sample_end step_frame(struct fast_walk *w)
{
    struct sxs_unwind_rule rule = rule_at(w, w->ip, w->is_leaf);
    switch ((enum sxs_rule_kind)rule.kind) {
    case SXS_RULE_CFA: return by_cfa(w, &rule);
    case SXS_RULE_FRAME: return by_frame(w, &rule);
    case SXS_RULE_GUESS: return by_guess(w, &rule);
    case SXS_RULE_PLT: return by_plt(w, &rule);
    case SXS_RULE_DEREF: return by_deref(w, &rule);
    case SXS_RULE_SIGNAL: return by_signal(w);
    case SXS_RULE_BOTTOM: return SXS_SAMPLE_END_BOTTOM;
    case SXS_RULE_FAULT: return by_fault(w, &rule);
    case SXS_RULE_PATCHPOINT: return by_patchpoint(w, &rule);
    case SXS_RULE_NONE: return by_default(w);
    case SXS_RULE_NOWHERE: break;
    }
    return by_nothing(w);
}

SXS_SIGSAFE static void add_counts(struct sxs_walk_counts *sum, const struct sxs_walk_counts *c)
{
    sum->misses += c->misses;
    sum->guesses += c->guesses;
    sum->refuted += c->refuted;
    sum->funclets += c->funclets;
    sum->no_tables += c->no_tables;
    sum->unlisted += c->unlisted;
}

/* Walks common frames until the clock must be read. */
SXS_SIGSAFE static size_t common_frames(struct fast_walk *w, uintptr_t *ips, size_t n)
{
    struct sxs_walk_frame f = {w->ip, w->sp, w->bp, w->bx};
    size_t                stop = n - n % CLOCK_EVERY + CLOCK_EVERY;
    n = sxs_walk_loop(&cache, w->epoch, w->epoch ^ KEY_RETURN, w->limits->stack_hi, &f, ips, n,
                      stop < w->limits->max ? stop : w->limits->max);
    w->ip = f.ip;
    w->sp = f.sp;
    w->bp = f.bp;
    w->bx = f.bx;
    return n;
}

/* @sps: NULL (a constant where this is inlined), or receives w->sp of each frame. */
SXS_SIGSAFE static HOT size_t walk_frames(struct fast_walk *w, uintptr_t *ips, uintptr_t *sps,
                                          enum sxs_sample_end *end)
{
    const struct sxs_walk_limits *limits = w->limits;
    size_t                        n = 0;
    uint64_t                      misses = 0;
    struct sxs_walk_clock         clock;
    if (w->sp < limits->stack_lo || w->sp >= limits->stack_hi || w->sp % 8) {
        if (limits->max && sps)
            sps[n] = w->sp;
        if (limits->max)
            ips[n++] = w->ip;
        *end = SXS_SAMPLE_END_OFF_STACK;
        return n;
    }
    sxs_walk_clock_start(&clock, limits->cycles);
    for (;;) {
        if (!w->is_leaf && !sps && !limits->checked)
            n = common_frames(w, ips, n);
        if (n && w->ip == SXS_GUARDED_GONE) {
            *end = SXS_SAMPLE_END_BAD_FRAME;
            return n;
        }
        if (n && !w->ip) { /* the return address of a thread's first frame is 0 */
            *end = SXS_SAMPLE_END_BOTTOM;
            return n;
        }
        if (n == limits->max) {
            *end = SXS_SAMPLE_END_CUT;
            return n;
        }
        if (sps)
            sps[n] = w->sp;
        /* Only the first IP is stored as it is: an interrupted IP further down is stored plus
         * one, so that it can be treated as a return address. */
        ips[n] = w->ip + (uintptr_t)(n && w->is_leaf);
        n++;
        if (n % CLOCK_EVERY == 0 || w->counts.misses != misses) {
            misses = w->counts.misses;
            if (sxs_walk_clock_is_over(&clock)) {
                *end = SXS_SAMPLE_END_TIMEOUT;
                return n;
            }
        }
        *end = step_frame(w);
        if (*end == GO_ON_INSTEAD)
            n--;
        else if (*end != GO_ON)
            return n;
    }
}

SXS_SIGSAFE static HOT size_t walk_from(const ucontext_t *uc, const struct sxs_walk_limits *limits,
                                        uintptr_t *ips, uintptr_t *sps, enum sxs_sample_end *end)
{
    struct fast_walk w;
    w.ip = sxs_context_ip(uc);
    w.sp = sxs_context_sp(uc);
    w.bp = sxs_context_register(uc, SXS_REG_FP);
    w.bx = sxs_context_register(uc, SXS_REG_BX);
    w.uc = uc;
    w.is_leaf = 1;
    w.limits = limits;
    w.index = sxs_tables_enter();
    w.module = NULL;
    w.lasts = 1;
    w.window_at = w.window_end = 0;
    w.counts = (struct sxs_walk_counts){0};
    unsigned      epoch =
        sxs_tables_generation(w.index) + atomic_load_explicit(&forgotten, memory_order_relaxed);
    size_t n;
    w.epoch = (uint64_t)(epoch & ((1u << EPOCH_BITS) - 1)) << 47;
    n = walk_frames(&w, ips, sps, end);
    sxs_tables_leave();
    if (limits->counts)
        add_counts(limits->counts, &w.counts);
    return n;
}

SXS_SIGSAFE size_t sxs_walk_fast(const ucontext_t *uc, const struct sxs_walk_limits *limits,
                                 uintptr_t *ips, enum sxs_sample_end *end)
{
    return walk_from(uc, limits, ips, NULL, end);
}

SXS_SIGSAFE size_t sxs_walk_fast_sps(const ucontext_t *uc, const struct sxs_walk_limits *limits,
                                     uintptr_t *ips, uintptr_t *sps, enum sxs_sample_end *end)
{
    return walk_from(uc, limits, ips, sps, end);
}
