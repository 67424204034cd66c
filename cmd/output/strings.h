/* SPDX-License-Identifier: MIT */
/** strings.h - interned strings: equal texts have equal numbers. */
#ifndef SXS_CMD_OUTPUT_STRINGS_H
#define SXS_CMD_OUTPUT_STRINGS_H

#include "base/index.h"

#include <stddef.h>
#include <stdint.h>

struct sxs_string {
    char    *text; /* owned, zero-terminated UTF-8 without control characters */
    uint64_t hash;
};

/** A table of strings. A zeroed table is empty; string 0 is always "", from the first use on. */
struct sxs_strings {
    struct sxs_string *all;
    size_t             n, cap;
    struct sxs_index   index;
};

/**
 * sxs_hash_bytes - return a 64-bit hash of @size bytes, which is the same in every process, for values that are
 * stored or sent. Tables use sxs_table_hash() (table_hash.h). @seed: chains several calls. Any thread.
 */
uint64_t sxs_hash_bytes(const void *bytes, size_t size, uint64_t seed);

/**
 * sxs_strings_add - return the number of @text (@size bytes), added when new; it is cleaned as by
 * sxs_strings_clean().
 */
uint32_t sxs_strings_add(struct sxs_strings *s, const char *text, size_t size);

/** sxs_strings_text - return the text of a string; borrowed, valid as long as the table. */
static inline const char *sxs_strings_text(const struct sxs_strings *s, uint32_t number)
{
    return s->all[number].text;
}

/** sxs_strings_free - release the table's memory. */
void sxs_strings_free(struct sxs_strings *s);

/**
 * sxs_strings_clean - make text from a file safe for terminals and JSON, in place: each byte of a
 * control character becomes ' '; each byte of another character that is not displayed
 * (base/displayed.h), and each that is not UTF-8, becomes '?'.
 * @size: bytes.
 */
void sxs_strings_clean(char *text, size_t size);

#endif
