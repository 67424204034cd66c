/* SPDX-License-Identifier: MIT */
/**
 * list.h - the value of SXSPROF_GUESTS: items separated by ';'.
 *
 * An item that begins with '{' is a declaration (declaration.h), `adopt` asks for the profilers that
 * the environment names, anything else is the path of an XML file (file.h). In each of them a
 * backslash makes the character after it plain.
 */
#ifndef SXS_GUESTS_CONFIG_LIST_H
#define SXS_GUESTS_CONFIG_LIST_H

#include "guests/config/declaration.h"

/** Guests in the order in which they were declared. */
struct guest_list {
    struct guest_declaration items[GUEST_MAX]; /* owned */
    unsigned                 n;
    int                      adopt; /* the item `adopt` is there */
};

/**
 * guest_list_read - add the items of @text to @list, which is zeroed at first.
 * @problem: called with a line of text for each thing that is wrong: the item is left out.
 * Reads files, allocates, and takes a lock of instr/config: not in a signal handler. Any thread.
 */
void guest_list_read(struct guest_list *list, const char                *text,
                     void (*problem)(void *arg, const char *line), void *arg);

/** guest_list_free - free what the list owns, and zero it. */
void guest_list_free(struct guest_list *list);

#endif
