/* SPDX-License-Identifier: MIT */
/** similar.h - find the valid word that is most similar to a misspelt one. */
#ifndef SXS_CMD_OUTPUT_SIMILAR_H
#define SXS_CMD_OUTPUT_SIMILAR_H

#include <stddef.h>

/**
 * sxs_similar - return the one of the @n @words that is most like @word: one that begins with @word,
 * or one from which @word differs by few characters that are wrong, missing, added or swapped. NULL: no word is
 * similar. Pure.
 */
const char *sxs_similar(const char *word, const char *const *words, size_t n);

#endif
