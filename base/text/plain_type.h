/* SPDX-License-Identifier: MIT */
/** plain_type.h - names of types as a user may write them. Pure; any thread. */
#ifndef SXS_BASE_TEXT_PLAIN_TYPE_H
#define SXS_BASE_TEXT_PLAIN_TYPE_H

#include <stddef.h>

/** sxs_plain_type - write @name without type arguments and their numbers, with '.' for '+':
 *  "A.B`1+C<D>" becomes "A.B.C". Names that compilers made, "<Name>", stay. @out: @size bytes, at
 *  least 1; cut. Returns @out. */
const char *sxs_plain_type(const char *name, char *out, size_t size);

#endif
