/* SPDX-License-Identifier: MIT */
/** instr/il/internal.h - declarations that the files of the IL library share. */
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
    FAT_WORDS = 3, /* size of a fat header in words of 4 bytes; bits 12 to 15 of the header */
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

/** sxs_il_alloc - allocate @size bytes from the body's arena, aligned to 16, not zeroed. Returns
 *  NULL without memory. */
void *sxs_il_alloc(struct sxs_il_body *body, size_t size);

/** sxs_il_give_back - shrink the latest allocation, @at, from @size to @used bytes. Does nothing
 *  when @at is not the latest allocation. */
void sxs_il_give_back(struct sxs_il_body *body, const void *at, size_t size, size_t used);

/** sxs_il_set_error - fill in @error; NULL: do nothing. Functions that return a status use
 *  sxs_il_fail() instead. */
void sxs_il_set_error(struct sxs_il_error *error, enum sxs_il_status status, uint32_t offset,
                      const char *format, ...) __attribute__((format(printf, 4, 5)));

/** sxs_il_fail(error, status, offset, format, ...) - fill in @error, unless it is NULL. The value
 *  of the expression is @status, which must be a constant. This is a macro so that a static
 *  analyzer sees in the calling function that the value is not 0. */
#define sxs_il_fail(error, status, ...) \
    (sxs_il_set_error(error, status, __VA_ARGS__), (int)(status))

/** sxs_il_old_offset - return the old offset of @insn, or, when it is new, of the nearest old
 *  instruction before it; SXS_IL_NONE: there is none. For messages about @insn. */
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

/** sxs_il_number - set `index` of the instructions in the list to 0, 1, 2... Returns their
 *  number. */
static inline uint32_t sxs_il_number(struct sxs_il_body *body)
{
    uint32_t n = 0;
    for (struct sxs_il_insn *i = body->first; i; i = i->next)
        i->index = n++;
    return n;
}

/** sxs_il_written_opcode - return the opcode of @insn; of a branch, the long or short form in which
 *  the branch was last written. */
unsigned sxs_il_written_opcode(const struct sxs_il_insn *insn);

/** sxs_il_with_prefixes - return the first prefix of @insn, or @insn when it has none. */
struct sxs_il_insn *sxs_il_with_prefixes(struct sxs_il_insn *insn);

/** sxs_il_end_target - like sxs_il_target(), for the last instruction of a range: a removed
 *  instruction means its predecessor. */
struct sxs_il_insn *sxs_il_end_target(struct sxs_il_insn *insn);

/* ---- regions: try blocks, filters and handlers ----------------------------------------------- */

enum sxs_il_region_kind { SXS_IL_IN_TRY, SXS_IL_IN_FILTER, SXS_IL_IN_HANDLER };

struct sxs_il_region {
    struct sxs_il_insn *first, *last;
    uint16_t            parent; /* number of the region around it: index + 1; 0: the method */
    uint16_t            clause; /* index of the first clause it belongs to */
    uint8_t             kind;   /* enum sxs_il_region_kind */
};

struct sxs_il_regions {
    struct sxs_il_region *all; /* outer regions first */
    uint32_t              n;
};

/**
 * sxs_il_find_regions - check the ranges and the nesting of clauses, and fill in @regions.
 * Sets `region` of each instruction to the number of the innermost region around it; 0: none.
 * Call sxs_il_number() before. Returns 0 or an enum sxs_il_status.
 */
int sxs_il_find_regions(struct sxs_il_body *body, struct sxs_il_regions *regions,
                        struct sxs_il_error *error);

/** sxs_il_may_go - is control allowed to go from @a to @b? @leaving: nonzero when @a is a leave. */
int sxs_il_may_go(const struct sxs_il_body *body, const struct sxs_il_regions *regions,
                  const struct sxs_il_insn *a, const struct sxs_il_insn *b, int leaving);

#endif
