/* SPDX-License-Identifier: MIT */
/** guid.h - compares and parses GUIDs. */
#ifndef SXS_MANAGER_GUID_H
#define SXS_MANAGER_GUID_H

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "sxs_abi.h"

static inline int sxs_guid_equal(const GUID *a, const GUID *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

static inline int sxs_guid_in(const GUID *guid, const GUID *const *list, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (sxs_guid_equal(guid, list[i]))
            return 1;
    return 0;
}

/** Parse "{xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx}" and nothing else, not even further characters.
 *  Return 1 on success, else 0. */
static inline int sxs_guid_parse(const char *text, GUID *out)
{
    static const char form[] = "{xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx}";
    unsigned          d[11];
    for (size_t i = 0; i < sizeof(form); i++) /* the terminator too */
        if (form[i] == 'x' ? !isxdigit((unsigned char)text[i]) : text[i] != form[i])
            return 0;
    if (sscanf(text, "{%8x-%4x-%4x-%2x%2x-%2x%2x%2x%2x%2x%2x}", &d[0], &d[1], &d[2], &d[3], &d[4],
               &d[5], &d[6], &d[7], &d[8], &d[9], &d[10]) != 11)
        return 0;
    out->Data1 = d[0];
    out->Data2 = (USHORT)d[1];
    out->Data3 = (USHORT)d[2];
    for (int i = 0; i < 8; i++)
        out->Data4[i] = (BYTE)d[3 + i];
    return 1;
}

#endif
