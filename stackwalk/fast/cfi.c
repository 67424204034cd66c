/* SPDX-License-Identifier: MIT */
#include "stackwalk/fast/cfi.h"

#include <string.h>

#include "stackwalk/fast/cfi_cursor.h"

SXS_SIGSAFE static uintptr_t pointer(const struct sxs_cfi *cfi, struct cfi_cursor *c, uint8_t how)
{
    return read_encoded(c, how, cfi->address + (uintptr_t)(c->at - cfi->bytes));
}

#define N_REGS      17 /* in DWARF's numbering for x86-64; rip is the last register used */
#define STATE_DEPTH 4  /* maximum nesting of DW_CFA_remember_state; compilers use 1 */

struct cie {
    uint64_t          code_align;
    int64_t           data_align;
    uint8_t           fde_encoding;
    uint8_t           has_augmentation; /* 'z': the augmentation data have a size */
    uint8_t           is_signal;        /* 'S': descriptions are of signal frames */
    struct cfi_cursor initial; /* instructions that are executed before those of each FDE */
};

enum how { SAME, AT_OFFSET, AT_RBP, UNDEFINED, UNSUPPORTED };

struct saved {
    enum how how;
    int64_t  offset; /* AT_OFFSET: from the CFA, AT_RBP: from rbp; bytes */
};

enum cfa_how { CFA_REG, CFA_DEREF, CFA_PLT, CFA_UNSUPPORTED };

struct cfi_state {
    enum cfa_how cfa_how;
    uint64_t     cfa_reg;
    int64_t      cfa_off;
    int          plt_at;
    struct saved rbx, rbp, rip; /* the only registers that a walk follows */
};

struct cfi_machine {
    const struct sxs_cfi *cfi;
    const struct cie     *cie;
    struct cfi_state      now, initial, stack[STATE_DEPTH];
    unsigned              depth;
    uintptr_t             pc;     /* the address from which @now holds */
    uintptr_t             target; /* the address that is looked up */
    int                   found;  /* @now holds at @target */
};

SXS_SIGSAFE static int offset_fits(int64_t offset, int64_t max)
{
    return offset < 0 && offset % 8 == 0 && -offset / 8 <= max;
}

SXS_SIGSAFE static struct sxs_unwind_rule rule_of(const struct cfi_machine *m)
{
    const struct cfi_state *s = &m->now;
    struct sxs_unwind_rule  rule = {.kind = SXS_RULE_NONE};
    if (m->cie->is_signal)
        return (struct sxs_unwind_rule){.kind = SXS_RULE_SIGNAL};
    if (s->rip.how == UNDEFINED)
        return (struct sxs_unwind_rule){.kind = SXS_RULE_BOTTOM};
    if (s->rip.how != AT_OFFSET || !offset_fits(s->rip.offset, UINT8_MAX) ||
        s->cfa_how == CFA_UNSUPPORTED || s->rbp.how == UNSUPPORTED || s->cfa_reg > 15 ||
        s->cfa_off > INT32_MAX || s->cfa_off < INT32_MIN)
        return rule;
    rule.cfa_reg = (uint8_t)(s->cfa_reg & 15);
    rule.cfa_off = (int32_t)s->cfa_off;
    if (s->rip.offset != -8 && s->cfa_how != CFA_REG)
        return rule;
    if (s->cfa_how == CFA_PLT) {
        rule.kind = SXS_RULE_PLT;
        rule.rbp_at = (int16_t)s->plt_at;
        return rule;
    }
    if (s->cfa_how == CFA_DEREF) { /* other registers are saved relative to rbp, too */
        if (s->rbp.how != AT_RBP || s->rbp.offset > 0 || s->rbp.offset % 8 ||
            -s->rbp.offset / 8 > INT16_MAX)
            return rule;
        rule.rbp_at = (int16_t)(-s->rbp.offset / 8);
        if (s->rbx.how == AT_RBP && offset_fits(s->rbx.offset, UINT8_MAX))
            rule.rbx_at = (uint8_t)(-s->rbx.offset / 8);
        rule.kind = SXS_RULE_DEREF;
        return rule;
    }
    if (s->rbp.how == AT_OFFSET) {
        if (!offset_fits(s->rbp.offset, INT16_MAX))
            return rule;
        rule.rbp_at = (int16_t)(-s->rbp.offset / 8);
    } else if (s->rbp.how == AT_RBP) {
        /* The code between "push rbp; mov rbp, rsp" and the point from which the CFA is in
         * memory. */
        if (s->rbp.offset)
            return rule;
        rule.rbp_at = SXS_RBP_AT_RBP;
    }
    rule.kind = s->rip.offset == -8 ? SXS_RULE_CFA : SXS_RULE_FAULT;
    if (rule.kind == SXS_RULE_FAULT)
        rule.rbx_at = (uint8_t)(-s->rip.offset / 8);
    else if (s->rbx.how == AT_OFFSET && offset_fits(s->rbx.offset, UINT8_MAX))
        rule.rbx_at = (uint8_t)(-s->rbx.offset / 8);
    return rule;
}

SXS_SIGSAFE static struct saved *saved_of(struct cfi_state *s, uint64_t reg)
{
    return reg == SXS_DWARF_RBX   ? &s->rbx
           : reg == SXS_DWARF_RBP ? &s->rbp
           : reg == SXS_DWARF_RIP ? &s->rip
                                  : NULL;
}

SXS_SIGSAFE static void set_rule(struct cfi_state *s, uint64_t reg, enum how how, int64_t offset)
{
    struct saved *saved = saved_of(s, reg);
    if (saved)
        *saved = (struct saved){how, offset};
}

enum { OP_BREG0 = 0x70, OP_BREG16 = 0x80, OP_DEREF = 0x06 };

/* Only one expression for a saved register is supported, the one that compilers write: "saved at
 * rbp + n". */
SXS_SIGSAFE static void saved_expression(struct cfi_state *s, uint64_t reg, struct cfi_cursor e)
{
    uint8_t op = read_byte(&e);
    int64_t offset = read_sleb(&e);
    if (!e.failed && e.at == e.end && op == OP_BREG0 + SXS_DWARF_RBP)
        set_rule(s, reg, AT_RBP, offset);
    else
        set_rule(s, reg, UNSUPPORTED, 0);
}

/* Two expressions are supported: *(rbp + n), and the linker's for PLT entries,
 * rsp + 8 + ((rip & 15) >= n ? 8 : 0). */
SXS_SIGSAFE static void cfa_expression(struct cfi_state *s, struct cfi_cursor e)
{
    static const uint8_t plt_rest[] = {0x3f, 0x1a};            /* lit15, and */
    static const uint8_t plt_end[] = {0x2a, 0x33, 0x24, 0x22}; /* ge, lit3, shl, plus */
    uint8_t              op = read_byte(&e);
    int64_t              offset = read_sleb(&e);
    size_t               left = (size_t)(e.end - e.at);
    s->cfa_how = CFA_UNSUPPORTED;
    s->cfa_off = offset;
    if (e.failed)
        return;
    if (op == OP_BREG0 + SXS_DWARF_RBP && left == 1 && *e.at == OP_DEREF) {
        s->cfa_how = CFA_DEREF;
        s->cfa_reg = SXS_DWARF_RBP;
    } else if (op == OP_BREG0 + SXS_DWARF_RSP && left == 9 && e.at[0] == OP_BREG16 && !e.at[1] &&
               !memcmp(e.at + 2, plt_rest, 2) && e.at[4] >= 0x30 && e.at[4] < 0x40 &&
               !memcmp(e.at + 5, plt_end, 4)) {
        s->cfa_how = CFA_PLT;
        s->cfa_reg = SXS_DWARF_RSP;
        s->plt_at = e.at[4] - 0x30;
    }
}

SXS_SIGSAFE static void restore_rule(struct cfi_machine *m, uint64_t reg)
{
    struct saved *saved = saved_of(&m->now, reg);
    if (saved)
        *saved = *saved_of(&m->initial, reg);
}

/* The current state holds up to @pc. */
SXS_SIGSAFE static void advance_to(struct cfi_machine *m, struct cfi_cursor *c, uintptr_t pc)
{
    if (pc < m->pc)
        c->failed = 1; /* rows must have ascending addresses */
    else if (pc > m->target)
        m->found = 1;
    else
        m->pc = pc;
}

SXS_SIGSAFE static void advance_row(struct cfi_machine *m, struct cfi_cursor *c, uint64_t by)
{
    advance_to(m, c, m->pc + by * m->cie->code_align);
}

SXS_SIGSAFE static void def_cfa(struct cfi_state *s, uint64_t reg, int64_t offset)
{
    s->cfa_how = CFA_REG;
    s->cfa_reg = reg;
    s->cfa_off = offset;
}

SXS_SIGSAFE static void state_stack(struct cfi_machine *m, struct cfi_cursor *c, int push)
{
    if (push ? m->depth == STATE_DEPTH : m->depth == 0)
        c->failed = 1;
    else if (push)
        m->stack[m->depth++] = m->now;
    else
        m->now = m->stack[--m->depth];
}

/* Executes an instruction whose opcode has the upper two bits clear. Reads all operands, in
 * order. */
SXS_SIGSAFE static void run_extended(struct cfi_machine *m, struct cfi_cursor *c, uint8_t op)
{
    struct cfi_state *s = &m->now;
    int64_t           align = m->cie->data_align;
    uint64_t          reg;
    switch (op) {
    case 0x00: break; /* nop */
    case 0x01: /* set_loc */ advance_to(m, c, pointer(m->cfi, c, m->cie->fde_encoding)); break;
    case 0x02: advance_row(m, c, read_byte(c)); break;
    case 0x03: advance_row(m, c, read_fixed(c, 2)); break;
    case 0x04: advance_row(m, c, read_fixed(c, 4)); break;
    case 0x05: /* offset_extended */
        reg = read_uleb(c);
        set_rule(s, reg, AT_OFFSET, (int64_t)read_uleb(c) * align);
        break;
    case 0x06: restore_rule(m, read_uleb(c)); break;
    case 0x07: set_rule(s, read_uleb(c), UNDEFINED, 0); break;
    case 0x08: set_rule(s, read_uleb(c), SAME, 0); break;
    case 0x09: /* register: the value is in another register */
        reg = read_uleb(c);
        read_uleb(c);
        set_rule(s, reg, UNSUPPORTED, 0);
        break;
    case 0x0a: state_stack(m, c, 1); break;
    case 0x0b: state_stack(m, c, 0); break;
    case 0x0c: /* def_cfa */
        reg = read_uleb(c);
        def_cfa(s, reg, (int64_t)read_uleb(c));
        break;
    case 0x0d: def_cfa(s, read_uleb(c), s->cfa_off); break;
    case 0x0e: s->cfa_off = (int64_t)read_uleb(c); break;
    case 0x0f: cfa_expression(s, read_block(c, read_uleb(c))); break;
    case 0x10: /* expression */
        reg = read_uleb(c);
        saved_expression(s, reg, read_block(c, read_uleb(c)));
        break;
    case 0x11: /* offset_extended_sf */
        reg = read_uleb(c);
        set_rule(s, reg, AT_OFFSET, read_sleb(c) * align);
        break;
    case 0x12: /* def_cfa_sf */
        reg = read_uleb(c);
        def_cfa(s, reg, read_sleb(c) * align);
        break;
    case 0x13: s->cfa_off = read_sleb(c) * align; break;
    case 0x14: /* val_offset */
    case 0x15:
        reg = read_uleb(c);
        read_uleb(c);
        set_rule(s, reg, UNSUPPORTED, 0);
        break;
    case 0x16: /* val_expression */
        reg = read_uleb(c);
        read_block(c, read_uleb(c));
        set_rule(s, reg, UNSUPPORTED, 0);
        break;
    case 0x2e: read_uleb(c); break; /* GNU_args_size */
    case 0x2f:                 /* GNU_negative_offset_extended */
        reg = read_uleb(c);
        set_rule(s, reg, AT_OFFSET, -(int64_t)read_uleb(c) * align);
        break;
    default: c->failed = 1;
    }
}

SXS_SIGSAFE static int run_program(struct cfi_machine *m, struct cfi_cursor c)
{
    while (!c.failed && c.at < c.end && !m->found) {
        uint8_t  op = read_byte(&c);
        unsigned low = op & 0x3f;
        switch (op >> 6) {
        case 1: advance_row(m, &c, low); break;
        case 2:
            set_rule(&m->now, low, AT_OFFSET, (int64_t)read_uleb(&c) * m->cie->data_align);
            break;
        case 3: restore_rule(m, low); break;
        default: run_extended(m, &c, op);
        }
    }
    return c.failed ? -1 : 0;
}

SXS_SIGSAFE static int read_cie(const struct sxs_cfi *cfi, struct cfi_cursor c, struct cie *cie)
{
    const char *augmentation;
    uint8_t     version = read_byte(&c);
    memset(cie, 0, sizeof(*cie));
    if (c.failed || (version != 1 && version != 3))
        return -1;
    augmentation = (const char *)c.at;
    while (read_byte(&c))
        ;
    cie->code_align = read_uleb(&c);
    cie->data_align = read_sleb(&c);
    if (version == 1)
        read_byte(&c);
    else
        read_uleb(&c); /* the number of the return address's register; always rip */
    if (c.failed || (*augmentation && *augmentation != 'z'))
        return -1;
    if (*augmentation == 'z') {
        struct cfi_cursor data = read_block(&c, read_uleb(&c));
        cie->has_augmentation = 1;
        while (*++augmentation && !data.failed)
            switch (*augmentation) {
            case 'R': cie->fde_encoding = read_byte(&data); break;
            case 'L': read_byte(&data); break;
            case 'S': cie->is_signal = 1; break;
            case 'P': {
                uint8_t how = read_byte(&data);
                if (how != PE_OMIT)
                    pointer(cfi, &data, how & 0x0f); /* read only to skip it */
                break;
            }
            default: return -1; /* an unknown letter: the size of its data is unknown */
            }
        if (data.failed)
            return -1;
    }
    cie->initial = c;
    return c.failed ? -1 : 0;
}

/* One description (FDE) of the section. */
struct fde {
    struct cie        cie;
    uintptr_t         lo, hi;       /* the code it covers, half-open */
    struct cfi_cursor instructions; /* executed after the instructions of the CIE */
};

/* Sets *@body to the contents of the next entry. Returns 0 at the end. Entries of 4 GB or more
 * are not supported; they do not occur. */
SXS_SIGSAFE static int next_entry(struct cfi_cursor *all, struct cfi_cursor *body)
{
    uint32_t size = (uint32_t)read_fixed(all, 4);
    if (all->failed || size == 0 || size == UINT32_MAX)
        return 0;
    *body = read_block(all, size);
    return !all->failed;
}

/* Reads the CIE of a description. @body: the description's contents, read up to and including
 * the pointer to the CIE. @back: that pointer, the distance back to the CIE in bytes. */
SXS_SIGSAFE static int read_cie_of(const struct sxs_cfi *cfi, const struct cfi_cursor *body,
                                   uint32_t back, struct cie *cie)
{
    const uint8_t    *from = body->at - sizeof(back);
    struct cfi_cursor at, cie_body;
    if (body->failed || !back || back > (size_t)(from - cfi->bytes))
        return -1;
    at = (struct cfi_cursor){from - back, cfi->bytes + cfi->size, 0};
    return next_entry(&at, &cie_body) && read_fixed(&cie_body, 4) == 0
               ? read_cie(cfi, cie_body, cie)
               : -1;
}

SXS_SIGSAFE static int read_fde(const struct sxs_cfi *cfi, struct cfi_cursor *body, struct fde *fde)
{
    uintptr_t size;
    fde->lo = pointer(cfi, body, fde->cie.fde_encoding);
    size = pointer(cfi, body, fde->cie.fde_encoding & 0x0f);
    fde->hi = fde->lo + size;
    if (fde->cie.has_augmentation)
        read_block(body, read_uleb(body));
    fde->instructions = *body;
    return body->failed || fde->hi < fde->lo ? -1 : 0;
}

/* Finds the row for @pc in the description @fde, whose range and CIE have been read. */
SXS_SIGSAFE static struct sxs_cfi_row row_at(const struct sxs_cfi *cfi, const struct fde *fde,
                                             uintptr_t pc)
{
    struct sxs_cfi_row row = {.lo = fde->lo, .hi = fde->hi, .rule = {.kind = SXS_RULE_NONE}};
    struct cfi_machine m = {.cfi = cfi, .cie = &fde->cie};
    if (pc < fde->lo || pc >= fde->hi)
        return row;
    m.pc = fde->lo;
    m.target = UINTPTR_MAX; /* execute all: a CIE's instructions do not advance the address */
    if (run_program(&m, fde->cie.initial))
        return row;
    m.initial = m.now;
    m.pc = fde->lo;
    m.target = pc;
    if (run_program(&m, fde->instructions))
        return row;
    row.from = m.pc;
    row.rule = rule_of(&m);
    return row;
}

SXS_SIGSAFE struct sxs_cfi_row sxs_cfi_find(const struct sxs_cfi *cfi, size_t at, uintptr_t pc)
{
    struct cfi_cursor all = {cfi->bytes + (at < cfi->size ? at : cfi->size), cfi->bytes + cfi->size,
                             0};
    struct cfi_cursor body;
    struct fde        fde;
    uint32_t          back;
    if (!next_entry(&all, &body))
        return (struct sxs_cfi_row){.rule = {.kind = SXS_RULE_NONE}};
    back = (uint32_t)read_fixed(&body, 4);
    if (read_cie_of(cfi, &body, back, &fde.cie) || read_fde(cfi, &body, &fde))
        return (struct sxs_cfi_row){.rule = {.kind = SXS_RULE_NONE}};
    return row_at(cfi, &fde, pc);
}

SXS_SIGSAFE struct sxs_cfi_row sxs_cfi_find_apart(const struct sxs_cfi *cie,
                                                  const struct sxs_cfi *fde, uintptr_t pc)
{
    struct cfi_cursor all_cie = {cie->bytes, cie->bytes + cie->size, 0};
    struct cfi_cursor all_fde = {fde->bytes, fde->bytes + fde->size, 0};
    struct cfi_cursor cie_body, body;
    struct fde        found;
    if (!next_entry(&all_cie, &cie_body) || read_fixed(&cie_body, 4) != 0 ||
        read_cie(cie, cie_body, &found.cie) || !next_entry(&all_fde, &body) ||
        !read_fixed(&body, 4) || read_fde(fde, &body, &found))
        return (struct sxs_cfi_row){.rule = {.kind = SXS_RULE_NONE}};
    return row_at(fde, &found, pc);
}

size_t sxs_cfi_size(const uint8_t *bytes, size_t size)
{
    struct cfi_cursor all = {bytes, bytes + size, 0}, body;
    while (next_entry(&all, &body))
        ;
    return (size_t)(all.at - bytes);
}

int sxs_cfi_each(const struct sxs_cfi *cfi, sxs_cfi_each_fn *on, void *user)
{
    struct cfi_cursor all = {cfi->bytes, cfi->bytes + cfi->size, 0}, body;
    const uint8_t    *cie_at = NULL; /* the CIE that is in fde.cie */
    int               cie_good = 0, rc = 0;
    struct fde        fde;
    while (!rc && next_entry(&all, &body)) {
        const uint8_t *from = body.at;
        uint32_t       back = (uint32_t)read_fixed(&body, 4);
        if (body.failed || !back)
            continue; /* too short, or a CIE, which is read when a description refers to it */
        if (from - back != cie_at || !cie_at) {
            cie_at = from - back;
            cie_good = read_cie_of(cfi, &body, back, &fde.cie) == 0;
        }
        if (cie_good && !read_fde(cfi, &body, &fde) && fde.lo &&
            fde.hi > fde.lo) /* else the linker dropped the function */
            rc = on(user, (size_t)(from - 4 - cfi->bytes), fde.lo, fde.hi);
    }
    return rc;
}
