/* SPDX-License-Identifier: MIT */
/** tool_list.h - the one list of the tools: the library enables them by it, and the command knows by it which there
 *  are. A new tool is a folder tools/NAME/, a row here, and a row of folders.tsv. */
#ifndef SXS_TOOLS_OPTIONS_TOOL_LIST_H
#define SXS_TOOLS_OPTIONS_TOOL_LIST_H

/**
 * SXS_TOOLS - the tools in the order in which they are enabled and receive events; tools that are always on come
 * before those that need them. A row belongs to the struct sxs_tool sxs_NAME_tool (manager/tool.h).
 * OWN(NAME): a part of the library that is built as a tool. It is not named in settings.
 * NAMED(NAME, OPTIONS): a tool that SXSPROF_TOOLS and --tool can name. OPTIONS is the name of the table of its options,
 *   a struct sxs_tool_table, after "&", or NULL if it takes none.
 */
#define SXS_TOOLS(OWN, NAMED)                \
    OWN(guard)                               \
    OWN(pin)                                 \
    NAMED(census, NULL)                      \
    OWN(stackwalk)                           \
    OWN(recorder)                            \
    NAMED(sample, &sxs_sampler_table)        \
    NAMED(calls, &sxs_calls_table)           \
    NAMED(exceptions, NULL)                  \
    NAMED(events, &sxs_event_table)          \
    OWN(rejit)                               \
    NAMED(instrument, &sxs_instrument_table) \
    NAMED(alloc, &sxs_alloc_table)           \
    NAMED(native, &sxs_native_table)         \
    NAMED(gc, NULL)                          \
    NAMED(locks, &sxs_locks_table)           \
    NAMED(heap, &sxs_heap_table)             \
    NAMED(wait, &sxs_wait_table)

#endif
