/* SPDX-License-Identifier: MIT */
/** traced_write.h - the writer of the file "traced" (session/format/traced.h). Without a session
 *  folder nothing is recorded. */
#ifndef SXS_SESSION_WRITE_TRACED_WRITE_H
#define SXS_SESSION_WRITE_TRACED_WRITE_H

#include "base/base.h"
#include "session/write/folder_write.h"
#include "session/format/traced.h"

/** sxs_traced_create - create the file.
 *  @folder: the process's folder, borrowed until sxs_traced_close(); NULL: record nothing.
 *  @mb: limit of the file's size, in MiB. @rate: limit of calls a second; 0: none.
 *  Returns 0, or a positive errno value. Calls after a success do nothing until sxs_traced_close(). One thread at a time. */
int sxs_traced_create(const struct sxs_folder *folder, unsigned mb, unsigned rate);

/** Return 1 when there is a file, else 0. Any thread. */
int sxs_traced_on(void);

/** sxs_traced_take - ask whether a call that begins is recorded. Returns 1, also without a file; or 0:
 *  more calls began than the rate allows, and this one is counted as left out: record neither its
 *  beginning nor its end. Lock-free; any thread. */
int sxs_traced_take(void);

/** sxs_traced_keep - make room in the file, and allow more calls. Called by a thread of the library every few ms. */
void sxs_traced_keep(void);

/** sxs_traced_complete - note, when the process exits, how many calls were left out. */
void sxs_traced_complete(void);

/** sxs_traced_close - complete and close the file, and unmap it. Waits for threads that are writing a
 *  record; later ones are lost. No thread may be in sxs_traced_keep(). */
void sxs_traced_close(void);

/** In a forked child: write nothing more, because the file belongs to the parent. */
void sxs_traced_forget(void);

/** A text of a record; not zero-terminated. */
struct sxs_traced_text {
    const char *text;
    size_t      size; /* bytes; a text is cut at SXS_TRACED_TEXT */
};

/** sxs_traced_enter - record the beginning of a call, with its arguments.
 *  sxs_traced_end - record the end of a call.
 *  @started, @ended: ticks. @threw: nonzero when an exception left the method. @after: by-reference
 *    arguments at the end. @thrown: type and message of the exception.
 *  Called on the thread of the call. A record that finds no room is counted in the header.
 *  Lock-free; any thread. */
void sxs_traced_enter(uint32_t method, uint64_t started, struct sxs_traced_text arguments);
void sxs_traced_end(uint32_t method, uint64_t started, uint64_t ended, int threw,
                    struct sxs_traced_text result, struct sxs_traced_text after,
                    struct sxs_traced_text thrown);

#endif
