/* SPDX-License-Identifier: MIT */
/** images.h - is a piece of code mapped from a file? Precompiled code is; what the JIT compiler writes is not. */
#ifndef SXS_IMAGES_H
#define SXS_IMAGES_H

#include <stdint.h>

/**
 * sxs_images_hold - 1 when @ip lies in executable memory that is mapped from a file (memory files apart), else 0.
 * The mappings of the process are read when those of the last 80 ms do not hold @ip: an image that is unmapped is believed in
 * for so long. One thread at a time; not signal-safe.
 */
int sxs_images_hold(uintptr_t ip);

#endif
