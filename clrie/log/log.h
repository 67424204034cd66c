/* SPDX-License-Identifier: MIT */
/**
 * clrie/log/log.h - the engine's log: messages of the engine and of plug-ins, to a file and to an
 * object of a plug-in (IProfilerManagerLoggingHost).
 *
 * There is one log in a process, as in CLRIE: engines of several runtimes share the file, the levels
 * and the host. Levels come from the environment:
 *   MicrosoftInstrumentationEngine_LogLevel        level of everything
 *   MicrosoftInstrumentationEngine_LogLevel_GUID   level of one plug-in; GUID in either case
 *   MicrosoftInstrumentationEngine_FileLog         level of the file, instead of LogLevel
 *   MicrosoftInstrumentationEngine_FileLogPath     the file, or a folder
 *   MicrosoftInstrumentationEngine_DisableLogMethodPrefix  no "[IM:GUID]" before texts of plug-ins
 *
 * Texts are written literally. Each is cut after CLRIE_LOG_TEXT_MAX units. The file is opened and
 * written on the thread of base/descriptors.h, so the host's descriptors, its disk and its signals
 * are not touched. A line that cannot be written (full disk, full pipe) is dropped.
 */
#ifndef SXS_CLRIE_LOG_LOG_H
#define SXS_CLRIE_LOG_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "sxs_abi.h"

/** Levels, the values of LoggingFlags. */
enum {
    CLRIE_LOG_ERRORS = 1,
    CLRIE_LOG_TRACE = 2,
    CLRIE_LOG_RESULTS = 4,
    CLRIE_LOG_ALL = 7,
};

enum { CLRIE_LOG_TEXT_MAX = 4095 }; /* UTF-16 units of a text with its prefix */

/** How a plug-in logs. Lives as long as the plug-in's manager object. */
struct clrie_log_plugin {
    uint32_t flags;      /* levels that the plug-in may use; constant after the start */
    char     prefix[48]; /* "[IM:guid]", or "" */
};

/* ---- life ------------------------------------------------------------------------------------- */

/** clrie_log_open - count a user of the log. The first one reads the environment. An engine calls
 *  this when it is made. Any thread. */
void clrie_log_open(void);

/** clrie_log_close - uncount a user. The last one closes the file, and releases the host. Called when
 *  an engine ends, after the last message. */
void clrie_log_close(void);

/** clrie_log_plugin_start - read the levels of the plug-in with class @clsid, and open the file if only
 *  this plug-in needs it. Called before the plug-in's Initialize. */
void clrie_log_plugin_start(struct clrie_log_plugin *plugin, const GUID *clsid);

/** clrie_log_plugin_end - called when the plug-in will log no more. */
void clrie_log_plugin_end(struct clrie_log_plugin *plugin);

/* ---- messages --------------------------------------------------------------------------------- */

/**
 * clrie_log_write - write one text.
 * @plugin: the plug-in that sends it: its levels decide, and its prefix is put in front. NULL: the
 *   engine, or the global log.
 * @level: one of the levels. @text: UTF-16 with a terminating zero.
 * Calls the host object of SetLoggingHost() on this thread, without a lock. Any thread; not
 * signal-safe.
 */
void clrie_log_write(const struct clrie_log_plugin *plugin, uint32_t level, const WCHAR *text);

static inline void clrie_log_message(const struct clrie_log_plugin *plugin, const WCHAR *text)
{
    clrie_log_write(plugin, CLRIE_LOG_TRACE, text);
}
static inline void clrie_log_error(const struct clrie_log_plugin *plugin, const WCHAR *text)
{
    clrie_log_write(plugin, CLRIE_LOG_ERRORS, text);
}
static inline void clrie_log_dump(const struct clrie_log_plugin *plugin, const WCHAR *text)
{
    clrie_log_write(plugin, CLRIE_LOG_RESULTS, text);
}

/** clrie_log_print - write a message of the engine itself, UTF-8, formatted as by printf(). */
void clrie_log_print(uint32_t level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- levels and the host ---------------------------------------------------------------------- */

/** clrie_log_flags - the levels that are in use now (GetLoggingFlags): those of the file if it is
 *  open, and those of the host if there is one. One atomic load. Any thread; signal-safe. */
uint32_t clrie_log_flags(void);

/** clrie_log_set_flags - set the level of everything (SetLoggingFlags, LogLevel of an attach). */
void clrie_log_set_flags(uint32_t flags);

/** clrie_log_set_file_flags, clrie_log_set_file_path - LogFileLevel and LogFilePath of an attach: the file
 *  is closed, and opened again if a level needs it. @path: UTF-8. */
void clrie_log_set_file_flags(uint32_t flags);
void clrie_log_set_file_path(const char *path);

/** clrie_log_parse - the levels that the text of a variable or setting names: those of the words All,
 *  Errors, Messages and Dumps that occur anywhere in it. */
uint32_t clrie_log_parse(const char *text);

/**
 * clrie_log_set_host - set the object that receives texts, instead of the one before. NULL: none.
 * @owner: identifies the engine that sets it, for clrie_log_drop_host().
 * A reference is held until it is replaced or dropped.
 */
void clrie_log_set_host(const void *owner, IProfilerManagerLoggingHost *host);

/** clrie_log_drop_host - remove the host if @owner has set it. An engine calls this when its runtime
 *  ends. */
void clrie_log_drop_host(const void *owner);

/** clrie_log_instance - make an object of class global_log: a user of the log, independent of all
 *  engines. Returns S_OK or E_OUTOFMEMORY. */
HRESULT clrie_log_instance(IProfilerManagerLogging **out);

#endif
