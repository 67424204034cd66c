/* SPDX-License-Identifier: MIT */
/** il_internal.h - what the IL library's files share. */
#ifndef SXS_INSTR_IL_INTERNAL_H
#define SXS_INSTR_IL_INTERNAL_H

#include "include/sxs_il.h"

#define RARE(x) __builtin_expect(!!(x), 0)

/* Bits of headers and sections (ECMA-335 II.25.4). */
enum {
    TINY = 0x2,
    FAT = 0x3,
    FORMAT_MASK = 0x3,
    MORE_SECTIONS = 0x8,
    INIT_LOCALS = 0x10,
    FAT_WORDS = 3, /* a fat header's size in words of four bytes, in its upper four bits */
    FAT_HEADER = 12,
    TINY_CODE_MAX = 63,
    TINY_STACK = 8,
    SECTION_CLAUSES = 0x1,
    SECTION_KIND = 0x3f,
    SECTION_FAT = 0x40,
    SECTION_MORE = 0x80,
    SMALL_CLAUSE = 12,
    FAT_CLAUSE = 24,
};

/** sxs_il_alloc - @size bytes of the body's arena, aligned to 16, not zeroed. NULL: no memory. */
void *sxs_il_alloc(struct sxs_il_body *body, size_t size);

/** sxs_il_give_back - the latest allocation, of @size, needs but @used of it. */
void sxs_il_give_back(struct sxs_il_body *body, const void *at, size_t size, size_t used);

/** sxs_il_set_error - fill in @error. NULL: nothing is done. Callers that return a status use sxs_il_fail(). */
void sxs_il_set_error(struct sxs_il_error *error, enum sxs_il_status status, uint32_t offset,
                      const char *format, ...) __attribute__((format(printf, 4, 5)));

/** sxs_il_fail(error, status, offset, format, ...) - fill in @error, if there is one; the value is @status.
 *  A macro, so that an analyzer of the calling function sees that it is an error. @status: a constant. */
#define sxs_il_fail(error, status, ...) \
    (sxs_il_set_error(error, status, __VA_ARGS__), (int)(status))

/** sxs_il_old_offset - for an error at @insn: of the nearest instruction before it that is old. */
uint32_t sxs_il_old_offset(const struct sxs_il_insn *insn);

static inline const struct sxs_il_opcode_info *sxs_il_info(const struct sxs_il_insn *insn)
{
    return &sxs_il_opcodes[insn->opcode];
}

static inline int sxs_il_is_prefix(const struct sxs_il_insn *insn)
{
    return sxs_il_info(insn)->flow == SXS_IL_FLOW_PREFIX;
}

static inline int sxs_il_is_branch(const struct sxs_il_insn *insn)
{
    unsigned operand = sxs_il_info(insn)->operand;
    return operand == SXS_IL_OPERAND_BRANCH1 || operand == SXS_IL_OPERAND_BRANCH4;
}

/** sxs_il_number - number 0, 1, 2... for each instruction of the list, in `index`. Returns how many. */
static inline uint32_t sxs_il_number(struct sxs_il_body *body)
{
    uint32_t n = 0;
    for (struct sxs_il_insn *i = body->first; i; i = i->next)
        i->index = n++;
    return n;
}

/** sxs_il_written_opcode - a branch's, in the form it was last written in. */
unsigned sxs_il_written_opcode(const struct sxs_il_insn *insn);

/** sxs_il_with_prefixes - the first of its prefixes, or itself. */
struct sxs_il_insn *sxs_il_with_prefixes(struct sxs_il_insn *insn);

/** sxs_il_end_target - as sxs_il_target(), for the last of a range: what precedes a removed one. */
struct sxs_il_insn *sxs_il_end_target(struct sxs_il_insn *insn);

/* ---- regions: the parts that clauses divide a body into ------------------------------------------ */

enum sxs_il_region_kind { SXS_IL_IN_TRY, SXS_IL_IN_FILTER, SXS_IL_IN_HANDLER };

struct sxs_il_region {
    struct sxs_il_insn *first, *last;
    uint16_t            parent; /* 0: the method; else a region's number, which is its index + 1 */
    uint16_t            clause; /* the first one it belongs to */
    uint8_t             kind;   /* enum sxs_il_region_kind */
};

struct sxs_il_regions {
    struct sxs_il_region *all; /* outer ones first */
    uint32_t              n;
};

/**
 * sxs_il_find_regions - check clauses' ranges and nesting; set `region` of each instruction to the number
 * of the innermost around it, 0: none. Instructions are numbered.
 */
int sxs_il_find_regions(struct sxs_il_body *body, struct sxs_il_regions *regions,
                        struct sxs_il_error *error);

/** sxs_il_may_go - may control go from @a to @b? @leaving: by leave. */
int sxs_il_may_go(const struct sxs_il_body *body, const struct sxs_il_regions *regions,
                  const struct sxs_il_insn *a, const struct sxs_il_insn *b, int leaving);

#endif
