/* SPDX-License-Identifier: MIT */
/** maps_internal.h - what lies at an address, by /proc/self/maps. */
#ifndef SXS_MAPS_INTERNAL_H
#define SXS_MAPS_INTERNAL_H

#include <stdint.h>

struct sxs_mapping {
    uintptr_t start, end; /* bytes; end exclusive */
    int       executable;
    char      name[256];  /* path or [name]; "" when it has none; a longer path loses its tail */
};

/** Returns 0, or -1 when nothing is mapped there or the table cannot be read. Not signal-safe. */
int sxs_maps_find(uintptr_t address, struct sxs_mapping *out);

#endif
