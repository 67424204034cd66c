/* SPDX-License-Identifier: MIT */
#include "stackwalk/fast/unwind_table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/pages.h"
#include "base/safe_read.h"

/* Largest gap between functions that is padding. The padding gets the rule of the function
 * before it; it is never executed. */
#define PADDING 16u

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

/* Allocates memory that will be written completely. All its pages are made present at once,
 * instead of one page fault each. */
static void *allocate_whole(size_t size)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    char     *at = sxs_pages_alloc(size);
    size_t    skip = -(uintptr_t)at & (page - 1); /* bytes up to the first page boundary */
    if (at && size > skip + page) /* fails on older kernels, which is harmless */
        (void)madvise(at + skip, (size - skip) & ~(page - 1), MADV_POPULATE_WRITE);
    return at;
}

/* ---- the list of functions ---- */

/* Copies the list of functions from .eh_frame_hdr into @t. Returns 0, 1 if there is no list or
 * it is not valid, or -1 when memory ran out. */
static int copy_functions(const struct sxs_elf *elf, struct sxs_unwind_table *t)
{
    struct sxs_cfi_list head;
    const uint8_t      *from = (const uint8_t *)elf->header + sizeof(head);
    uint32_t            n = 0;
    if (elf->header_size < sizeof(head))
        return 1;
    memcpy(&head, (const void *)elf->header, sizeof(head));
    if (!sxs_cfi_list_is_known(&head) || !head.n || head.n > (elf->header_size - sizeof(head)) / 8)
        return 1;
    t->functions = allocate_whole(head.n * sizeof(*t->functions));
    if (!t->functions)
        return -1;
    for (uint32_t i = 0; i < head.n; i++) {
        int32_t   pair[2];
        uintptr_t lo, at;
        memcpy(pair, from + i * sizeof(pair), sizeof(pair));
        lo = elf->header + (uintptr_t)(intptr_t)pair[0];
        at = elf->header + (uintptr_t)(intptr_t)pair[1];
        if (lo < elf->lo || lo >= elf->hi)
            continue;
        if (at < elf->eh_frame || at - elf->eh_frame >= t->cfi.size ||
            (n && lo - elf->lo < t->functions[n - 1].lo)) {
            sxs_pages_free(t->functions);
            t->functions = NULL;
            return 1;
        }
        t->functions[n++] =
            (struct sxs_unwind_function){(uint32_t)(lo - elf->lo), (uint32_t)(at - elf->eh_frame)};
    }
    t->n_functions = n;
    return 0;
}

struct table_building {
    struct sxs_unwind_table *t;
    uintptr_t                hi;
    uint32_t                 room;
};

static int on_function(void *user, size_t at, uintptr_t lo, uintptr_t hi)
{
    struct table_building   *found = user;
    struct sxs_unwind_table *t = found->t;
    if (lo < t->lo || hi > found->hi)
        return 0;
    if (t->n_functions == found->room) {
        uint32_t                    room = found->room ? found->room * 2 : 256;
        struct sxs_unwind_function *more =
            sxs_pages_realloc(t->functions, room * sizeof(*more));
        if (!more)
            return -1;
        t->functions = more;
        found->room = room;
    }
    t->functions[t->n_functions++] =
        (struct sxs_unwind_function){(uint32_t)(lo - t->lo), (uint32_t)at};
    return 0;
}

static int by_lo(const void *a, const void *b)
{
    const struct sxs_unwind_function *x = a, *y = b;
    return x->lo < y->lo ? -1 : x->lo > y->lo;
}

static int find_functions(const struct sxs_elf *elf, struct sxs_unwind_table *t)
{
    struct table_building found = {t, elf->hi, 0};
    if (sxs_cfi_each(&t->cfi, on_function, &found))
        return -1;
    if (t->n_functions)
        qsort(t->functions, t->n_functions, sizeof(*t->functions), by_lo);
    return 0;
}

struct sxs_unwind_table *sxs_unwind_table_make(const struct sxs_elf *elf)
{
    struct sxs_unwind_table *t = calloc(1, sizeof(*t));
    size_t                   size;
    int                      rc = 0;
    if (!t)
        return NULL;
    t->lo = elf->lo;
    t->bias = elf->bias;
    if (!elf->eh_frame)
        return t;
    size = sxs_cfi_size((const uint8_t *)elf->eh_frame, elf->eh_frame_room);
    if (!size || size > UINT32_MAX || elf->hi - elf->lo > UINT32_MAX)
        return t;
    t->bytes = allocate_whole(size);
    if (!t->bytes) {
        sxs_unwind_table_free(t);
        return NULL;
    }
    memcpy(t->bytes, (const void *)elf->eh_frame, size);
    t->cfi = (struct sxs_cfi){t->bytes, size, elf->eh_frame};
    rc = copy_functions(elf, t);
    if (rc > 0)
        rc = find_functions(elf, t);
    if (!rc)
        return t;
    sxs_unwind_table_free(t);
    return NULL;
}

void sxs_unwind_table_free(struct sxs_unwind_table *table)
{
    if (!table)
        return;
    sxs_pages_free(table->bytes);
    sxs_pages_free(table->functions);
    free(table);
}

/* ---- lookup, in signal handlers ---- */

/* Whether the code at @lo is a CLR's thunk for hijacked returns. A CLR stops a thread by
 * replacing a return address on its stack by the address of this thunk. Nothing called the
 * thunk, so its first push makes room for the true return address. Its description in .eh_frame
 * wrongly counts a return address above that push. The thunk is recognized by its code, which is
 * the same in 8.0, 9.0 and 10.0. */
SXS_SIGSAFE static int is_hijack_thunk(uintptr_t lo, uintptr_t size)
{
    static const uint8_t begins[] = {
        0x50, 0x55, 0x53, 0x41, 0x57, 0x41,
        0x56, 0x41, 0x55, 0x41, 0x54}; /* push rax, rbp, rbx, r15, r14, r13, r12 */
    uint8_t code[sizeof(begins)];
    return size >= 48 && size <= 96 && sxs_safe_read(code, lo, sizeof(code)) == sizeof(code) &&
           memcmp(code, begins, sizeof(code)) == 0;
}

/* The number of functions that begin at or before @offset. */
SXS_SIGSAFE static uint32_t count_up_to(const struct sxs_unwind_table *t, uintptr_t offset)
{
    uint32_t lo = 0, hi = t->n_functions;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (t->functions[mid].lo <= offset)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

SXS_SIGSAFE struct sxs_unwind_rule sxs_unwind_table_find(const struct sxs_unwind_table *table,
                                                         uintptr_t address, uintptr_t bias)
{
    uintptr_t          pc = address - bias + table->bias;
    uint32_t           n = count_up_to(table, pc - table->lo);
    struct sxs_cfi_row row;
    if (!n)
        return (struct sxs_unwind_rule){.kind = SXS_RULE_NONE};
    row = sxs_cfi_find(&table->cfi, table->functions[n - 1].at, pc);
    if (row.hi && pc >= row.hi && n < table->n_functions &&
        table->lo + table->functions[n].lo - row.hi < PADDING)
        row = sxs_cfi_find(&table->cfi, table->functions[n - 1].at, row.hi - 1);
    if (row.rule.kind == SXS_RULE_CFA && row.from > row.lo &&
        is_hijack_thunk(row.lo - table->bias + bias, row.hi - row.lo))
        row.rule.cfa_off -= 8;
    return row.rule;
}

SXS_SIGSAFE int sxs_unwind_table_description(const struct sxs_unwind_table *table,
                                             uintptr_t address, uintptr_t bias, uintptr_t *start,
                                             uintptr_t *description)
{
    uintptr_t moved = bias - table->bias; /* where the file is, from where it was copied */
    uint32_t  n = count_up_to(table, address - moved - table->lo);
    if (!n)
        return 0;
    *start = table->lo + table->functions[n - 1].lo + moved;
    *description = table->cfi.address + table->functions[n - 1].at + moved;
    return 1;
}

size_t sxs_unwind_table_size(const struct sxs_unwind_table *table)
{
    return sizeof(*table) + table->cfi.size + table->n_functions * sizeof(*table->functions);
}
