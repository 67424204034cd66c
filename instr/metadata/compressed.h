/* SPDX-License-Identifier: MIT */
/** instr/metadata/compressed.h - compressed integers of signatures, blobs and Portable PDBs
 *  (ECMA-335, II.23.2), and the tokens of types that signatures hold in this form. */
#ifndef SXS_INSTR_METADATA_COMPRESSED_H
#define SXS_INSTR_METADATA_COMPRESSED_H

#include <stddef.h>
#include <stdint.h>

#define SXS_COMPRESSED_MAX  UINT32_C(0x1fffffff)
#define SXS_COMPRESSED_SIZE 4 /* bytes at most */

/** sxs_compressed_read - read an unsigned integer from the bytes between @at and @end.
 *  Returns its size in bytes (1, 2 or 4), or 0 when the bytes are cut off or are no integer; then
 *  *out is 0. */
unsigned sxs_compressed_read(const uint8_t *at, const uint8_t *end, uint32_t *out);

/** sxs_compressed_write - write @value, at most SXS_COMPRESSED_MAX.
 *  Returns the number of bytes written: 1, 2 or 4. */
unsigned sxs_compressed_write(uint8_t out[SXS_COMPRESSED_SIZE], uint32_t value);

/** sxs_compressed_signed - the signed integer that was read as @value from @size bytes. */
int32_t sxs_compressed_signed(uint32_t value, unsigned size);

/** sxs_compressed_write_signed - write @value, at least -0x10000000 and below 0x10000000.
 *  Returns the number of bytes written: 1, 2 or 4. */
unsigned sxs_compressed_write_signed(uint8_t out[SXS_COMPRESSED_SIZE], int32_t value);

/** sxs_coded_type - the token of a type definition, reference or specification that was read as
 *  @coded (TypeDefOrRefOrSpecEncoded). Returns 0 if @coded is invalid. */
uint32_t sxs_coded_type(uint32_t coded);

/** sxs_code_type - the inverse of sxs_coded_type(). Returns UINT32_MAX for a token of another
 *  table. */
uint32_t sxs_code_type(uint32_t token);

#endif
