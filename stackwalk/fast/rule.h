/* SPDX-License-Identifier: MIT */
/**
 * stackwalk/fast/rule.h - the unwind rule: eight bytes that say how to get from a frame to its
 * caller. */
#ifndef SXS_STACKWALK_FAST_RULE_H
#define SXS_STACKWALK_FAST_RULE_H

#include <stdint.h>

#define SXS_DWARF_RBX 3
#define SXS_DWARF_RBP 6
#define SXS_DWARF_RSP 7
#define SXS_DWARF_RIP 16

#define SXS_RBP_AT_RBP (-1) /* rbp_at in a CFA rule: the caller's rbp is saved where rbp points */

/** CFA is the value of rsp after the return; the return address lies 8 bytes below it. */
enum sxs_rule_kind {
    /* code in an ELF file without a description, or with one that a rule cannot express */
    SXS_RULE_NONE,
    SXS_RULE_CFA,     /* CFA = cfa_reg + cfa_off */
    SXS_RULE_DEREF,   /* CFA = *(rbp + cfa_off): frames that realign the stack */
    /* Linker-made PLT entries: CFA = rsp + cfa_off, plus 8 if (rip & 15) >= rbp_at. */
    SXS_RULE_PLT,
    SXS_RULE_SIGNAL,  /* rsp points to the ucontext of the interrupted code */
    SXS_RULE_BOTTOM,  /* the frame has no caller */
    /* Code without unwind table that uses rbp as the frame pointer: CFA = rbp + 16. For rbp_at
     * see stackwalk/fast/code_scan.h. */
    SXS_RULE_FRAME,
    /* CFA = rsp + cfa_off, found by reading the code. Must be confirmed by a return address on
     * the stack. */
    SXS_RULE_GUESS,
    /* A runtime's frame for handling a fault on the faulting thread's stack. CFA = cfa_reg +
     * cfa_off is the rsp of the code that faulted; its IP is saved at CFA - 8 * rbx_at. */
    SXS_RULE_FAULT,
    /* The IP follows a call of the helper that may replace the running method (OSR): the frame
     * may be stale. */
    SXS_RULE_PATCHPOINT,
    SXS_RULE_NOWHERE, /* not code */
};

struct sxs_unwind_rule {
    uint8_t kind : 4;
    /* DWARF number; registers other than rbx, rbp, rsp are known in the youngest frame only */
    uint8_t cfa_reg : 4;
    /* rbx is saved at CFA - 8 * rbx_at (DEREF: at rbp - 8 * rbx_at); 0: not saved */
    uint8_t rbx_at;
    /* rbp is saved at CFA - 8 * rbp_at; 0: not saved. DEREF: always saved, at rbp - 8 * rbp_at. */
    int16_t rbp_at;
    int32_t cfa_off; /* bytes */
};

_Static_assert(sizeof(struct sxs_unwind_rule) == 8, "stored and loaded as one word");

#endif
