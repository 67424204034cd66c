/* SPDX-License-Identifier: MIT */
/** list_options.h - settings of tools, pieces separated by ',': read by the library and the command. */
#ifndef SXS_LIST_OPTIONS_H
#define SXS_LIST_OPTIONS_H

#include <stddef.h>

/** sxs_list_parse - calls @read with each piece of @text and @out; nonzero: it is no setting. Nor is a piece of more than 63
 *  characters. Returns 0, or -1 with that piece, or its beginning, in @bad (@size bytes). Pure but for @read. */
int sxs_list_parse(const char *text, int (*read)(const char *item, void *out), void *out, char *bad,
                   size_t size);

#endif
