/* SPDX-License-Identifier: MIT */
/* argument_list.c - splits a string into arguments. */
#include "harness/argument_list.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

/* Copies one word from *at to *to and advances both past it. Returns NULL, or a static string with
 * the error. */
static const char *take_word(const char **at, char **to)
{
    const char *from = *at;
    char       *out = *to;
    char        quote = '\0';

    for (; *from && (quote || !is_blank(*from)); from++) {
        if (quote == '\'') {
            if (*from == '\'')
                quote = '\0';
            else
                *out++ = *from;
        } else if (*from == '\\') {
            bool taken = from[1] && (!quote || strchr("\"\\$`", from[1]));
            if (!from[1] && !quote)
                return "a backslash at the end";
            if (taken)
                from++;
            *out++ = *from;
        } else if (*from == '"') {
            quote = quote ? '\0' : '"';
        } else if (*from == '\'' && !quote) {
            quote = '\'';
        } else {
            *out++ = *from;
        }
    }
    if (quote)
        return quote == '"' ? "a \" that is never closed" : "a ' that is never closed";
    *out++ = '\0';
    *at = from;
    *to = out;
    return NULL;
}

const char *sxs_argument_list_split(const char *text, const char ***out, size_t *len)
{
    size_t size = strlen(text);
    /* Upper limit of the number of words: each but the last is followed by a blank. The characters
     * of the words are in the same block, after the array. */
    size_t cap = size / 2 + 2;
    const char **words = malloc(cap * sizeof(*words) + size + 1);
    size_t n = 0;

    *out = NULL;
    *len = 0;
    if (!words)
        return "too long: no memory";
    char *to = (char *)(words + cap);
    for (;;) {
        while (is_blank(*text))
            text++;
        if (!*text)
            break;
        words[n++] = to;
        const char *why = take_word(&text, &to);
        if (why) {
            free(words);
            return why;
        }
    }
    words[n] = NULL;
    *out = words;
    *len = n;
    return NULL;
}

void sxs_argument_list_free(const char **words)
{
    free((void *)(uintptr_t)words); /* the array is const for callers only */
}
