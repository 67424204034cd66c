/* SPDX-License-Identifier: MIT */
/**
 * sampling/activities.h - finds the Activity (System.Diagnostics.Activity.Current) of a
 * thread by reading the runtime's memory, so that samples can be assigned to traces.
 *
 * docs/internals/trace-context.md says which memory is read, and why the results are right. A
 * runtime is known here by its index, below SXS_SLOT_RUNTIMES; more runtimes than that have no
 * activities, which is reported once. */
#ifndef SXS_SAMPLING_ACTIVITIES_H
#define SXS_SAMPLING_ACTIVITIES_H

#include "manager/runtime.h"
#include "sampling/threads.h"
#include "session/write/samples_write.h"
#include "sxs_events.h"

/** What is known about one runtime. Has static storage; valid until the session ends. */
struct sxs_activities;

/** sxs_activities_start - follow the activities of @rt from now on. @w: receives the names of
 *  endpoints. Returns NULL after a message when too many runtimes are followed. Any thread; not
 *  signal-safe. */
struct sxs_activities *sxs_activities_start(struct sxs_runtime *rt, struct sxs_samples_writer *w);

/** sxs_activities_end - stop following the activities of a runtime, because it ends or the session ends.
 *  The memory stays, and signal handlers may still be reading. Not signal-safe. */
void sxs_activities_end(struct sxs_activities *a);

/** sxs_activities_round - find out facts about the runtimes that are not known yet. Called regularly by
 *  one thread that no runtime knows. Calls runtimes; takes no lock. */
void sxs_activities_round(void);

/* ---- callbacks of the runtime; on the runtime's threads -------------------------------------- */

void sxs_activities_module(struct sxs_activities *a, sxs_module module);
/** sxs_activities_unloading - an assembly (@module: {0}) or a module of it is about to be unloaded.
 *  From then on its classes are not looked at. Waits while another thread asks the runtime about a class. */
void sxs_activities_unloading(struct sxs_activities *a, sxs_module module);
void sxs_activities_thread(struct sxs_activities *a, sxs_thread thread, uint32_t tid);
/** sxs_activities_thread_ended - @thread is no longer a thread of the runtime. */
void sxs_activities_thread_ended(struct sxs_activities *a, sxs_thread thread);
/** sxs_activities_stopping - the runtime is about to stop its threads. On the thread that stops
 *  them. */
void sxs_activities_stopping(struct sxs_activities *a);
/** sxs_activities_resuming - note that its threads are about to be resumed. */
void sxs_activities_resuming(struct sxs_activities *a);
/** sxs_activities_running - its threads run again, or have not been stopped. */
void sxs_activities_running(struct sxs_activities *a);

/* ---- samples --------------------------------------------------------------------------------- */

/**
 * sxs_activities_look - find the activities that are current on the calling thread.
 * @t: its slot. @out: receives them, one for each runtime that has one.
 * @missed: receives the number of runtimes in which it could not be read.
 * Returns their number. Async-signal-safe: some dozen guarded loads, or some hundred when the route of a
 * request is searched for; may write a NAME record.
 */
SXS_SIGSAFE size_t sxs_activities_look(struct sxs_thread_slot   *t,
                                       struct sxs_sample_context out[SXS_SLOT_RUNTIMES],
                                       unsigned                 *missed);

#endif
