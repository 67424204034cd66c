/* SPDX-License-Identifier: MIT */
/** carried.h - tell what a session contains that its receiver can read: values, names, paths. */
#ifndef SXS_CMD_CARRIED_H
#define SXS_CMD_CARRIED_H

#include <stddef.h>

#include "cmd/output/opened.h"

/** Who gets it. */
enum sxs_carried_by {
    SXS_CARRIED_BY_PACK, /* all files of the session */
    SXS_CARRIED_BY_PUSH, /* stacks with what was measured at them */
};

/**
 * sxs_carried - write one line, without a newline, about the kinds of data in a session: "carries: stacks,
 * names of methods, ...; values: all". It looks at the headers of the files of each process, that is, at
 * what the tools have recorded.
 * Returns @buf; the line is cut to @size bytes.
 */
const char *sxs_carried(const struct sxs_opened *v, enum sxs_carried_by by, char *buf, size_t size);

#endif
