/* SPDX-License-Identifier: MIT */
/** symbols/images.h - tells whether code is mapped from a file. Precompiled code is; code that the
 *  JIT compiler writes is not. */
#ifndef SXS_SYMBOLS_IMAGES_H
#define SXS_SYMBOLS_IMAGES_H

#include <stdint.h>

/**
 * sxs_images_hold - whether @ip is in executable memory that is mapped from a file other than a
 * memory file.
 * The list of the process's mappings is kept for 80 ms, and read again earlier only if it does not
 * contain @ip. So an image that was unmapped may be found for up to 80 ms.
 * Returns 1 or 0. One thread at a time; not signal-safe. */
int sxs_images_hold(uintptr_t ip);

#endif
