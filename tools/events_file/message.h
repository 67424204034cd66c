/* SPDX-License-Identifier: MIT */
/** message.h - the message of an exception object, read from its fields: no managed code is run. */
#ifndef SXS_EVENTS_MESSAGE_H
#define SXS_EVENTS_MESSAGE_H

#include "manager/runtime.h"

/** Where a runtime keeps it. Zeroed before the first use. */
struct sxs_message_layout {
    _Atomic int state; /* 0: not asked yet, 1: known, -1: cannot be known */
    uint32_t    message_at; /* offset of System.Exception._message in the object */
    uint32_t    trace_at;   /* of _stackTrace; 0: not known */
    uint32_t    length_at, chars_at; /* in a string */
};

struct sxs_message {
    char   text[244]; /* UTF-8, at most SXS_MESSAGE_MAX bytes and a zero; "" when there is none */
    size_t size;
    int    cut;
    int    traced; /* the object has a stack trace: it was thrown before */
};

/**
 * sxs_message_read - @object, of class @cls, as it is now. In a callback that was handed it: there it
 * does not move. Every pointer is followed by a read that may fail.
 */
void sxs_message_read(struct sxs_message_layout *layout, sxs_object object, sxs_class cls,
                      struct sxs_message *out);

/** @n UTF-16 units as at most @size - 1 bytes of UTF-8 and a zero; control characters become spaces.
 *  Returns the bytes; *cut: 1 when not all fitted. Pure. */
size_t sxs_message_utf8(const uint16_t *units, size_t n, char *out, size_t size, int *cut);

#endif
