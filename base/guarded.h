/* SPDX-License-Identifier: MIT */
/**
 * guarded.h - load from memory that may be unmapped, without a system call.
 *
 * A guarded load is one instruction with an entry in a table. The entry has the address of the
 * instruction and the address at which the thread continues if the instruction faults. The signal
 * router looks a faulting instruction up in that table before it routes a SIGSEGV or SIGBUS
 * (sxs_signals.guard), and makes the thread continue at the second address. A guarded load that
 * does not fault costs as much as an ordinary load.
 *
 * If the router is not the process's handler of SIGSEGV and SIGBUS, a fault of a guarded load is
 * delivered to another handler. sxs_guarded_reliable() tells whether guarded loads may fault.
 * Memory that is certain to be mapped may always be read by a guarded load.
 *
 * The loads themselves, SXS_GUARDED_LOAD and SXS_GUARDED_TRY, are in arch/x86_64/guarded_load.h.
 */
#ifndef SXS_BASE_GUARDED_H
#define SXS_BASE_GUARDED_H

#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"
#include "base/base.h"

/** The table of all guarded loads of one library. */
struct sxs_guarded_code {
    const struct sxs_guarded_load *begin, *end; /* static; not sorted */
};

/** sxs_guarded_code - return the table of the library that this function is linked into. */
const struct sxs_guarded_code *sxs_guarded_code(void);

/** sxs_guarded_rely - set whether faults of guarded loads are certain to reach the router.
 *  @yes: nonzero if they are. Any thread; signal-safe. */
SXS_SIGSAFE void sxs_guarded_rely(int yes);

/** sxs_guarded_relied - return the last argument of sxs_guarded_rely(), or 0 before the first call.
 *  Does not check whether the calling thread blocks SIGSEGV or SIGBUS; the caller must know that.
 *  Any thread; signal-safe. */
SXS_SIGSAFE int sxs_guarded_relied(void);

/** sxs_guarded_reliable - tell whether a guarded load of the calling thread may fault.
 *  Returns 1 if such a fault is certain to reach the router, else 0. The result is 0 while the
 *  thread blocks SIGSEGV or SIGBUS, because then the kernel ends the process at a fault.
 *  Makes one system call if sxs_guarded_relied(), else none. Any thread; signal-safe; keeps
 *  errno. */
SXS_SIGSAFE int sxs_guarded_reliable(void);

/**
 * sxs_guarded_copy - copy up to @size bytes from @from to @to by guarded loads.
 * May be called only while sxs_guarded_reliable() is true.
 * Returns the number of bytes copied: fewer than @size if the memory that follows cannot be read.
 * Any thread; signal-safe; no system call.
 */
SXS_SIGSAFE size_t sxs_guarded_copy(void *to, uintptr_t from, size_t size);

#endif
