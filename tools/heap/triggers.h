/* SPDX-License-Identifier: MIT */
/** tools/heap/triggers.h - what asks for snapshots: a signal, an interval, the beginning and the
 *  end of the program; and the thread that takes them. */
#ifndef SXS_TOOLS_HEAP_TRIGGERS_H
#define SXS_TOOLS_HEAP_TRIGGERS_H

#include "manager/runtime.h"
#include "tools/options/heap_options.h"

/** sxs_heap_triggers_start - start the thread and install the signal's handler, once per process.
 *  @text: the tool's options. Returns 0; -1: the tool stays off, and one line was logged. */
int sxs_heap_triggers_start(const char *text);

/** sxs_heap_options_used - the options that sxs_heap_triggers_start() has read. */
const struct sxs_heap_options *sxs_heap_options_used(void);

/** sxs_heap_started - a runtime runs managed code from now on. Takes no lock. */
void sxs_heap_started(void);

/** sxs_heap_exiting - the program of @rt ends: wait until its snapshot was taken, if that is
 *  wanted. In a callback of @rt in which it can collect. */
void sxs_heap_exiting(struct sxs_runtime *rt);

/** sxs_heap_triggers_stop - the session ends: threads that end their programs do not wait for snapshots
 *  that have not begun. */
void sxs_heap_triggers_stop(void);

/** sxs_heap_triggers_end - join the thread. No runtime is left. */
void sxs_heap_triggers_end(void);

#endif
