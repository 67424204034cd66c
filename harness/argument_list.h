/* SPDX-License-Identifier: MIT */
/** argument_list.h - splits a string into arguments. */
#ifndef SXS_HARNESS_ARGUMENT_LIST_H
#define SXS_HARNESS_ARGUMENT_LIST_H

#include <stddef.h>

/**
 * sxs_argument_list_split - split @text into words as a shell does, without any expansion.
 * @out: receives an owned, NULL-terminated array; free it with sxs_argument_list_free().
 * @len: receives the number of words.
 * Returns NULL on success. Otherwise returns a static string with the error in @text, and sets @out
 * to NULL. Any thread; not async-signal-safe.
 *
 * Blanks separate words. '...' keeps all characters. "..." keeps all characters except \" \\ \$ and
 * \`. Outside of quotes a backslash makes the next character an ordinary one. */
const char *sxs_argument_list_split(const char *text, const char ***out, size_t *len);

/* Frees the array of sxs_argument_list_split(); NULL is allowed. */
void sxs_argument_list_free(const char **words);

#endif
