/* SPDX-License-Identifier: MIT */
/** traced_write.h - the library's end of the file "traced"; without a session nothing is recorded. */
#ifndef SXS_RECORD_TRACED_WRITE_H
#define SXS_RECORD_TRACED_WRITE_H

#include "base/base.h"
#include "session/write/folder_write.h"
#include "session/format/traced.h"

/** sxs_traced_create - the file in @folder (borrowed for good; NULL: none, nothing is recorded). Once: later calls do
 *  nothing. @mb: MiB at most. Returns 0, or an errno value. One thread at a time. */
int sxs_traced_create(const struct sxs_folder *folder, unsigned mb);

/** sxs_traced_on - is there a file? Any thread. */
int sxs_traced_on(void);

/** sxs_traced_keep - room for what comes. The library's own thread, every few ms. */
void sxs_traced_keep(void);

/** In a forked child: the file is not of it. */
void sxs_traced_forget(void);

/** Some text of a record; not zero-terminated. */
struct sxs_traced_text {
    const char *text;
    size_t      size;
};

/** What finds no room is counted. Lock-free; any thread. */
void sxs_traced_enter(uint32_t site, uint64_t started, struct sxs_traced_text arguments);
void sxs_traced_end(uint32_t site, uint64_t started, uint64_t ended, int threw,
                    struct sxs_traced_text result, struct sxs_traced_text after,
                    struct sxs_traced_text thrown);

#endif
