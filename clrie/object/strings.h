/* SPDX-License-Identifier: MIT */
/**
 * strings.h - BSTR: UTF-16 text that ends with a zero, with its length in bytes in the 32 bits
 * before it. Plug-ins free it with IProfilerStringManager::FreeString or with
 * InstrumentationEngineFreeString().
 */
#ifndef SXS_CLRIE_OBJECT_STRINGS_H
#define SXS_CLRIE_OBJECT_STRINGS_H

#include <stddef.h>

#include "sxs_abi.h"

/** clrie_string_new - copy @n UTF-16 units. Returns NULL without memory. Any thread. */
BSTR clrie_string_new(const WCHAR *text, size_t n);

/** clrie_string_of - make a BSTR of UTF-8 text. Returns NULL without memory. Any thread. */
BSTR clrie_string_of(const char *utf8);

/** clrie_string_free - free a BSTR of this file; NULL is allowed. Any thread. */
void clrie_string_free(BSTR string);

/** clrie_string_length - return the length in UTF-16 units, by the zero at the end, because plug-ins
 *  may pass plain text where a BSTR is expected. 0 for NULL. */
size_t clrie_string_length(const WCHAR *text);

/** clrie_string_utf8 - the UTF-8 form of a text, which may be a plain one; "" for NULL. Owned by the
 *  caller. NULL without memory. */
char *clrie_string_utf8(const WCHAR *text);

/** clrie_string_hand_out - store a BSTR of UTF-8 @text in @out. Returns S_OK or E_OUTOFMEMORY. */
HRESULT clrie_string_hand_out(const char *text, BSTR *out);

#endif
