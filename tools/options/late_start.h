/* SPDX-License-Identifier: MIT */
/**
 * late_start.h - what tools can and cannot do when they start on a runtime that already runs.
 *
 * Some events must be asked for before a runtime runs its first code, and some facts are reported
 * once only: when a type is loaded, when a method is compiled. The library and the command read the
 * same table, so that the command can say before an attach what will be missing.
 */
#ifndef SXS_TOOLS_OPTIONS_LATE_START_H
#define SXS_TOOLS_OPTIONS_LATE_START_H

#include <stddef.h>

#include "runtime_facts/facts.h"

/** How a tool comes to a runtime that runs. */
enum sxs_late_way {
    SXS_LATE_ATTACH,  /* the runtime loads the library now: InitializeForAttach */
    SXS_LATE_REQUEST, /* the library was loaded when the runtime started, the tool was not on; for
                       * the tool native: libsxsprof-malloc.so was */
};

/** What the tool records then. */
enum sxs_late_result {
    SXS_LATE_FULL,   /* all that happens from now on */
    SXS_LATE_PARTLY, /* something is missing */
    SXS_LATE_NO,     /* the tool does not start */
};

/**
 * sxs_late_start - say what a tool records when it starts late.
 * @tool: its name in SXSPROF_TOOLS. @options: the text after "NAME:"; "" or NULL: none. Wrong
 *   options count as not given.
 * @facts: those of the runtime's version.
 * @why: receives one sentence, without a full stop: what is missing, or why the tool does not
 *   start; "" for SXS_LATE_FULL. Static. May be NULL.
 * Returns the result; SXS_LATE_NO for a name that no tool has. Pure.
 */
enum sxs_late_result sxs_late_start(enum sxs_late_way way, const char *tool, const char *options,
                                    const struct sxs_runtime_facts *facts, const char **why);

#endif
