/* SPDX-License-Identifier: MIT */
/** list_options.h - splits the options of a tool, which are separated by ','. Used by the library
 *  and the command. */
#ifndef SXS_TOOLS_OPTIONS_LIST_OPTIONS_H
#define SXS_TOOLS_OPTIONS_LIST_OPTIONS_H

#include <stddef.h>

/** sxs_list_parse - call @read with each option of @text and @out.
 *  @read: returns nonzero when the option is invalid. An option of more than 63 characters is
 *         invalid, too.
 *  Returns 0, or -1 with the first invalid option, or its beginning, in @bad (@size bytes). Pure
 *  except for @read. */
int sxs_list_parse(const char *text, int (*read)(const char *item, void *out), void *out, char *bad,
                   size_t size);

#endif
