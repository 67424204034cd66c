/* SPDX-License-Identifier: MIT */
/**
 * log.h - write messages to standard error, one line each; never to standard output.
 *
 * SXSPROF_LOG=error|warn|info|debug sets the least severe level that is written (default: warn). Errors and warnings
 * are also written to the session, whatever the level (session/write/log_write.h). Lines of sxs_log_raw() are not: a
 * forked child uses it for facts that its parent's session counts, and the preloaded library for facts that it records
 * in the session itself.
 * Each line is one write(2), and errno is kept. Characters of a message that a terminal does not
 * show (base/displayed.h), a line feed among them, are written as '?'. All functions but sxs_log_init()
 * may be called from any thread. If descriptor 2 is no longer the file that it was when the library was
 * loaded, nothing is written, unless descriptor 2 is the same file as standard output, or a character
 * device. sxs_log_write() formats with snprintf() and must not be called in signal handlers;
 * sxs_log_raw() may. After an attach, lines of sxs_log_write() go into the session only.
 */
#ifndef SXS_BASE_LOG_H
#define SXS_BASE_LOG_H

#include <stddef.h>

#include "base/base.h"

enum sxs_log_level { SXS_LOG_ERROR, SXS_LOG_WARN, SXS_LOG_INFO, SXS_LOG_DEBUG };

extern enum sxs_log_level sxs_log_level; /* written once, by sxs_log_init() */

/** sxs_log_init - set the level from SXSPROF_LOG. An unknown value is reported as an error and
 *  means "warn". */
void sxs_log_init(void);
/** sxs_log_write - format one message and write it; a warning is written only if the level in force permits it. A
 *  message is cut to fit into a line of 1,023 bytes. Callers use the macros below. Any thread; not signal-safe. */
void sxs_log_write(enum sxs_log_level level, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/** sxs_log_raw - write @text, followed by a newline, without formatting. At most 511 bytes of @text are
 *  written. Any thread; async-signal-safe. */
SXS_SIGSAFE void sxs_log_raw(const char *text);
/** sxs_log_last - the same, and pass the line to what sxs_log_keep_last() has set: why the process ends. */
SXS_SIGSAFE void sxs_log_last(const char *text);

/** sxs_log_keep - pass each error and warning to @take, too, from now on, @len bytes with the line feed.
 *  @take is called on any thread, and must not log. Not signal-safe. */
void sxs_log_keep(void (*take)(const char *line, size_t len));

/** sxs_log_keep_last - the same for lines of sxs_log_last(). @take must be signal-safe. */
void sxs_log_keep_last(void (*take)(const char *line, size_t len));

/** sxs_log_divert - from now on sxs_log_write() writes nothing to standard error. Not signal-safe. */
void sxs_log_divert(void);

/** sxs_log_listen - copy each error that the calling thread logs to @line (@size bytes, the latest one
 *  stays) from now on. NULL: no more. Not signal-safe. */
void sxs_log_listen(char *line, size_t size);

#define sxs_error(...) sxs_log_write(SXS_LOG_ERROR, __VA_ARGS__)
#define sxs_warn(...)  sxs_log_write(SXS_LOG_WARN, __VA_ARGS__)
#define sxs_note(...) \
    (sxs_log_level >= SXS_LOG_INFO ? sxs_log_write(SXS_LOG_INFO, __VA_ARGS__) : (void)0)
#define sxs_debug(...) \
    (sxs_log_level >= SXS_LOG_DEBUG ? sxs_log_write(SXS_LOG_DEBUG, __VA_ARGS__) : (void)0)

#endif
