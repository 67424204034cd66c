/* SPDX-License-Identifier: MIT */
/** text.h - text in memory of the caller's, cut where that ends. */
#ifndef SXS_INSTR_TEXT_H
#define SXS_INSTR_TEXT_H

#include <stddef.h>
#include <stdint.h>

/** Always zero-terminated when @size is not 0. */
struct sxs_il_text {
    char  *bytes;
    size_t size, len; /* len: what there would be without the cut */
};

void sxs_il_put(struct sxs_il_text *t, const char *s);
void sxs_il_putf(struct sxs_il_text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** sxs_il_put_name - an identifier, in single quotes when ilasm would not take it bare; dots separate. */
void sxs_il_put_name(struct sxs_il_text *t, const char *name);

/** sxs_il_put_utf16 - as a literal of ilasm's: in double quotes, escaped; bytearray( ... ) when it has what
 *  cannot be written so. @size in bytes. */
void sxs_il_put_utf16(struct sxs_il_text *t, const uint8_t *units, size_t size);

#endif
