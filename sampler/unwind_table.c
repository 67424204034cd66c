/* SPDX-License-Identifier: MIT */
#include "sampler/unwind_table.h"

#include <stdlib.h>
#include <string.h>

#include "manager/base/safe_read.h"

#define MAX_RULES 65535u /* rule_of is 16 bits wide; the largest runtime library needs 5,000 */
#define HASH_SIZE 131072u
#define PADDING   16u /* between functions: never executed, so it takes its predecessor's rule */

struct row {
    uint32_t pc;
    uint16_t rule;
};

struct function {
    uint32_t lo, hi, first_row, n_rows;
    int      made_room; /* see is_hijack_thunk() */
};

struct builder {
    uintptr_t        lo, hi;
    struct row      *rows;
    struct function *functions;
    struct sxs_rule *rules;
    uint16_t        *hash; /* index into rules, plus one; 0: free */
    uint32_t         n_rows, n_functions, n_rules, room_rows, room_functions, room_rules;
    int              skip; /* the function lies outside of [lo, hi) */
};

static int grow(void **array, uint32_t *room, uint32_t n, size_t size)
{
    void    *more;
    uint32_t next = *room ? *room * 2 : 1024;
    if (n < *room)
        return 0;
    more = realloc(*array, next * size);
    if (!more)
        return -1;
    *array = more;
    *room = next;
    return 0;
}

/* The number of @rule, a new one if it is the first of its kind; 0 (none) when all are taken. */
static int intern(struct builder *b, const struct sxs_rule *rule)
{
    uint64_t bits;
    memcpy(&bits, rule, sizeof(bits));
    uint32_t at = (uint32_t)((bits * UINT64_C(0x9e3779b97f4a7c15)) >> 47);
    for (;; at = (at + 1) % HASH_SIZE) {
        uint16_t known = b->hash[at % HASH_SIZE];
        if (!known || known > b->n_rules)
            break;
        if (!memcmp(&b->rules[known - 1], rule, sizeof(*rule)))
            return known - 1;
    }
    if (b->n_rules == MAX_RULES)
        return 0;
    void *rules = b->rules;
    if (grow(&rules, &b->room_rules, b->n_rules, sizeof(*b->rules)))
        return -1;
    b->rules = rules;
    b->rules[b->n_rules++] = *rule;
    b->hash[at % HASH_SIZE] = (uint16_t)b->n_rules;
    return (int)b->n_rules - 1;
}

/* CLRs stop a thread by replacing a return address of its stack with that of a thunk. Nothing called
 * the thunk, so its first push makes room for the return address: it does not lie above, as its
 * description in .eh_frame has it, but there. Told by its code, the same in 8.0, 9.0 and 10.0. */
static int is_hijack_thunk(uintptr_t lo, uintptr_t hi)
{
    static const uint8_t begins[] = {0x50, 0x55, 0x53, 0x41, 0x57, 0x41, 0x56,
                                     0x41, 0x55, 0x41, 0x54}; /* rax, rbp, rbx, r15, r14, r13, r12 */
    uint8_t              code[sizeof(begins)];
    return hi - lo >= 48 && hi - lo <= 96 &&
           sxs_safe_read(code, lo, sizeof(code)) == sizeof(code) &&
           memcmp(code, begins, sizeof(code)) == 0;
}

static int on_function(void *user, uintptr_t lo, uintptr_t hi)
{
    struct builder *b = user;
    void           *functions = b->functions;
    b->skip = lo < b->lo || hi > b->hi;
    if (b->skip)
        return 0;
    if (grow(&functions, &b->room_functions, b->n_functions, sizeof(*b->functions)))
        return -1;
    b->functions = functions;
    b->functions[b->n_functions++] = (struct function){
        .lo = (uint32_t)(lo - b->lo), .hi = (uint32_t)(hi - b->lo), .first_row = b->n_rows,
        .made_room = is_hijack_thunk(lo, hi)};
    return 0;
}

static int on_row(void *user, uintptr_t pc, const struct sxs_rule *rule)
{
    struct builder  *b = user;
    struct function *f;
    struct sxs_rule  moved;
    int              number;
    if (b->skip)
        return 0;
    f = &b->functions[b->n_functions - 1];
    if (pc < b->lo + f->lo || pc >= b->lo + f->hi)
        return 0;
    moved = *rule;
    if (f->made_room && pc > b->lo + f->lo && rule->kind == SXS_RULE_CFA)
        moved.cfa_off -= 8;
    number = intern(b, &moved);
    void *rows = b->rows;
    if (number < 0 || grow(&rows, &b->room_rows, b->n_rows, sizeof(*b->rows)))
        return -1;
    b->rows = rows;
    if (f->n_rows && b->rows[b->n_rows - 1].pc == (uint32_t)(pc - b->lo)) {
        b->rows[b->n_rows - 1].rule =
            (uint16_t)number; /* no code in between: the later one holds */
        return 0;
    }
    if (f->n_rows && b->rows[b->n_rows - 1].pc > (uint32_t)(pc - b->lo))
        return 0; /* damaged: rows go forward */
    b->rows[b->n_rows++] = (struct row){(uint32_t)(pc - b->lo), (uint16_t)number};
    f->n_rows++;
    return 0;
}

static int by_lo(const void *a, const void *b)
{
    const struct function *x = a, *y = b;
    return x->lo < y->lo ? -1 : x->lo > y->lo;
}

static void put(struct sxs_unwind_table *t, uint32_t pc, uint16_t rule)
{
    if (t->n_rows && t->rule_of[t->n_rows - 1] == rule)
        return;
    if (t->n_rows && t->pcs[t->n_rows - 1] == pc)
        t->n_rows--;
    t->pcs[t->n_rows] = pc;
    t->rule_of[t->n_rows++] = rule;
}

/* Functions in address order, gaps without rules; of functions that overlap the first keeps. */
static void assemble(const struct builder *b, struct sxs_unwind_table *t)
{
    uint32_t end = 0;
    for (uint32_t i = 0; i < b->n_functions; i++) {
        const struct function *f = &b->functions[i];
        if (f->lo < end)
            continue;
        if (f->lo > end && (i == 0 || f->lo - end >= PADDING))
            put(t, end, 0);
        for (uint32_t r = 0; r < f->n_rows; r++)
            put(t, b->rows[f->first_row + r].pc, b->rows[f->first_row + r].rule);
        end = f->hi;
    }
    put(t, end, 0);
}

static int finish(const struct builder *b, struct sxs_unwind_table *t)
{
    size_t room = (size_t)b->n_rows + b->n_functions + 2;
    void  *pcs, *rule_of;
    t->pcs = malloc(room * sizeof(*t->pcs));
    t->rule_of = malloc(room * sizeof(*t->rule_of));
    t->rules = malloc(b->n_rules * sizeof(*t->rules));
    if (!t->pcs || !t->rule_of || !t->rules)
        return -1;
    qsort(b->functions, b->n_functions, sizeof(*b->functions), by_lo);
    assemble(b, t);
    t->n_rules = b->n_rules;
    memcpy(t->rules, b->rules, b->n_rules * sizeof(*t->rules));
    pcs = realloc(t->pcs, t->n_rows * sizeof(*t->pcs));
    if (pcs)
        t->pcs = pcs;
    rule_of = realloc(t->rule_of, t->n_rows * sizeof(*t->rule_of));
    if (rule_of)
        t->rule_of = rule_of;
    return 0;
}

struct sxs_unwind_table *sxs_unwind_table_make(const struct sxs_cfi *cfi, uintptr_t lo,
                                               uintptr_t hi)
{
    static const struct sxs_rule none = {.kind = SXS_RULE_NONE};
    struct sxs_unwind_table     *t = calloc(1, sizeof(*t));
    struct builder               b = {.lo = lo, .hi = hi};
    struct sxs_cfi_sink          sink = {on_function, on_row, &b};
    int                          failed;
    b.hash = calloc(HASH_SIZE, sizeof(*b.hash));
    failed = !t || !b.hash || hi - lo > UINT32_MAX || intern(&b, &none) < 0 ||
             sxs_cfi_read(cfi, &sink, &t->counts) || finish(&b, t);
    free(b.hash);
    free(b.rows);
    free(b.functions);
    free(b.rules);
    if (!failed)
        return t;
    sxs_unwind_table_free(t);
    return NULL;
}

void sxs_unwind_table_free(struct sxs_unwind_table *table)
{
    if (!table)
        return;
    free(table->pcs);
    free(table->rule_of);
    free(table->rules);
    free(table);
}

SXS_SIGSAFE struct sxs_rule sxs_unwind_table_find(const struct sxs_unwind_table *table,
                                                  uint32_t                       offset)
{
    uint32_t lo = 0, hi = table->n_rows;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (table->pcs[mid] <= offset)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo ? table->rules[table->rule_of[lo - 1]] : (struct sxs_rule){.kind = SXS_RULE_NONE};
}

size_t sxs_unwind_table_size(const struct sxs_unwind_table *table)
{
    return sizeof(*table) + table->n_rows * (sizeof(*table->pcs) + sizeof(*table->rule_of)) +
           table->n_rules * sizeof(*table->rules);
}
