/* SPDX-License-Identifier: MIT */
/** runtime_line.h - a runtime in an answer of the control socket: the values of `runtime` in
 *  control/message/message.h. */
#ifndef SXS_CMD_PROCESSES_RUNTIME_LINE_H
#define SXS_CMD_PROCESSES_RUNTIME_LINE_H

#include <stdbool.h>

/** "NUMBER VERSION STATE live|detached|ended PATH", cut into its parts. They are clean text
 *  (sxs_text_clean()) and point into `line`; all but the last are without blanks. */
struct sxs_runtime_line {
    const char *number, *version, *state, *life, *path;
    char        line[3 * 1024];
};

/**
 * sxs_runtime_line_parse - cut @value, which comes from another process, into its parts.
 * @out: must not be copied afterwards, because it points into itself.
 * Returns false when parts are missing. Any thread.
 */
bool sxs_runtime_line_parse(const char *value, struct sxs_runtime_line *out);

#endif
