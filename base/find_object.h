/* SPDX-License-Identifier: MIT */
/** find_object.h - _dl_find_object() of the C library, which exists since glibc 2.35. */
#ifndef SXS_BASE_FIND_OBJECT_H
#define SXS_BASE_FIND_OBJECT_H

#include <dlfcn.h>
#include <stdint.h>

#include "base/base.h"

/** sxs_find_object_exists - tell whether the C library has the function. 0 before the constructors of
 *  this library have run. Signal-safe. */
SXS_SIGSAFE int sxs_find_object_exists(void);

/** sxs_find_object - find the loaded ELF file whose memory contains @address. Returns 0, or -1 if there
 *  is none, or no such function. Takes no lock: async-signal-safe by glibc's manual. Any thread. What
 *  @found points to stays valid while the file is loaded. */
SXS_SIGSAFE int sxs_find_object(uintptr_t address, struct dl_find_object *found);

#endif
