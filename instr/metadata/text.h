/* SPDX-License-Identifier: MIT */
/** instr/metadata/text.h - write identifiers and string literals in ilasm's syntax. */
#ifndef SXS_INSTR_METADATA_TEXT_H
#define SXS_INSTR_METADATA_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "base/text/buffer.h"

/** sxs_il_put_name - write an identifier, which may have parts separated by dots. The rest of the
 *  identifier, from the first part that ilasm would not accept bare, is written in single
 *  quotes. */
void sxs_il_put_name(struct sxs_text *t, const char *name);

/** sxs_il_put_utf16 - write a string as a literal of ilasm: in double quotes with escapes, or as
 *  `bytearray (...)` when it has characters that need it. @size: in bytes. */
void sxs_il_put_utf16(struct sxs_text *t, const uint8_t *units, size_t size);

#endif
