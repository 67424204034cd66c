/* SPDX-License-Identifier: MIT */
/* entry.c - the export of libsxsprof-clrie.so. */
#include <string.h>

#include "base/base.h"
#include "clrie/offers.h"

/* The slots of the stubs in stubs.S. */
extern const void *clrie_slots[CLRIE_N_NEEDS] __attribute__((visibility("hidden")));

SXS_EXPORT clrie_entry sxsprof_clrie_v1;

/* Called once. Calls nothing of libsxsprof.so before the slots are filled. */
SXS_EXPORT const struct clrie_offers *sxsprof_clrie_v1(const char *agreed, const void *const *needs)
{
    if (strcmp(agreed, CLRIE_AGREED) != 0)
        return NULL;
    memcpy(clrie_slots, needs, sizeof(clrie_slots));
    return clrie_offered();
}
