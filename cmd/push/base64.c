/* SPDX-License-Identifier: MIT */
#include "cmd/push/base64.h"

#include "cmd/output/must.h"

char *sxs_base64(const uint8_t *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char             *text = sxs_must_zeroed(size / 3 * 4 + 5, 1), *to = text;
    for (size_t i = 0; i < size; i += 3) {
        size_t   n = size - i < 3 ? size - i : 3;
        uint32_t group = (uint32_t)bytes[i] << 16 | (n > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                         (n > 2 ? (uint32_t)bytes[i + 2] : 0);
        for (size_t k = 0; k < 4; k++)
            *to++ = k > n ? '=' : digits[group >> (18 - 6 * k) & 63];
    }
    return text;
}
