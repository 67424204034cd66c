/* SPDX-License-Identifier: MIT */
/**
 * method_option.h - check the configuration files of --method and SXSPROF_METHODS: plug-ins of the CLR
 * Instrumentation Engine (CLRIE).
 */
#ifndef SXS_CMD_METHOD_OPTION_H
#define SXS_CMD_METHOD_OPTION_H

#include "clrie/config/config.h"

/**
 * sxs_method_check - check that the library of a plug-in is there and can be a plug-in. Runs no code of
 * the library.
 * @why: receives "FILE:LINE: what is wrong; expected ..."; holds @size bytes.
 * Returns 0 or -1.
 */
int sxs_method_check(const struct clrie_plugin_declaration *declared, char *why, size_t size);

/** sxs_methods_check - check a value of SXSPROF_METHODS: each file, and the libraries that it names.
 *  Returns NULL, or the first thing that is wrong (static, or written to @why of @size bytes). */
const char *sxs_methods_check(const char *value, char *why, size_t size);

/** sxs_method_item - check the argument of --method, a configuration file. Returns its absolute path,
 *  owned; NULL after writing what is wrong to @why of @size bytes. */
char *sxs_method_item(const char *argument, char *why, size_t size);

#endif
