/* SPDX-License-Identifier: MIT */
#ifndef SXS_HARNESS_WORDS_H
#define SXS_HARNESS_WORDS_H

#include <stddef.h>

/**
 * sxs_words_split - split @text into words the way a shell does, without any expansion.
 * Blanks part words; '...' keeps everything; "..." keeps everything but \" \\ \$ and \`; outside of
 * quotes a backslash takes the next character as it is.
 * @out: receives an owned, NULL-terminated array, to be freed with sxs_words_free().
 * @len: receives the number of words.
 * Returns NULL on success, otherwise what is wrong with @text (a static string); then @out is NULL.
 * Any thread; not async-signal-safe. */
const char *sxs_words_split(const char *text, const char ***out, size_t *len);

/* Frees what sxs_words_split() gave; NULL is fine. */
void sxs_words_free(const char **words);

#endif
