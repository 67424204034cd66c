/* SPDX-License-Identifier: MIT */
#include "base/session_state.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE ((uintptr_t)4096)

_Atomic unsigned sxs_session_count;

/* The linker defines these two symbols as the ends of the section. They are absent in a library
 * that has no such variables. */
extern const struct sxs_session_variable *const __start_sxs_session_variables[]
    __attribute__((weak, visibility("hidden")));
extern const struct sxs_session_variable *const __stop_sxs_session_variables[]
    __attribute__((weak, visibility("hidden")));

/* The ends of the memory that is zero when the library is loaded. */
extern char __bss_start[] __attribute__((visibility("hidden")));
extern char _end[] __attribute__((visibility("hidden")));

static unsigned char *saved; /* the first values of variables outside of that memory */

const struct sxs_session_variable *const *sxs_session_state_all(size_t *n)
{
    *n = (size_t)(__stop_sxs_session_variables - __start_sxs_session_variables);
    return __start_sxs_session_variables;
}

static int begins_as_zero(const struct sxs_session_variable *v)
{
    uintptr_t at = (uintptr_t)v->at;
    return at >= (uintptr_t)__bss_start && at + v->size <= (uintptr_t)_end;
}

int sxs_session_state_save(void)
{
    size_t                                    n, size = 0;
    const struct sxs_session_variable *const *all = sxs_session_state_all(&n);
    if (saved)
        return 0;
    for (size_t i = 0; i < n; i++)
        size += begins_as_zero(all[i]) ? 0 : all[i]->size;
    saved = malloc(size + 1);
    if (!saved)
        return -1;
    for (size_t i = 0, at = 0; i < n; i++) {
        if (begins_as_zero(all[i]))
            continue;
        memcpy(saved + at, all[i]->at, all[i]->size);
        at += all[i]->size;
    }
    return 0;
}

/* Whole pages are given back to the system, which returns them as zero: large tables would otherwise
 * use memory although they are empty. All pages of that memory are private and belong to no file. */
static void clear(unsigned char *at, size_t size)
{
    uintptr_t lo = ((uintptr_t)at + PAGE - 1) & ~(PAGE - 1);
    uintptr_t hi = ((uintptr_t)at + size) & ~(PAGE - 1);
    if (hi <= lo || madvise((void *)lo, hi - lo, MADV_DONTNEED) != 0) {
        memset(at, 0, size);
        return;
    }
    memset(at, 0, lo - (uintptr_t)at);
    memset((void *)hi, 0, (uintptr_t)at + size - hi);
}

void sxs_session_state_reset(void)
{
    size_t                                    n, at = 0;
    const struct sxs_session_variable *const *all = sxs_session_state_all(&n);
    for (size_t i = 0; i < n; i++) {
        if (begins_as_zero(all[i])) {
            clear(all[i]->at, all[i]->size);
        } else if (saved) {
            memcpy(all[i]->at, saved + at, all[i]->size);
            at += all[i]->size;
        }
    }
    atomic_fetch_add_explicit(&sxs_session_count, 1, memory_order_release);
}
