/* SPDX-License-Identifier: MIT */
/** threads.h - records start, end and name of the runtimes' threads: callbacks of the tool
 *  "events". */
#ifndef SXS_TOOLS_EVENTS_THREADS_H
#define SXS_TOOLS_EVENTS_THREADS_H

#include "manager/tool.h"

HRESULT sxs_events_thread_created(struct sxs_sub *sub, sxs_thread thread);
HRESULT sxs_events_thread_assigned(struct sxs_sub *sub, sxs_thread thread, DWORD tid);
HRESULT sxs_events_thread_named(struct sxs_sub *sub, sxs_thread thread, ULONG n, WCHAR *name);
HRESULT sxs_events_thread_destroyed(struct sxs_sub *sub, sxs_thread thread);

/** sxs_events_threads_end - forget the threads of a runtime that has ended and did not report their
 *  end. @runtime: the runtime's number. Any thread. */
void sxs_events_threads_end(unsigned runtime);

#endif
