/* SPDX-License-Identifier: MIT */
/**
 * clrie/config/attach.h - the data that InitializeForAttach() gets: which plug-ins to load, with
 * settings for them, and settings of the log. XML in UTF-8:
 *
 * <InstrumentationEngineConfiguration>
 *   <InstrumentationEngine>
 *     <Settings><Setting Name="LogLevel" Value="All"/></Settings>
 *   </InstrumentationEngine>
 *   <InstrumentationMethods>
 *     <AddInstrumentationMethod ConfigPath="/path/plugin.xml">
 *       <Settings><Setting Name="..." Value="..."/></Settings>
 *     </AddInstrumentationMethod>
 *   </InstrumentationMethods>
 * </InstrumentationEngineConfiguration>
 */
#ifndef SXS_CLRIE_CONFIG_ATTACH_H
#define SXS_CLRIE_CONFIG_ATTACH_H

#include "clrie/config/config.h"

struct clrie_attach_setting {
    char *name, *value; /* UTF-8, not empty */
};

/** A configuration file, and the settings for its plug-ins, in the order of the data. A name occurs
 *  once: the first value counts. */
struct clrie_attach_source {
    char                        *path; /* of the configuration file, as it is written */
    struct clrie_attach_setting *settings;
    size_t                       n_settings;
};

/** Everything is owned. */
struct clrie_attach {
    char                       *log_level, *log_file_level, *log_file_path; /* NULL: not set */
    struct clrie_attach_source *sources;
    size_t                      n_sources;
};

/**
 * clrie_attach_parse - read @size bytes of attach data. Unknown elements are skipped. After an error
 * the rest is not read, what was read before is kept.
 * @out: overwritten; free it with clrie_attach_free(). @report: receives a line for what is wrong.
 * Returns 0 without an error, 1 after an error, -1 without memory. Takes a lock of instr/config: not
 * in a signal handler. Any thread.
 */
int clrie_attach_parse(const void *data, size_t size, struct clrie_attach *out,
                       clrie_config_report *report, void *arg);

/** clrie_attach_free - free what @attach owns, and zero it. */
void clrie_attach_free(struct clrie_attach *attach);

#endif
