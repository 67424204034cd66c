/* SPDX-License-Identifier: MIT */
#include "stackwalk/fast/walk_unwind.h"

#include <libunwind.h> /* without UNW_LOCAL_ONLY: the functions for other processes */
#include <string.h>

#include "arch/arch.h"
#include "base/session_state.h"
#include "base/base.h"
#include "base/guarded.h"
#include "base/own_library.h"
#include "base/safe_read.h"
#include "stackwalk/fast/tables.h"
#include "stackwalk/fast/unwind_table.h"
#include "stackwalk/fast/walk_clock.h"
#include "sxs_sonames.h"

#define TEXT_OF(name) #name
#define NAME_OF(name) TEXT_OF(name) /* the macros of libunwind's header give the symbol's name */

/* In the library, but not in its header: the search in a table that find_proc_info() may use. */
typedef int search_fn(unw_addr_space_t as, unw_word_t ip, unw_dyn_info_t *table,
                      unw_proc_info_t *info, int need_unwind_info, void *arg);

static struct {
    __typeof__(&unw_init_remote) init;
    __typeof__(&unw_step)        step;
    __typeof__(&unw_get_reg)     get_reg;
    search_fn                   *search;
    unw_addr_space_t             space; /* NULL: libunwind cannot be used */
} unwind;
SXS_SESSION_KEEPS(unwind);

/* A table of one function, as .eh_frame_hdr has it: both are offsets from the table's base. */
struct one_function {
    int32_t start, description;
};

/* One walk: the argument of the functions that libunwind calls. */
struct unwind_walk {
    const ucontext_t             *uc;
    const struct sxs_walk_limits *limits;
    const struct sxs_file_index  *index;
    /* Of the file that find_proc_info() found last: */
    const struct sxs_cfi *cfi;      /* the copy of its .eh_frame; NULL: none */
    uintptr_t             eh_frame; /* address of the original */
    struct one_function   function; /* the table that libunwind searches */
};

/* Copies the word at @at from a copy of @size bytes whose original begins at @from. The parts of the
 * word that lie outside are 0, because libunwind reads aligned words. Returns 0 when the whole word
 * lies outside. */
SXS_SIGSAFE static int copied(const void *copy, size_t size, uintptr_t from, uintptr_t at,
                              unw_word_t *word)
{
    uint8_t bytes[sizeof(*word)] = {0};
    int     any = 0;
    for (size_t i = 0; i < sizeof(bytes); i++)
        if (at + i >= from && at + i - from < size) {
            bytes[i] = ((const uint8_t *)copy)[at + i - from];
            any = 1;
        }
    memcpy(word, bytes, sizeof(*word));
    return any;
}

SXS_SIGSAFE static int access_mem(unw_addr_space_t as, unw_word_t at, unw_word_t *word,
                                  int is_write, void *arg)
{
    const struct unwind_walk     *w = arg;
    const struct sxs_walk_limits *limits = w->limits;
    (void)as;
    if (is_write)
        return -UNW_EINVAL;
    if (at >= limits->stack_lo && at + sizeof(*word) <= limits->stack_hi && !limits->checked) {
        uintptr_t value;
        SXS_GUARDED_LOAD(value, at, 0, gone);
        *word = value;
        return 0;
    }
    if (copied(&w->function, sizeof(w->function), (uintptr_t)&w->function, at, word) ||
        (w->cfi && copied(w->cfi->bytes, w->cfi->size, w->eh_frame, at, word)))
        return 0;
    return sxs_safe_read(word, at, sizeof(*word)) == sizeof(*word) ? 0 : -UNW_EINVAL;
gone:
    return -UNW_EINVAL;
}

SXS_SIGSAFE static int find_proc_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *info,
                                      int need_unwind_info, void *arg)
{
    struct unwind_walk      *w = arg;
    const struct sxs_module *module = sxs_tables_find(w->index, ip);
    unw_dyn_info_t           table;
    uintptr_t                start, description;
    w->cfi = NULL;
    if (!module ||
        !sxs_unwind_table_description(module->table, ip, module->bias, &start, &description))
        return -UNW_ENOINFO;
    w->cfi = &module->table->cfi;
    w->eh_frame = w->cfi->address - module->table->bias + module->bias;
    w->function = (struct one_function){0, (int32_t)(description - start)};
    memset(&table, 0, sizeof(table));
    table.start_ip = start;
    table.end_ip = module->hi;
    table.format = UNW_INFO_FORMAT_REMOTE_TABLE;
    table.u.rti.segbase = start;
    table.u.rti.table_len = sizeof(w->function) / sizeof(unw_word_t);
    table.u.rti.table_data = (unw_word_t)&w->function;
    return unwind.search(as, ip, &table, info, need_unwind_info, arg);
}

/* Called by no walk; libunwind frees what it has allocated itself. */
SXS_SIGSAFE static void put_unwind_info(unw_addr_space_t as, unw_proc_info_t *info, void *arg)
{
    (void)as;
    (void)info;
    (void)arg;
}

SXS_SIGSAFE static int no_dynamic_list(unw_addr_space_t as, unw_word_t *list, void *arg)
{
    (void)as;
    (void)list;
    (void)arg;
    return -UNW_ENOINFO;
}

SXS_SIGSAFE static int access_reg(unw_addr_space_t as, unw_regnum_t reg, unw_word_t *value,
                                  int is_write, void *arg)
{
    static const uint8_t registers[] = {
        [UNW_X86_64_RAX] = REG_RAX, [UNW_X86_64_RDX] = REG_RDX, [UNW_X86_64_RCX] = REG_RCX,
        [UNW_X86_64_RBX] = REG_RBX, [UNW_X86_64_RSI] = REG_RSI, [UNW_X86_64_RDI] = REG_RDI,
        [UNW_X86_64_RBP] = REG_RBP, [UNW_X86_64_RSP] = REG_RSP, [UNW_X86_64_R8] = REG_R8,
        [UNW_X86_64_R9] = REG_R9,   [UNW_X86_64_R10] = REG_R10, [UNW_X86_64_R11] = REG_R11,
        [UNW_X86_64_R12] = REG_R12, [UNW_X86_64_R13] = REG_R13, [UNW_X86_64_R14] = REG_R14,
        [UNW_X86_64_R15] = REG_R15, [UNW_X86_64_RIP] = REG_RIP,
    };
    const struct unwind_walk *w = arg;
    (void)as;
    if (is_write || reg < 0 || (size_t)reg >= ARRAY_LEN(registers))
        return -UNW_EBADREG;
    *value = (unw_word_t)w->uc->uc_mcontext.gregs[registers[reg]];
    return 0;
}

SXS_SIGSAFE static int access_fpreg(unw_addr_space_t as, unw_regnum_t reg, unw_fpreg_t *value,
                                    int is_write, void *arg)
{
    (void)as;
    (void)reg;
    (void)value;
    (void)is_write;
    (void)arg;
    return -UNW_EBADREG;
}

/* A later libunwind may have more functions than the header that this was compiled with. */
static union {
    unw_accessors_t known;
    void           *room[32];
} accessors = {.known = {.find_proc_info = find_proc_info,
                         .put_unwind_info = put_unwind_info,
                         .get_dyn_info_list_addr = no_dynamic_list,
                         .access_mem = access_mem,
                         .access_reg = access_reg,
                         .access_fpreg = access_fpreg}};
SXS_SESSION_KEEPS(accessors);

/* Stores the address of a function in *out, which may be a pointer of any type, as POSIX requires
 * for dlsym(). Returns 1, or 0 when it is not found. */
static int find(void *library, const char *name, void **out)
{
    *out = library ? dlsym(library, name) : NULL;
    return *out != NULL;
}

int sxs_walk_unwind_prepare(void)
{
    static const char *const sonames[] = {SXS_LIBUNWIND_REMOTE_SONAMES};

    __typeof__(&unw_create_addr_space)  create;
    __typeof__(&unw_set_caching_policy) set_caching;
    void                               *library;
    ucontext_t                          here;

    const struct sxs_walk_limits limits = {.max = 1};
    struct unwind_walk           w = {.uc = &here, .limits = &limits};
    unw_cursor_t                 cursor;
    if (unwind.space)
        return 0;
    library = sxs_own_library_open(sonames, ARRAY_LEN(sonames)); /* never unloaded */
    memset(&here, 0, sizeof(here));
    if (!find(library, NAME_OF(unw_init_remote), (void **)&unwind.init) ||
        !find(library, NAME_OF(unw_step), (void **)&unwind.step) ||
        !find(library, NAME_OF(unw_get_reg), (void **)&unwind.get_reg) ||
        !find(library, NAME_OF(UNW_OBJ(dwarf_search_unwind_table)), (void **)&unwind.search) ||
        !find(library, NAME_OF(unw_create_addr_space), (void **)&create) ||
        !find(library, NAME_OF(unw_set_caching_policy), (void **)&set_caching))
        return -1;
    unwind.space = create(&accessors.known, 0);
    if (!unwind.space)
        return -1;
    set_caching(unwind.space, UNW_CACHE_NONE); /* the cache has a lock, and outlives files */
    if (unwind.init(&cursor, unwind.space, &w) == 0)
        unwind.step(&cursor); /* libunwind's one-time initialization happens here */
    return 0;
}

SXS_SIGSAFE static size_t walk(struct unwind_walk *w, uintptr_t *ips, enum sxs_sample_end *end)
{
    const struct sxs_walk_limits *limits = w->limits;
    unw_cursor_t                  cursor;
    unw_word_t                    ip = 0, sp = 0, last_sp = 0;
    size_t                        n = 0;
    int                           more = unwind.init(&cursor, unwind.space, w) == 0;
    struct sxs_walk_clock         clock;
    *end = SXS_SAMPLE_END_FAILED;
    sxs_walk_clock_start(&clock, limits->cycles);
    while (more && n < limits->max) {
        unwind.get_reg(&cursor, UNW_REG_IP, &ip);
        unwind.get_reg(&cursor, UNW_REG_SP, &sp);
        if (n && (sp <= last_sp || sp > limits->stack_hi)) {
            *end = SXS_SAMPLE_END_OFF_STACK;
            return n;
        }
        ips[n++] = (uintptr_t)ip;
        last_sp = sp;
        int rc = unwind.step(&cursor);
        more = rc > 0;
        if (rc == 0)
            *end = SXS_SAMPLE_END_BOTTOM;
        if (more && sxs_walk_clock_is_over(&clock)) {
            *end = SXS_SAMPLE_END_TIMEOUT;
            return n;
        }
    }
    if (more)
        *end = SXS_SAMPLE_END_CUT;
    return n;
}

SXS_SIGSAFE size_t sxs_walk_unwind(const ucontext_t *uc, const struct sxs_walk_limits *limits,
                                   uintptr_t *ips, enum sxs_sample_end *end)
{
    struct unwind_walk w = {.uc = uc, .limits = limits};
    size_t             n = 0;
    ips[0] = sxs_context_ip(uc);
    *end = SXS_SAMPLE_END_FAILED;
    if (!unwind.space)
        return 1;
    w.index = sxs_tables_enter();
    n = walk(&w, ips, end);
    sxs_tables_leave();
    return n ? n : 1;
}
