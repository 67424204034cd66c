/* SPDX-License-Identifier: MIT */
#include "stackwalk/fast/code_scan.h"

#include "stackwalk/fast/insn.h"
#include "base/safe_read.h"

#define STUB_INSNS 6 /* stubs of runtimes end with a jump within this many instructions */

/* Jumps that are followed. After that many, a jump is ignored and the code after it is read. */
#define MAX_JUMPS  6

/* The effect on the stack pointer of the instructions read so far, relative to its value at the
 * IP. */
struct path {
    int64_t  rsp;        /* bytes */
    int64_t  popped_rbp; /* value of rsp where rbp was popped; -1: not popped */
    int64_t  popped_rbx;
    int      set_by_rbp; /* rsp was set from rbp, so offsets from the old rsp are unknown */
    int      only_prologue, only_epilogue; /* only such instructions were read so far */
    int      released;   /* the last instruction released stack space */
    /* Where to continue reading, relative to the next instruction; 0: at the next instruction. */
    intptr_t jump;
    unsigned n_insns;
};

SXS_SIGSAFE static struct sxs_unwind_rule frame_rule(int64_t return_at)
{
    struct sxs_unwind_rule rule = {.kind = SXS_RULE_FRAME, .cfa_reg = SXS_DWARF_RBP, .cfa_off = 16};
    if (return_at >= 0 && return_at % 8 == 0 && return_at / 8 < INT16_MAX)
        rule.rbp_at = (int16_t)(return_at / 8 + 1);
    return rule;
}

/* Makes a rule for code whose return address lies @return_at bytes above rsp. */
SXS_SIGSAFE static struct sxs_unwind_rule guess_rule(const struct path *p, int64_t return_at)
{
    struct sxs_unwind_rule rule = {.kind = SXS_RULE_GUESS, .cfa_reg = SXS_DWARF_RSP};
    if (return_at < 0 || return_at > INT32_MAX - 8 || return_at % 8)
        return frame_rule(-1);
    rule.cfa_off = (int32_t)return_at + 8;
    if (p->popped_rbp >= 0)
        rule.rbp_at = (int16_t)((rule.cfa_off - p->popped_rbp) / 8);
    if (p->popped_rbx >= 0 && (rule.cfa_off - p->popped_rbx) / 8 <= UINT8_MAX)
        rule.rbx_at = (uint8_t)((rule.cfa_off - p->popped_rbx) / 8);
    return rule;
}

/* The rule at a return, or at a jump that ends the function (a tail call). */
SXS_SIGSAFE static struct sxs_unwind_rule at_return(const struct path *p)
{
    /* if rsp was not set from rbp, rbp holds the caller's value throughout */
    if (p->popped_rbp < 0)
        return p->set_by_rbp ? frame_rule(-1) : guess_rule(p, p->rsp);
    if (p->only_epilogue && !p->set_by_rbp)
        return guess_rule(p, p->rsp);
    return frame_rule(p->set_by_rbp ? -1 : p->rsp);
}

/* The rule in a prologue, at or before the instruction that makes rbp the frame pointer. The
 * caller's rbp is saved where the new rbp will point, and the return address above it. */
SXS_SIGSAFE static struct sxs_unwind_rule at_set_rbp(const struct path *p, int32_t value)
{
    struct sxs_unwind_rule rule = {.kind = SXS_RULE_GUESS, .cfa_reg = SXS_DWARF_RSP, .rbp_at = 2};
    int64_t                rbp = p->rsp + value;
    if (rbp < 0)
        return frame_rule(-1);
    rule.cfa_off = (int32_t)rbp + 16;
    return rule;
}

/* Takes one instruction into account. Returns nonzero when *@rule is the final rule. */
SXS_SIGSAFE static int follow_insn(struct path *p, const struct sxs_insn *insn, int is_leaf,
                                   struct sxs_unwind_rule *rule)
{
    int first = p->n_insns++ == 0, released = p->released, jumped = p->jump != 0;
    p->released = insn->kind == SXS_INSN_POP || (insn->kind == SXS_INSN_ADJUST && insn->value > 0);
    p->jump = 0;
    /* the jump led to the start of another function: it was a tail call */
    if (jumped && (insn->kind == SXS_INSN_PUSH || (insn->kind == SXS_INSN_ADJUST && insn->value < 0)))
        return *rule = at_return(p), 1;
    switch (insn->kind) {
    case SXS_INSN_PUSH:
        if (first && is_leaf && insn->reg == SXS_DWARF_RBP)
            return *rule = guess_rule(p, 0), 1; /* at the first instruction of a function */
        p->rsp -= 8;
        p->only_epilogue = 0;
        return 0;
    case SXS_INSN_POP:
        if (insn->reg == SXS_DWARF_RBP)
            p->popped_rbp = p->rsp;
        else if (insn->reg == SXS_DWARF_RBX)
            p->popped_rbx = p->rsp;
        p->rsp += 8;
        p->only_prologue = 0;
        return 0;
    case SXS_INSN_ADJUST:
        p->rsp += insn->value;
        *(insn->value < 0 ? &p->only_epilogue : &p->only_prologue) = 0;
        return 0;
    case SXS_INSN_SET_RBP:
        if (is_leaf && p->only_prologue)
            return *rule = at_set_rbp(p, insn->value), 1;
        p->only_epilogue = 0;
        return 0;
    case SXS_INSN_SET_RSP:
        p->set_by_rbp = 1;
        p->only_prologue = 0;
        return 0;
    case SXS_INSN_LEAVE: return *rule = frame_rule(-1), 1;
    case SXS_INSN_RET: return *rule = at_return(p), 1;
    /* the code after belongs to another function */
    case SXS_INSN_TRAP: return *rule = frame_rule(-1), 1;
    case SXS_INSN_JUMP_FAR:
        /* A jump that ends a stub, or a tail call after an epilogue; else the jump of a switch. */
        if ((is_leaf && p->n_insns <= STUB_INSNS) || p->popped_rbp >= 0 || released || insn->value)
            return *rule = at_return(p), 1;
        return 0;
    case SXS_INSN_JUMP:
        if (p->popped_rbp >= 0 || released)
            return *rule = at_return(p), 1;
        p->jump = insn->value; /* a method's rarely run code is placed after its last return */
        return 0;
    default: p->only_prologue = p->only_epilogue = 0; return 0;
    }
}

SXS_SIGSAFE static int is_vzeroupper(const uint8_t *code, size_t length)
{
    return length == 3 && code[0] == 0xc5 && code[1] == 0xf8 && code[2] == 0x77;
}

/* Whether the direct jump that ends the code from @ip up to @next leads to code that was already
 * read. Such a jump is a loop, and the code after the jump is where the loop ends. */
SXS_SIGSAFE static int was_read(const uintptr_t *seen, unsigned n, uintptr_t ip, uintptr_t next,
                                intptr_t jump)
{
    uintptr_t to = next + (uintptr_t)jump;
    for (unsigned i = 0; i < n; i += 2)
        if (to >= seen[i] && to < seen[i + 1])
            return 1;
    return to >= ip && to < next;
}

SXS_SIGSAFE struct sxs_unwind_rule sxs_code_scan(uintptr_t ip, int is_leaf, uintptr_t start)
{
    uint8_t     code[SXS_CODE_SCAN_SIZE];
    size_t      size = sxs_safe_read(code, ip, sizeof(code));
    uintptr_t   seen[2 * MAX_JUMPS]; /* pairs: begin and end of code read before a jump */
    unsigned    n_seen = 0;
    struct path p = {.popped_rbp = -1, .popped_rbx = -1, .only_prologue = 1, .only_epilogue = 1};
    struct sxs_unwind_rule rule;
    if (!size)
        return (struct sxs_unwind_rule){.kind = SXS_RULE_NOWHERE};
    if (is_leaf && ip == start)
        return guess_rule(&p, 0);
    for (size_t at = 0; at < size;) {
        struct sxs_insn insn = sxs_insn_read(code + at, size - at);
        if (!insn.length)
            break;
        if (!is_vzeroupper(code + at, insn.length) && follow_insn(&p, &insn, is_leaf, &rule))
            return rule;
        at += insn.length;
        if (p.jump && n_seen + 1 < ARRAY_LEN(seen) &&
            !was_read(seen, n_seen, ip, ip + at, p.jump)) {
            seen[n_seen++] = ip;
            seen[n_seen++] = ip + at;
            ip += at + (uintptr_t)p.jump;
            size = sxs_safe_read(code, ip, sizeof(code));
            at = 0;
        } else {
            p.jump = 0;
        }
    }
    return frame_rule(-1); /* no return found: a long function, which always keeps rbp */
}

SXS_SIGSAFE int sxs_code_is_return(uintptr_t ip)
{
    uint8_t code[8];
    size_t  size = sxs_safe_read(code, ip - sizeof(code), sizeof(code));
    return size == sizeof(code) && sxs_insn_call_before(code, size);
}

SXS_SIGSAFE int sxs_code_is_patchpoint(uintptr_t ip)
{
    /* The bytes before the return address: call (5 or 6 bytes), mov (5), lea (4 or 7). */
    uint8_t  code[18];
    size_t   size = sxs_safe_read(code, ip - sizeof(code), sizeof(code));
    unsigned at = code[12] == 0xff && code[13] == 0x15 ? 12 : 13;
    if (size != sizeof(code) || (at == 13 && code[13] != 0xe8) || code[at - 5] != 0xbe)
        return 0;
    at -= 5;
    return (code[at - 4] == 0x48 && code[at - 3] == 0x8d && code[at - 2] == 0x7d) ||
           (code[at - 7] == 0x48 && code[at - 6] == 0x8d && code[at - 5] == 0xbd);
}
