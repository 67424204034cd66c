/* SPDX-License-Identifier: MIT */
/** symbols/maps_internal.h - finds the memory mapping of an address in /proc/self/maps. */
#ifndef SXS_SYMBOLS_MAPS_INTERNAL_H
#define SXS_SYMBOLS_MAPS_INTERNAL_H

#include <stdint.h>

struct sxs_mapping {
    uintptr_t start, end; /* bytes; end exclusive */
    int       executable;
    char      name[256];  /* path or [name]; "" if it has none; a longer path is truncated */
};

/**
 * sxs_maps_find - find the mapping that contains @address. Returns 0, or -1 when nothing is
 * mapped there or the file cannot be read. Not signal-safe. */
int sxs_maps_find(uintptr_t address, struct sxs_mapping *out);

#endif
