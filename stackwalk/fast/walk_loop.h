/* SPDX-License-Identifier: MIT */
/**
 * stackwalk/fast/walk_loop.h - the part of the fast walk that handles nearly all frames: one
 * loop without calls.
 *
 * The loop handles frames whose caller is found by rbp, with or without unwind tables, and
 * frames whose CFA is at a known distance from rsp. It stops before any other frame and before
 * any address out of bounds; walk_fast.c then handles that frame with all rules. In a chain of
 * rbp frames, the next frame depends only on the word loaded from rbp. All other values, the
 * cached rule included, are only compared, so the processor predicts the branches and does not
 * wait for them. */
#ifndef SXS_STACKWALK_FAST_WALK_LOOP_H
#define SXS_STACKWALK_FAST_WALK_LOOP_H

#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "base/guarded.h"
#include "stackwalk/fast/rule_cache.h"

/** The registers of a frame; ip is a return address. */
struct sxs_walk_frame {
    uintptr_t ip, sp, bp, bx;
};

/* The fields of a struct sxs_unwind_rule, as bits of the word that the cache holds. */
#define SXS_RULE_WORD(kind, reg, rbp_at, cfa_off)                                 \
    ((uint64_t)(kind) | (uint64_t)(reg) << 4 | (uint64_t)(uint16_t)(rbp_at) << 16 | \
     (uint64_t)(cfa_off) << 32)
#define SXS_RULE_RBX_AT(word)  ((uintptr_t)((word) >> 8 & 0xff))
#define SXS_RULE_RBP_AT(word)  ((uintptr_t)(intptr_t)(int16_t)((word) >> 16))
#define SXS_RULE_CFA_OFF(word) ((uintptr_t)((int64_t)(word) >> 32))
#define SXS_RULE_HEAD          UINT64_C(0x00000000000000ff) /* the kind and the register */
#define SXS_RULE_ANY_RBP_AT    (~UINT64_C(0x00000000ffff0000))
#define SXS_RULE_ANY_RBX_AT    (~UINT64_C(0x000000000000ff00))

/* The register saved @slots words below @cfa, which must be within the stack; @otherwise if it
 * was not saved. */
SXS_SIGSAFE static inline __attribute__((always_inline)) uintptr_t
sxs_walk_saved(uintptr_t sp, uintptr_t cfa, uintptr_t slots, uintptr_t otherwise)
{
    uintptr_t at = cfa - 8 * slots, word = otherwise;
    if (slots && at >= sp) /* else: not saved, or already popped */
        SXS_GUARDED_TRY(word, at, 0);
    return word;
}

/* Whether the caller of @f is found by rbp (CFA = rbp + 16). True if a table or the code says so
 * and the frame cannot be a funclet or a replaced method (see by_frame() in walk_fast.c), or if
 * a guess results in the same CFA. */
SXS_SIGSAFE static inline __attribute__((always_inline)) int
sxs_walk_is_rbp(const struct sxs_walk_frame *f, uint64_t word)
{
    uintptr_t slots = SXS_RULE_RBP_AT(word);
    int       own = (word & SXS_RULE_ANY_RBP_AT) ==
              SXS_RULE_WORD(SXS_RULE_FRAME, SXS_DWARF_RBP, 0, 16);
    int table = (word & SXS_RULE_ANY_RBX_AT) == SXS_RULE_WORD(SXS_RULE_CFA, SXS_DWARF_RBP, 2, 16);
    int guess = (uint32_t)(word & SXS_RULE_ANY_RBX_AT) ==
                SXS_RULE_WORD(SXS_RULE_GUESS, SXS_DWARF_RSP, 2, 0);
    return table | (own & ((slots == 0) | (f->sp + 8 * slots == f->bp + 16))) |
           (guess & (f->sp + SXS_RULE_CFA_OFF(word) == f->bp + 16));
}

/**
 * sxs_walk_loop - store the IPs of @f and its callers into ips[@n..@stop) while the frames are
 * common ones whose rules are in @cache.
 * @key: xored with an ip to get the key of its rule.
 * @key_return: xored with an ip to get the key that says whether the ip is a return address.
 * @stack_hi: end of the stack; f->sp is not above it.
 * Returns the new number of IPs. @f is left at the first frame that was not stored. f->ip is
 * SXS_GUARDED_GONE when the return address of the last stored frame could not be read. If
 * another word could not be read, the register has that value, and the walk ends later, because
 * no frame can be found from it. */
SXS_SIGSAFE static inline size_t
sxs_walk_loop(struct sxs_rule_cache *cache, uint64_t key, uint64_t key_return, uintptr_t stack_hi,
              struct sxs_walk_frame *f, uintptr_t *ips, size_t n, size_t stop)
{
    struct sxs_walk_frame at = *f;
    for (; n < stop; n++) {
        uintptr_t ip, bp, cfa;
        uint64_t  word, caller;
        if (at.ip >> 47 || !sxs_rule_cache_word(cache, at.ip ^ key, &word))
            break;
        if (sxs_walk_is_rbp(&at, word)) {
            if (at.bp < at.sp || at.bp > stack_hi - 16 || at.bp % 8)
                break;
            cfa = at.bp + 16;
            SXS_GUARDED_TRY(ip, at.bp, 8);
            SXS_GUARDED_TRY(bp, at.bp, 0);
        } else {
            int is_guess =
                (word & SXS_RULE_HEAD) == SXS_RULE_WORD(SXS_RULE_GUESS, SXS_DWARF_RSP, 0, 0);
            if ((!is_guess &&
                 (word & SXS_RULE_HEAD) != SXS_RULE_WORD(SXS_RULE_CFA, SXS_DWARF_RSP, 0, 0)) ||
                (intptr_t)SXS_RULE_RBP_AT(word) < 0)
                break;
            cfa = at.sp + SXS_RULE_CFA_OFF(word);
            if (cfa < at.sp + 8 || cfa > stack_hi || cfa % 8)
                break;
            SXS_GUARDED_TRY(ip, cfa, -8);
            if (is_guess && (ip < 4096 || ip >> 47 ||
                             !sxs_rule_cache_word(cache, ip ^ key_return, &caller) ||
                             (caller & 0xf) == SXS_RULE_NOWHERE))
                break;
            bp = sxs_walk_saved(at.sp, cfa, SXS_RULE_RBP_AT(word), at.bp);
        }
        ips[n] = at.ip;
        at.bx = sxs_walk_saved(at.sp, cfa, SXS_RULE_RBX_AT(word), at.bx);
        at.ip = ip;
        at.bp = bp;
        at.sp = cfa;
    }
    *f = at;
    return n;
}

#endif
