/* SPDX-License-Identifier: MIT */
/**
 * not_instrumented.h - writes notes to the calls file on coverage gaps: which calls are not
 * counted, and why.
 *
 * The report reads the notes. Any thread that may ask a runtime for names may call these functions;
 * hooks may not. All functions but sxs_gaps_init() take locks. A note for which there is no room
 * is counted in the header (notes_lost).
 */
#ifndef SXS_TOOLS_CALLS_NOT_INSTRUMENTED_H
#define SXS_TOOLS_CALLS_NOT_INSTRUMENTED_H

#include "tools/calls/called.h"

/** sxs_gaps_init - set the header of the calls file, borrowed, and the function that writes the
 *  name of a function to @out, of @size bytes. Call before the first note. */
void sxs_gaps_init(struct sxs_calls_header *header,
                   void (*name)(sxs_function fn, char *out, size_t size));

/** sxs_gaps_note - write a new note with a copy of @size bytes of @text.
 *  Returns the note, which lives as long as the process, or NULL when there is no room. */
struct sxs_calls_note *sxs_gaps_note(enum sxs_calls_note_kind kind, uint32_t runtime,
                                     const char *text, size_t size);

/** sxs_gaps_note_runtime - note the environment variables that change what @rt compiles and when.
 *  Call when @rt starts. */
void sxs_gaps_note_runtime(const struct sxs_runtime *rt);

/** sxs_gaps_note_dynamic - note that a method or stub without metadata was compiled. Such a method
 *  is not hooked. @name: its name with parameters, which are cut off. */
void sxs_gaps_note_dynamic(sxs_function fn, char *name);

/** sxs_gaps_note_inlined - note that the JIT may inline @callee in @caller. Calls of @callee from
 *  other functions are counted. Call in a callback of its runtime. */
void sxs_gaps_note_inlined(const struct sxs_called *callee, sxs_function caller);

/** sxs_gaps_forget - forget which functions of @rt have notes, because @rt may reuse its
 *  FunctionIDs. The notes remain in the file. */
void sxs_gaps_forget(const struct sxs_runtime *rt);

#endif
