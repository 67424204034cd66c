/* SPDX-License-Identifier: MIT */
#include "clrie/object/strings.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/utf8.h"

/* The text begins LENGTH_ROOM bytes after the start of the allocation; the length is in the 4 bytes
 * before the text. */
enum { LENGTH_ROOM = 8 };

static BSTR allocate(size_t n)
{
    char    *bytes = n < SIZE_MAX / 4 ? malloc(LENGTH_ROOM + (n + 1) * sizeof(WCHAR)) : NULL;
    uint32_t size = (uint32_t)(n * sizeof(WCHAR));
    BSTR     string;
    if (!bytes)
        return NULL;
    memcpy(bytes + LENGTH_ROOM - sizeof(size), &size, sizeof(size));
    string = (BSTR)(void *)(bytes + LENGTH_ROOM);
    string[n] = 0;
    return string;
}

BSTR clrie_string_new(const WCHAR *text, size_t n)
{
    BSTR string = allocate(n);
    if (string && n)
        memcpy(string, text, n * sizeof(WCHAR));
    return string;
}

BSTR clrie_string_of(const char *utf8)
{
    size_t size = strlen(utf8), n = 0;
    BSTR   string = allocate(size); /* no character needs more units than bytes */
    if (!string)
        return NULL;
    for (size_t at = 0, step; at < size; at += step) {
        uint32_t c;
        step = sxs_utf8_next(utf8 + at, size - at, &c);
        if (!step) { /* no UTF-8: the replacement character */
            c = 0xfffd;
            step = 1;
        }
        n += sxs_utf16_put(string + n, c);
    }
    string[n] = 0;
    uint32_t length = (uint32_t)(n * sizeof(WCHAR));
    memcpy((char *)string - sizeof(length), &length, sizeof(length));
    return string;
}

void clrie_string_free(BSTR string)
{
    if (string)
        free((char *)string - LENGTH_ROOM);
}

size_t clrie_string_length(const WCHAR *text)
{
    size_t n = 0;
    while (text && text[n])
        n++;
    return n;
}

HRESULT clrie_string_hand_out(const char *text, BSTR *out)
{
    *out = clrie_string_of(text);
    return *out ? S_OK : E_OUTOFMEMORY;
}

char *clrie_string_utf8(const WCHAR *text)
{
    size_t n = clrie_string_length(text), len = 0;
    char  *out = malloc(n * 3 + 1);
    if (!out)
        return NULL;
    for (size_t at = 0; at < n;) {
        char   bytes[4];
        size_t size = sxs_utf8_put(bytes, sxs_utf16_next(text, n, &at));
        memcpy(out + len, bytes, size);
        len += size;
    }
    out[len] = '\0';
    return out;
}
