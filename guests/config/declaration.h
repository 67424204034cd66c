/* SPDX-License-Identifier: MIT */
/**
 * declaration.h - how a guest is declared: its library, its class ID, its own environment, its
 * priority, and the runtimes that it is for.
 *
 * As text: CLSID=PATH[,pick=all|first|one:WHAT][,priority=N][,env=NAME=VALUE]... A comma, semicolon
 * or backslash inside a value is written with a backslash before it.
 */
#ifndef SXS_GUESTS_CONFIG_DECLARATION_H
#define SXS_GUESTS_CONFIG_DECLARATION_H

#include <stddef.h>

#include "sxs_abi.h"

#define GUEST_MAX 16u /* guests in a process */

enum guest_pick { GUEST_PICK_ALL, GUEST_PICK_FIRST, GUEST_PICK_ONE };

struct guest_declaration {
    GUID            clsid;
    char            clsid_text[40]; /* "{...}", in capitals */
    char           *path;           /* of the library; owned */
    enum guest_pick pick;
    char           *pick_what; /* after "one:"; owned, or NULL */
    int             priority;  /* guests with lower numbers come first; default 0 */
    char          **env;       /* "NAME=VALUE", ends with NULL; owned, or NULL */
    size_t          n_env;
};

/**
 * guest_declaration_parse - read one declaration from @text, which ends with a zero or with an
 * unescaped ';'.
 * @out: receives it; free it with guest_declaration_free(). Zeroed after a failure. @why: receives what is wrong and what
 *   is expected; holds @size bytes.
 * Returns the number of characters used, without the ';', or -1.
 */
int guest_declaration_parse(const char *text, struct guest_declaration *out, char *why,
                            size_t size);

/**
 * guest_declaration_set - set one part of a declaration, which is zeroed at first.
 * @key: clsid, path, pick, priority or env (which adds a variable). @why: as above.
 * Returns 0 or -1.
 */
int guest_declaration_set(struct guest_declaration *declaration, const char *key, const char *value,
                          char *why, size_t size);

/** guest_declaration_text - write the declaration as text, as guest_declaration_parse() reads it.
 *  Returns an owned string, or NULL without memory. */
char *guest_declaration_text(const struct guest_declaration *declaration);

/** guest_declaration_free - free what the declaration owns, and zero it. */
void guest_declaration_free(struct guest_declaration *declaration);

#endif
