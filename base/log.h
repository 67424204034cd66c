/* SPDX-License-Identifier: MIT */
/**
 * log.h - one line per message, to standard error, never to standard output.
 *
 * SXSPROF_LOG=error|warn|info|debug sets what is said (default warn). A line is one write(2);
 * errno is kept. Any thread. When descriptor 2 has become another file than the one it was when the
 * library was loaded, nothing is written, unless it is the same as standard output or a character device.
 * sxs_log() formats with snprintf and is not for signal handlers; sxs_log_raw() is.
 */
#ifndef SXS_LOG_H
#define SXS_LOG_H

#include "base/base.h"

enum sxs_log_level { SXS_LOG_ERROR, SXS_LOG_WARN, SXS_LOG_INFO, SXS_LOG_DEBUG };

extern enum sxs_log_level sxs_log_level; /* written once, by sxs_log_init() */

/** Reads SXSPROF_LOG. A word it does not know is reported once and means "warn". */
void sxs_log_init(void);
void sxs_log_write(enum sxs_log_level level, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/** Writes @text and a newline as they are. Async-signal-safe. */
SXS_SIGSAFE void sxs_log_raw(const char *text);

#define sxs_error(...) sxs_log_write(SXS_LOG_ERROR, __VA_ARGS__)
#define sxs_warn(...) \
    (sxs_log_level >= SXS_LOG_WARN ? sxs_log_write(SXS_LOG_WARN, __VA_ARGS__) : (void)0)
#define sxs_note(...) \
    (sxs_log_level >= SXS_LOG_INFO ? sxs_log_write(SXS_LOG_INFO, __VA_ARGS__) : (void)0)
#define sxs_debug(...) \
    (sxs_log_level >= SXS_LOG_DEBUG ? sxs_log_write(SXS_LOG_DEBUG, __VA_ARGS__) : (void)0)

#endif
