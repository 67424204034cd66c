/* SPDX-License-Identifier: MIT */
/** carried.h - say what somebody gets who gets a session, and which values it lacks. */
#ifndef SXS_CMD_CARRIED_H
#define SXS_CMD_CARRIED_H

#include <stddef.h>
#include <stdio.h>

#include "session/read/session_read.h"

/** Who gets it. */
enum sxs_carried_by {
    SXS_CARRIED_BY_PACK, /* all files of the session */
    SXS_CARRIED_BY_PUSH, /* stacks with what was measured at them */
};

/**
 * sxs_carried - write one line, without a newline, about the kinds of data in a session: "carries: stacks,
 * names of methods, ...; values: all". It looks at the headers of the files of each process, that is, at
 * what the tools have recorded.
 * @dir: the session's folder. Returns @buf; the line is cut to @size bytes.
 */
const char *sxs_carried(const char *dir, const struct sxs_session *session, enum sxs_carried_by by,
                        char *buf, size_t size);

/**
 * sxs_lacking_text - write the first lines of a report: which processes were left out, what the library
 * had to say in them (the files "log"), and which values were masked. Nothing for a session that lacks nothing.
 */
void sxs_lacking_text(FILE *to, const struct sxs_session *session);

#endif
