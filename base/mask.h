/* SPDX-License-Identifier: MIT */
/**
 * mask.h - which values may be recorded: the setting SXSPROF_MASK.
 *
 * Values are what the program works with: arguments, results, fields, exception messages, names of
 * endpoints, the arguments of its command line. Names of types, methods and files are not values. All
 * code that writes a value into a file asks sxs_mask().
 */
#ifndef SXS_BASE_MASK_H
#define SXS_BASE_MASK_H

#include <string.h>

#include "base/base.h"

/** A larger one lets less be recorded. */
enum sxs_mask {
    SXS_MASK_OFF,  /* values are recorded */
    SXS_MASK_TEXT, /* of text only the length: strings, characters, bytes, messages, arguments */
    SXS_MASK_ALL   /* no values */
};

#define SXS_MASK_EXPECTED "off, text or all"
#define SXS_MASKED        "*" /* in place of a value */

/** sxs_mask_name - return the name of @mask. Static. */
static inline const char *sxs_mask_name(enum sxs_mask mask)
{
    return mask == SXS_MASK_OFF ? "off" : mask == SXS_MASK_TEXT ? "text" : "all";
}

/** sxs_mask_parse - return the enum sxs_mask that @text names, or -1. Pure. */
static inline int sxs_mask_parse(const char *text)
{
    for (int i = 0; i <= SXS_MASK_ALL; i++)
        if (strcmp(text, sxs_mask_name((enum sxs_mask)i)) == 0)
            return i;
    return -1;
}

/** sxs_mask_init - read SXSPROF_MASK. A value that is not understood masks all, after one line of the
 *  log. Once, before anything is recorded. */
void sxs_mask_init(void);

/** sxs_mask_begin - set what counts for the next session. @wish: NULL, or what its request asks for;
 *  it can make the setting stricter, not weaker. Returns 0, or -1: @wish is not understood, and nothing
 *  has changed. To be called while no session is on. */
int sxs_mask_begin(const char *wish);

/** sxs_mask - return what counts now. Any thread. */
SXS_SIGSAFE enum sxs_mask sxs_mask(void);

#endif
