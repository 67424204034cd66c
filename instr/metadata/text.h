/* SPDX-License-Identifier: MIT */
/** instr/metadata/text.h - write text into memory of the caller; text that does not fit is cut
 *  off. */
#ifndef SXS_INSTR_METADATA_TEXT_H
#define SXS_INSTR_METADATA_TEXT_H

#include <stddef.h>
#include <stdint.h>

/** A text buffer. Writing to it leaves it zero-terminated, unless `size` is 0. */
struct sxs_il_text {
    char  *bytes;     /* owned by the caller */
    size_t size, len; /* size of `bytes`; length that the whole text has, even if it was cut off */
};

void sxs_il_put(struct sxs_il_text *t, const char *s);
void sxs_il_putf(struct sxs_il_text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** sxs_il_put_name - write an identifier, which may have parts separated by dots. The rest of the
 *  identifier, from the first part that ilasm would not accept bare, is written in single
 *  quotes. */
void sxs_il_put_name(struct sxs_il_text *t, const char *name);

/** sxs_il_put_utf16 - write a string as a literal of ilasm: in double quotes with escapes, or as
 *  `bytearray (...)` when it has characters that need it. @size: in bytes. */
void sxs_il_put_utf16(struct sxs_il_text *t, const uint8_t *units, size_t size);

#endif
