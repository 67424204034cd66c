/* SPDX-License-Identifier: MIT */
/** list_options.h - settings of tools, pieces separated by ',': read by the library and the command. */
#ifndef SXS_LIST_OPTIONS_H
#define SXS_LIST_OPTIONS_H

#include <stddef.h>

/** sxs_list_parse - calls @read with each piece of @text (63 characters of it at most) and @out; nonzero: it is no setting.
 *  Returns 0, or -1 with that piece in @bad (@size bytes). Pure but for @read. */
int sxs_list_parse(const char *text, int (*read)(const char *item, void *out), void *out, char *bad,
                   size_t size);

#endif
