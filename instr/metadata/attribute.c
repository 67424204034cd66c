/* SPDX-License-Identifier: MIT */
#include "instr/metadata/attribute.h"

#include <string.h>

#define PROLOG  2u /* the bytes 1 and 0 at the start of a value */
#define NO_TEXT 0xffu

/* Returns the text of the first argument. Before the text is its length in one, two or four
 * bytes. */
static struct sxs_blob first_text(struct sxs_blob value)
{
    const uint8_t  *b = value.at + PROLOG;
    struct sxs_blob none = {NULL, 0};
    size_t          head, size;
    if (value.size <= PROLOG || value.at[0] != 1 || value.at[1] != 0 || b[0] == NO_TEXT)
        return none;
    head = b[0] < 0x80 ? 1 : b[0] < 0xc0 ? 2 : 4;
    if (value.size - PROLOG < head)
        return none;
    size = head == 1 ? b[0]
           : head == 2
               ? (size_t)(b[0] & 0x3f) << 8 | b[1]
               : (size_t)(b[0] & 0x1f) << 24 | (size_t)b[1] << 16 | (size_t)b[2] << 8 | b[3];
    return size <= value.size - PROLOG - head ? (struct sxs_blob){b + head, size} : none;
}

/* Returns the next character of the type's name, without a backslash before it. Returns 0 at the
 * end of the name: at a comma, or at the end of the text. */
static char next(struct sxs_blob text, size_t *at)
{
    if (*at < text.size && text.at[*at] == '\\')
        ++*at;
    else if (*at < text.size && text.at[*at] == ',')
        return 0;
    return *at < text.size ? (char)text.at[(*at)++] : 0;
}

size_t sxs_md_attribute_type(struct sxs_blob value, char *out, size_t room)
{
    struct sxs_blob text = first_text(value);
    size_t          at = 0, n = 0;
    char            c;
    while ((c = next(text, &at)) != 0) {
        if (n + 1 >= room)
            return 0;
        out[n++] = c;
    }
    if (room)
        out[n] = '\0';
    return n;
}

int sxs_md_attribute_is_type(struct sxs_blob value, const char *name)
{
    struct sxs_blob text = first_text(value);
    size_t          at = 0;
    for (; *name; name++)
        if (next(text, &at) != *name)
            return 0;
    return text.size && !next(text, &at);
}
