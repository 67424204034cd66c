/* SPDX-License-Identifier: MIT */
/* write.c - write texts to the file and to the host object. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "base/text/utf8.h"
#include "clrie/log/file.h"
#include "clrie/log/log_internal.h"
#include "clrie/object/strings.h"

enum { TIME_MAX = 32, BYTES_PER_UNIT = 3 };

/* Nonzero while this thread is in a call of the host object: what the object logs from there goes to
 * the file only, so that it does not call itself without end. */
static SXS_TLS int in_host;

/* ---- the file ---------------------------------------------------------------------------------- */

/* Writes "LogError[HH:MM:SS]:" or "LogMessage[HH:MM:SS]:", in local time. Returns the length. */
static size_t put_time(char *out, uint32_t level)
{
    const char *name = level == CLRIE_LOG_ERRORS ? "LogError" : "LogMessage";
    time_t      now = time(NULL);
    struct tm   t;
    if (level == CLRIE_LOG_RESULTS || !localtime_r(&now, &t))
        return 0;
    return (size_t)snprintf(out, TIME_MAX, "%s[%02d:%02d:%02d]:", name, t.tm_hour, t.tm_min,
                            t.tm_sec);
}

/* Converts to UTF-8. Half a surrogate pair becomes U+FFFD. Returns the number of bytes. */
static size_t put_text(char *out, const WCHAR *text, size_t n)
{
    size_t size = 0;
    for (size_t at = 0; at < n;) {
        uint32_t c = sxs_utf16_next(text, n, &at);
        size += sxs_utf8_put(out + size, sxs_utf16_is_half(c) ? 0xfffd : c);
    }
    return size;
}

static void write_file_locked(uint32_t level, const char *prefix, const WCHAR *text, size_t n)
{
    static char line[TIME_MAX + CLRIE_LOG_TEXT_MAX * BYTES_PER_UNIT + 1]; /* guarded by the lock */
    size_t      size = put_time(line, level);
    for (; *prefix; prefix++)
        line[size++] = *prefix;
    size += put_text(line + size, text, n);
    line[size++] = '\n';
    clrie_log_file_write(line, size);
}

/* ---- the host object --------------------------------------------------------------------------- */

/* Sends a text, and for messages and errors a line end in a second call. */
static void call_host(IProfilerManagerLoggingHost *host, uint32_t level, const WCHAR *text)
{
    static const WCHAR end[] = {'\r', '\n', 0};
    if (level == CLRIE_LOG_RESULTS) {
        host->vtbl->LogDumpMessage(host, text);
    } else if (level == CLRIE_LOG_ERRORS) {
        host->vtbl->LogError(host, text);
        host->vtbl->LogError(host, end);
    } else {
        host->vtbl->LogMessage(host, text);
        host->vtbl->LogMessage(host, end);
    }
}

static void write_host(IProfilerManagerLoggingHost *host, uint32_t level, const char *prefix,
                       const WCHAR *text, size_t n)
{
    size_t len = strlen(prefix);
    WCHAR *whole = malloc((len + n + 1) * sizeof(*whole));
    if (!whole)
        return;
    for (size_t i = 0; i < len; i++)
        whole[i] = (WCHAR)prefix[i];
    memcpy(whole + len, text, n * sizeof(*whole));
    whole[len + n] = 0;
    in_host = 1;
    call_host(host, level, whole);
    in_host = 0;
    free(whole);
}

/* ---- functions of log.h ------------------------------------------------------------------------ */

void clrie_log_write(const struct clrie_log_plugin *plugin, uint32_t level, const WCHAR *text)
{
    const char            *prefix = plugin ? plugin->prefix : "";
    size_t                 n;
    struct clrie_log_host *host;
    int                    to_file;
    if (!text || !((plugin ? plugin->flags : clrie_log_flags()) & level))
        return;
    n = sxs_utf16_len(text, CLRIE_LOG_TEXT_MAX - strlen(prefix));
    to_file = clrie_log_begin(level, &host);
    if (to_file)
        write_file_locked(level, prefix, text, n);
    clrie_log_end();
    if (!host)
        return;
    if (!in_host)
        write_host(host->object, level, prefix, text, n);
    clrie_log_host_unref(host);
}

void clrie_log_print(uint32_t level, const char *format, ...)
{
    char    text[2048];
    va_list args;
    BSTR    wide;
    if (!(clrie_log_flags() & level))
        return;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    wide = clrie_string_of(text);
    clrie_log_write(NULL, level, wide);
    clrie_string_free(wide);
}
