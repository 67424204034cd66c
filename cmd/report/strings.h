/* SPDX-License-Identifier: MIT */
/**
 * strings.h - interned strings: equal text, equal number.
 */
#ifndef SXS_REPORT_PROFILE_STRINGS_H
#define SXS_REPORT_PROFILE_STRINGS_H

#include <stddef.h>
#include <stdint.h>

struct sxs_string {
    char    *text; /* owned, zero-terminated UTF-8 without control characters */
    uint64_t hash;
};

/** A table; zeroed it is empty but for "" once used. String 0 is always "". */
struct sxs_strings {
    struct sxs_string *all;
    size_t             n, cap;
    uint32_t          *slots; /* open addressing: number + 1 */
    size_t             n_slots;
};

/** sxs_hash_bytes - 64 well-mixed bits of @size bytes; @seed chains calls. Any thread. */
uint64_t sxs_hash_bytes(const void *bytes, size_t size, uint64_t seed);

/** sxs_strings_add - the number of @text. What is no UTF-8 becomes '?', control characters ' '. */
uint32_t sxs_strings_add(struct sxs_strings *s, const char *text, size_t size);

/** sxs_strings_text - borrowed, holds as long as the table. */
static inline const char *sxs_strings_text(const struct sxs_strings *s, uint32_t number)
{
    return s->all[number].text;
}

/** sxs_strings_free - release everything. */
void sxs_strings_free(struct sxs_strings *s);

/** Makes text from a file fit for terminals and JSON: blanks for control characters, '?' for each byte
 *  that is no UTF-8. @size: bytes, in place. */
void sxs_strings_clean(char *text, size_t size);

#endif
