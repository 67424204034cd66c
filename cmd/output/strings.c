/* SPDX-License-Identifier: MIT */
#include "cmd/output/strings.h"

#include "base/text/utf8.h"
#include "cmd/output/must.h"
#include "cmd/output/table_hash.h"

#include <stdbool.h>
#include <string.h>

uint64_t sxs_hash_bytes(const void *bytes, size_t size, uint64_t seed)
{
    const unsigned char *p = bytes;
    uint64_t             h = seed ^ (size * 0x9e3779b97f4a7c15u), v;
    for (; size >= 8; size -= 8, p += 8) {
        memcpy(&v, p, 8);
        h = (h ^ v) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    v = 0;
    memcpy(&v, p, size);
    h = (h ^ v) * 0xc4ceb9fe1a85ec53u;
    return h ^ (h >> 29);
}

void sxs_strings_clean(char *text, size_t size)
{
    for (size_t i = 0, n; i < size; i += n) {
        uint32_t c;
        i += sxs_displayed_len(text + i, size - i);
        if (i == size)
            break;
        n = sxs_utf8_next(text + i, size - i, &c);
        bool control = n && sxs_is_control(c);
        n = n && !sxs_utf16_is_half(c) ? n : 1;
        memset(text + i, control ? ' ' : '?', n);
    }
}

static uint32_t add_clean(struct sxs_strings *s, char *text /* owned */, size_t size)
{
    uint64_t hash = sxs_table_hash(text, size, 1);
    size_t   at = (uint32_t)hash;
    uint32_t number;
    if (sxs_index_reserve(&s->index) != 0)
        sxs_must(NULL);
    for (; (number = sxs_index_next(&s->index, (uint32_t)hash, &at)) != 0; at++) {
        struct sxs_string *known = &s->all[number - 1];
        if (known->hash == hash && strcmp(known->text, text) == 0) {
            free(text);
            return number - 1;
        }
    }
    SXS_GROW(s->all, s->n, s->cap);
    s->all[s->n] = (struct sxs_string){text, hash};
    sxs_index_put(&s->index, at, (uint32_t)hash, s->n);
    return (uint32_t)s->n++;
}

uint32_t sxs_strings_add(struct sxs_strings *s, const char *text, size_t size)
{
    if (s->n == 0 && size > 0)
        sxs_strings_add(s, "", 0);
    size = size ? strnlen(text, size) : 0;
    char *copy = sxs_must(malloc(size + 1));
    memcpy(copy, text, size);
    copy[size] = '\0';
    sxs_strings_clean(copy, size);
    return add_clean(s, copy, size);
}

void sxs_strings_free(struct sxs_strings *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->all[i].text);
    free(s->all);
    sxs_index_free(&s->index);
    memset(s, 0, sizeof(*s));
}
