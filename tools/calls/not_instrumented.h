/* SPDX-License-Identifier: MIT */
/**
 * unseen.h - notes in the file on what is not seen, and why: for the report. Any thread that may
 * ask a runtime for names; takes locks; none of it in a hook. What finds no room is counted.
 */
#ifndef SXS_CALLS_UNSEEN_H
#define SXS_CALLS_UNSEEN_H

#include "tools/calls/functions.h"

/** Before the first note. */
void sxs_unseen_init(struct sxs_calls_header *header);

/** A new note with @size bytes of @text. Lives as long as the process; NULL: no room. */
struct sxs_calls_note *sxs_unseen_note(enum sxs_calls_note_kind kind, uint32_t runtime,
                                       const char *text, size_t size);

/** @rt is about to run: what its environment sets that decides what is compiled when. */
void sxs_unseen_runtime(const struct sxs_runtime *rt);

/** A method or stub without metadata was compiled: it has no FunctionID to hook. In a callback. */
void sxs_unseen_dynamic(sxs_function fn);

/** The JIT may inline @callee in @caller; elsewhere it is hooked. In a callback. */
void sxs_unseen_inlined(const struct sxs_called *callee, sxs_function caller);

/** IDs of @rt may come to mean something else. */
void sxs_unseen_forget(const struct sxs_runtime *rt);

#endif
