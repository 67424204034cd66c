/* SPDX-License-Identifier: MIT */
/** instrument_write.h - the writer of the file "instrument" (session/format/instrument.h). Without
 *  a session folder nothing is recorded. A "site" is an instrumented method. */
#ifndef SXS_SESSION_WRITE_INSTRUMENT_WRITE_H
#define SXS_SESSION_WRITE_INSTRUMENT_WRITE_H

#include "base/base.h"
#include "session/write/folder_write.h"
#include "session/format/instrument.h"

/** sxs_instrument_create - create the file.
 *  @folder: the process's folder, borrowed until sxs_instrument_close(); NULL: record nothing.
 *  Returns 0, or a positive errno value. Call it once per session. */
int sxs_instrument_create(const struct sxs_folder *folder);

/** sxs_instrument_keep - make room in the file and update the header's pair of clock readings.
 *  Called every few ms by threads of the library: the service thread, and threads that wait for
 *  compilations. Any number of threads at the same time. Takes locks; not signal-safe. */
void sxs_instrument_keep(void);

/** sxs_instrument_end - end the recording.
 *  @forked: 0 at the process's end: store the time of the end. 1 in a forked child: write nothing
 *    more, because the file belongs to the parent. */
void sxs_instrument_end(int forked);

/** sxs_instrument_close - complete and close the file. No thread may be in sxs_instrument_keep().
 *  @is_unused: 1: no thread has counters or records of the file, whose memory is freed. 0: they stay
 *    valid memory, which is never freed, and of which nobody reads what is stored from now on. */
void sxs_instrument_close(int is_unused);

/** sxs_instrument_method - record a method that rules apply to.
 *  sxs_instrument_state - record a new state of such a method.
 *  A record that finds no room is counted in the header. May wait for the file to grow. Any
 *  thread. */
void sxs_instrument_method(uint32_t number, unsigned runtime, uint32_t token, const char *assembly,
                           const char *name);
void sxs_instrument_state(uint32_t method, enum sxs_instrumented_state state, uint32_t hr,
                          const char *text);

/** sxs_instrument_counts - allocate a thread's counters of the SXS_INSTRUMENT_PAGE methods from
 *  number @first on.
 *  Returns zeroed counters in the file, valid for the life of the process. If the file has no room,
 *  returns counters that all threads share and that no reader sees. Any thread. */
struct sxs_instrument_count *sxs_instrument_counts(uint32_t first);

/** Record a method's name in reports; NULL or "" for the method's own name. Any thread. */
void sxs_instrument_label(uint32_t method, const char *label);

/** sxs_instrument_helper - record a helper, a managed method that rules call.
 *  @text: "Namespace.Type.Method in PATH".
 *  Returns the record, whose counters the caller updates, valid for the life of the process; NULL
 *  when there is no room. Any thread. */
struct sxs_instrument_helper *sxs_instrument_helper(unsigned runtime, const char *text);

/** Record the statistics of a rule: the numbers in @rule and the texts. Any thread. */
void sxs_instrument_rule(const struct sxs_instrument_rule *rule, const char *name, const char *file,
                         const char *text);

/** sxs_instrument_begin - return the start time of a piece of work: CPU time of the calling thread,
 *  or wall time for the kinds that wait for a runtime (SXS_SPENT_REVERT, SXS_SPENT_REJIT).
 *  sxs_instrument_took - record the time of a finished piece of work. Call it on the same thread.
 *  @since: the result of sxs_instrument_begin(). */
uint64_t sxs_instrument_begin(enum sxs_spent_kind kind);
void     sxs_instrument_took(enum sxs_spent_kind kind, uint64_t since);

/** Count one more configuration that was applied. */
void sxs_instrument_changed(void);

#endif
