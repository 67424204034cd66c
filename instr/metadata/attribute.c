/* SPDX-License-Identifier: MIT */
#include "instr/metadata/attribute.h"

#include <string.h>

#include "instr/metadata/compressed.h"

#define PROLOG  2u /* the bytes 1 and 0 at the start of a value */
#define NO_TEXT 0xffu

/* Returns the text of the first argument. Before the text is its size. */
static struct sxs_blob first_text(struct sxs_blob value)
{
    const uint8_t  *text = value.at + PROLOG, *end = value.at + value.size;
    struct sxs_blob none = {NULL, 0};
    uint32_t        size;
    unsigned        head;
    if (value.size <= PROLOG || value.at[0] != 1 || value.at[1] != 0 || *text == NO_TEXT)
        return none;
    head = sxs_compressed_read(text, end, &size);
    return head && size <= (size_t)(end - text) - head ? (struct sxs_blob){text + head, size}
                                                       : none;
}

/* Returns the next character of the type's name, without a backslash before it. Returns 0 at the
 * end of the name: at a comma, or at the end of the text. */
static char next_char(struct sxs_blob text, size_t *at)
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
    while ((c = next_char(text, &at)) != 0) {
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
        if (next_char(text, &at) != *name)
            return 0;
    return text.size && !next_char(text, &at);
}
