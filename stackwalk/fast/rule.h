/* SPDX-License-Identifier: MIT */
/** rule.h - how to get from one frame to its caller: eight bytes that any code can be reduced to.
 */
#ifndef SXS_SAMPLER_RULE_H
#define SXS_SAMPLER_RULE_H

#include <stdint.h>

#define SXS_DWARF_RBX 3
#define SXS_DWARF_RBP 6
#define SXS_DWARF_RSP 7
#define SXS_DWARF_RIP 16

#define SXS_RBP_AT_RBP (-1) /* rbp_at of a CFA rule: the caller's rbp is where rbp points */

/** CFA: the value RSP has after the return; the return address lies 8 bytes below it. */
enum sxs_rule_kind {
    SXS_RULE_NONE,    /* module code without a description, or with one this cannot express */
    SXS_RULE_CFA,     /* CFA = cfa_reg + cfa_off */
    SXS_RULE_DEREF,   /* CFA = *(rbp + cfa_off): frames whose stack was realigned */
    SXS_RULE_PLT,     /* CFA = rsp + cfa_off, 8 more from byte rbp_at of its 16 on */
    SXS_RULE_SIGNAL,  /* rsp points to the ucontext of what was interrupted */
    SXS_RULE_BOTTOM,  /* no caller */
    SXS_RULE_FRAME,   /* code without a table that owns rbp: CFA = rbp + 16; rbp_at: see code_scan.h
                       */
    SXS_RULE_GUESS,   /* CFA = rsp + cfa_off by reading the code: to be confirmed by what lies there
                       */
    SXS_RULE_FAULT,   /* CFA = cfa_reg + cfa_off is the rsp of code that faulted; its IP lies at
                         CFA - 8 * rbx_at: where a runtime leaves the stack that signals have */
    SXS_RULE_PATCHPOINT, /* behind the call that replaces a running method: perhaps it was */
    SXS_RULE_NOWHERE, /* not code at all */
};

struct sxs_rule {
    uint8_t kind : 4;
    uint8_t
        cfa_reg : 4; /* DWARF number; any but rbx, rbp, rsp is known in the youngest frame only */
    uint8_t rbx_at;  /* saved at CFA - 8 * rbx_at (DEREF: rbp - 8 * rbx_at); 0: not saved */
    int16_t rbp_at;  /* saved at CFA - 8 * rbp_at; 0: not saved (DEREF: at rbp - 8 * rbp_at) */
    int32_t cfa_off; /* bytes */
};

_Static_assert(sizeof(struct sxs_rule) == 8, "stored and loaded as one word");

#endif
