/* SPDX-License-Identifier: MIT */
#include "values/line.h"

#include <stdio.h>
#include <string.h>

#include "base/mask.h"
#include "base/text/utf8.h"

void sxs_line_char(struct sxs_line *line, uint32_t c, char quote)
{
    static const char letters[] = {['\0'] = '0', ['\a'] = 'a', ['\b'] = 'b', ['\t'] = 't',
                                   ['\n'] = 'n', ['\v'] = 'v', ['\f'] = 'f', ['\r'] = 'r'};
    char bytes[8];
    if (c == (unsigned char)quote || c == '\\') {
        bytes[0] = '\\';
        bytes[1] = (char)c;
        sxs_text_put_bytes(&line->text, bytes, 2);
    } else if (c < sizeof(letters) && letters[c]) {
        bytes[0] = '\\';
        bytes[1] = letters[c];
        sxs_text_put_bytes(&line->text, bytes, 2);
    } else if (sxs_is_control(c) || sxs_utf16_is_half(c) || c == 0x2028 || c == 0x2029 ||
               (c >= 0xfffe && c <= 0xffff)) {
        snprintf(bytes, sizeof(bytes), "\\u%04X", c & 0xffff);
        sxs_text_put_bytes(&line->text, bytes, 6);
    } else {
        sxs_text_put_bytes(&line->text, bytes, sxs_utf8_put(bytes, c));
    }
}

void sxs_line_string(struct sxs_line *line, const uint16_t *units, size_t n, size_t total)
{
    enum sxs_mask mask = sxs_mask();
    if (mask == SXS_MASK_ALL) {
        sxs_line_put(line, SXS_MASKED);
        return;
    }
    if (mask) {
        sxs_line_putf(line, "string(%zu)", total);
        return;
    }
    sxs_line_put(line, "\"");
    if (n < total && n && (units[n - 1] & 0xfc00) == 0xd800)
        n--; /* half of a pair */
    for (size_t i = 0; i < n;)
        sxs_line_char(line, sxs_utf16_next(units, n, &i), '"');
    if (n < total)
        sxs_line_putf(line, "\"...[%zu]", total);
    else
        sxs_line_put(line, "\"");
}

size_t sxs_line_utf8(const uint16_t *units, size_t n, char *out, size_t size)
{
    return sxs_utf8_line(units, sxs_utf16_len(units, n), '?', out, size, NULL);
}
