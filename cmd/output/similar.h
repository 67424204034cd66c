/* SPDX-License-Identifier: MIT */
/** similar.h - the word that was probably meant. */
#ifndef SXS_CMD_OUTPUT_SIMILAR_H
#define SXS_CMD_OUTPUT_SIMILAR_H

#include <stddef.h>

/**
 * sxs_similar - return the one of the @n @words that is most like @word: a beginning of it, or the same but
 * for few characters that are wrong, missing, too many or in the wrong order. NULL: none is like it. Pure.
 */
const char *sxs_similar(const char *word, const char *const *words, size_t n);

#endif
