/* SPDX-License-Identifier: MIT */
/** message.h - reads the message of an exception object from its fields, without running managed
 *  code. */
#ifndef SXS_TOOLS_EVENTS_FILE_MESSAGE_H
#define SXS_TOOLS_EVENTS_FILE_MESSAGE_H

#include "manager/runtime.h"

/** Offsets of the fields in one runtime. All zeros before the first use. */
struct sxs_message_layout {
    _Atomic int state; /* 0: not determined yet, 1: known, -1: cannot be determined */
    uint32_t    message_at; /* offset of System.Exception._message in the object */
    uint32_t    trace_at;   /* offset of _stackTrace; 0: not known */
    uint32_t    length_at, chars_at; /* offsets in a string object */
};

struct sxs_exception_message {
    char   text[244]; /* UTF-8, at most SXS_MESSAGE_MAX bytes and a zero; "" when there is none */
    size_t size;      /* bytes, without the zero */
    int    cut;       /* 1: the message was longer */
    int    traced;    /* 1: the object has a stack trace, so it was thrown before */
};

/**
 * sxs_message_read - read the present message of @object, an exception of class @cls.
 * @layout: filled at the first call for a runtime.
 * Call only in a callback that passes @object, because there the runtime does not move the object.
 * Follows pointers with reads that can fail safely.
 */
void sxs_message_read(struct sxs_message_layout *layout, sxs_object object, sxs_class cls,
                      struct sxs_exception_message *out);

/** sxs_message_utf8 - convert @n UTF-16 units to at most @size - 1 bytes of UTF-8 and a zero.
 *  Control characters become spaces. Returns the number of bytes; *cut is 1 when not all units
 *  fitted. Pure. */
size_t sxs_message_utf8(const uint16_t *units, size_t n, char *out, size_t size, int *cut);

#endif
