/* SPDX-License-Identifier: MIT */
/**
 * clrie/config/config.h - which plug-ins to load: the variables that name configuration files, and
 * the files.
 *
 * <InstrumentationEngineConfiguration>
 *   <InstrumentationMethod>
 *     <Name>...</Name> <Description>...</Description> <Module>libplugin.so</Module>
 *     <ClassGuid>{...}</ClassGuid> <Priority>50</Priority>
 *   </InstrumentationMethod>
 * </InstrumentationEngineConfiguration>
 *
 * Module is a path below the folder of the file. The rules are CLRIE's: an unknown element or a
 * comment ends the reading of the file, plug-ins before it are kept, texts are not trimmed.
 */
#ifndef SXS_CLRIE_CONFIG_CONFIG_H
#define SXS_CLRIE_CONFIG_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "sxs_abi.h"

#define CLRIE_CLSID "{324F817A-7420-4E6D-B3C1-143FBED6D855}" /* class of the engine */

/** A plug-in that a configuration file declares. Texts are UTF-8 and owned by the list. */
struct clrie_plugin_declaration {
    char    *name, *description; /* not empty */
    char    *path;               /* of the library: the folder of the file, '/', Module */
    char    *config;             /* the configuration file */
    uint32_t line;               /* of the element in the file, from 1 */
    GUID     clsid;
    uint32_t priority; /* a lower number is called first; 0xFFFFFFFF: the file names none */
    /* An earlier plug-in of the list has the same class: to be skipped if that one was loaded. */
    int is_duplicate;
};

/** Plug-ins in the order in which they are declared, which is the order of loading. */
struct clrie_plugin_list {
    struct clrie_plugin_declaration *items; /* owned */
    size_t                           n;
};

/** Receives one line of text, without a line end, for each thing that is wrong. Called on the thread
 *  that reads, without a lock. */
typedef void clrie_config_report(void *arg, const char *line);

/** clrie_config_ask - remember that a runtime asked for CLRIE's class: it wants the engine even when no
 *  configuration file is named. Any thread. */
void clrie_config_ask(void);

/**
 * clrie_config_is_named - return 1 if the engine is wanted, else 0: clrie_config_ask() was called, or
 * the environment names a configuration file, by SXSPROF_METHODS or by a variable of CLRIE, even one
 * that does not exist. Reads no file.
 *
 * Variables of CLRIE do not count, and clrie_config_read() does not read them, when SXSPROF_GUESTS
 * names CLRIE's class: then CLRIE itself runs as a guest and loads these plug-ins.
 */
int clrie_config_is_named(void);

/**
 * clrie_config_read - add the plug-ins of all files that the environment names to @list, which is
 * zeroed at first: files of SXSPROF_METHODS, then those of the variables
 * MicrosoftInstrumentationEngine_ConfigPath64_* and _ConfigPath_* in the order of the environment.
 * A file of CLRIE's variables that does not exist is skipped without a report.
 * Returns the number of files that were read, also of those with errors; -1 without memory.
 * Takes a lock of instr/config: not in a signal handler. Any thread.
 */
int clrie_config_read(struct clrie_plugin_list *list, clrie_config_report *report, void *arg);

/** clrie_config_read_file - add the plug-ins of the file @path to @list, as above. The path is used
 *  as it is. Returns 0 when the file has no error, 1 when it has one (reported), -1 without memory. */
int clrie_config_read_file(struct clrie_plugin_list *list, const char *path,
                           clrie_config_report *report, void *arg);

/** clrie_config_parse - the same with @size bytes at @bytes instead of the contents of the file. */
int clrie_config_parse(struct clrie_plugin_list *list, const char *path, const char *bytes,
                       size_t size, clrie_config_report *report, void *arg);

/** clrie_config_free - free what the list owns, and zero it. */
void clrie_config_free(struct clrie_plugin_list *list);

#endif
