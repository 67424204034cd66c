/* SPDX-License-Identifier: MIT */
/**
 * tools/locks/types.h - the types of the objects that threads wait for, their names, and exact
 * counts of the waits for each.
 *
 * A type is found or added where a thread begins to wait, without a lock and without asking the
 * runtime. It gets a number for its name at once, and the name itself later, on a thread that may
 * ask.
 */
#ifndef SXS_TOOLS_LOCKS_TYPES_H
#define SXS_TOOLS_LOCKS_TYPES_H

#include "manager/runtime.h"
#include "session/format/samples.h"

/** The ClassID of the class System.Threading.Lock, which needs no question to the runtime. */
#define SXS_CLASS_OF_LOCK UINT64_C(2)

/** What is known about a type at once. */
struct sxs_lock_type {
    uint32_t                 name;  /* number of its name; 0: none is left */
    struct sxs_record_total *total; /* lives as long as the process; NULL: the file has no room */
};

/**
 * sxs_lock_type_find - find a type, or add it. @class_id: ClassID, or SXS_CLASS_OF_LOCK.
 * Returns zeros when there is no room for another type. Any thread; signal-safe; waits for nothing:
 * if another thread is just adding the same type, a second entry with the same name may come up. */
SXS_SIGSAFE struct sxs_lock_type sxs_lock_type_find(unsigned runtime, uint64_t class_id);

/** sxs_lock_types_start - note that types of @rt may be asked for names. Call it in start(). */
void sxs_lock_types_start(struct sxs_runtime *rt);

/** sxs_lock_types_stop - name the types of @rt that have no name yet, if @ask is set, and never ask
 *  it again. Call it in a callback of @rt. */
void sxs_lock_types_stop(struct sxs_runtime *rt, int ask);

/** sxs_lock_types_name - ask the runtimes for names that are missing. On a thread that no runtime
 *  knows. */
void sxs_lock_types_name(void);

/** sxs_lock_types_unload - forget the types of @rt, because some are about to be unloaded. Types
 *  that are met again get another number. In a callback of @rt. */
void sxs_lock_types_unload(const struct sxs_runtime *rt);

/** sxs_lock_types_end - free what belongs to the session. No runtime is left, and no other thread
 *  calls functions of this file. */
void sxs_lock_types_end(void);

#endif
