/* SPDX-License-Identifier: MIT */
/** instrument_write.h - the library's end of the file "instrument"; without a session, of memory alone. */
#ifndef SXS_RECORD_INSTRUMENT_WRITE_H
#define SXS_RECORD_INSTRUMENT_WRITE_H

#include "manager/base/base.h"
#include "record/folder_write.h"
#include "record/instrument.h"

/** sxs_instrument_create - the file in @folder (borrowed for good); NULL: none, nothing is recorded. Returns 0, or
 *  an errno value. Once per process. */
int sxs_instrument_create(const struct sxs_folder *folder);

/** sxs_instrument_keep - makes room for what comes, and reads the clocks. Called every few ms by the library's own threads:
 *  the service thread, and those that wait for compilations meanwhile. Any number at once; takes locks, not signal-safe. */
void sxs_instrument_keep(void);

/** The process ends, or (@forked) is a child that the file is not of. */
void sxs_instrument_end(int forked);

/** One more site. Returns 0; what finds no room is counted. Any thread. */
void sxs_instrument_site(uint32_t number, unsigned runtime, uint32_t token, const char *assembly,
                         const char *name);
void sxs_instrument_state(uint32_t site, enum sxs_site_state state, uint32_t hr, const char *text);

/** A thread's counters of the sites from @first on, zeroed, in the file for good. When the file has no room: counters
 *  that all threads share and nobody reads. Any thread. */
struct sxs_instrument_count *sxs_instrument_counts(uint32_t first);

/** A site's name in reports; NULL or "": the method's. Any thread. */
void sxs_instrument_label(uint32_t site, const char *label);

/** A helper's record, whose counters the caller adds to; NULL: no room, and nothing is recorded. Never given back. @text: as
 *  there. Any thread. */
struct sxs_instrument_helper *sxs_instrument_helper(unsigned runtime, const char *text);

/** What a rule came to: the numbers of @rule, and its texts. Any thread. */
void sxs_instrument_rule(const struct sxs_instrument_rule *rule, const char *name, const char *file,
                         const char *text);

/** sxs_instrument_begin - work begins: by the calling thread's CPU time, or by wall time where a
 *  runtime is waited for.
 *  sxs_instrument_took - it is done, on the same thread; @since: what the other returned. */
uint64_t sxs_instrument_begin(enum sxs_spent_kind kind);
void     sxs_instrument_took(enum sxs_spent_kind kind, uint64_t since);

/** One more configuration is in force. */
void sxs_instrument_changed(void);

#endif
