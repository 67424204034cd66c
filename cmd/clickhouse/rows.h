/* SPDX-License-Identifier: MIT */
/**
 * rows.h - write and read ClickHouse's format RowBinary: the columns of a row one after the other,
 * integers in little endian, texts and arrays with their length before them. One thread per object;
 * not signal-safe.
 */
#ifndef SXS_CMD_CLICKHOUSE_ROWS_H
#define SXS_CMD_CLICKHOUSE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Rows being written. Zeroed it is empty. Without memory the command ends (cmd/output/must.h). */
struct sxs_rows {
    uint8_t *bytes; /* owned */
    size_t   size, cap;
};

void sxs_rows_u8(struct sxs_rows *r, uint8_t v);
void sxs_rows_u16(struct sxs_rows *r, uint16_t v);
void sxs_rows_u32(struct sxs_rows *r, uint32_t v); /* also DateTime: seconds since 1970 */
void sxs_rows_u64(struct sxs_rows *r, uint64_t v);
/** sxs_rows_count - the number of elements, before the elements of an array. */
void sxs_rows_count(struct sxs_rows *r, size_t n);
/** sxs_rows_text - a String. @text: zero-terminated. */
void sxs_rows_text(struct sxs_rows *r, const char *text);
/** sxs_rows_bytes - @size bytes as they are. */
void sxs_rows_bytes(struct sxs_rows *r, const void *bytes, size_t size);
void sxs_rows_free(struct sxs_rows *r);

/** Rows being read. After the first value that is not whole, `failed` is set and every further
 * value
 *  is 0 or "". */
struct sxs_rows_reader {
    const uint8_t *at, *end; /* borrowed */
    bool           failed;
};

/** sxs_rows_more - return true while there is another row. */
bool     sxs_rows_more(const struct sxs_rows_reader *r);
uint8_t  sxs_rows_get_u8(struct sxs_rows_reader *r);
uint16_t sxs_rows_get_u16(struct sxs_rows_reader *r);
uint32_t sxs_rows_get_u32(struct sxs_rows_reader *r);
uint64_t sxs_rows_get_u64(struct sxs_rows_reader *r);
/** sxs_rows_get_count - return the number of elements of an array, each of at least @element_size
 *  bytes; 0 when the rest cannot hold so many. */
size_t sxs_rows_get_count(struct sxs_rows_reader *r, size_t element_size);
/** sxs_rows_get_text - return a String, not zero-terminated, borrowed from the rows. @size:
 * receives
 *  its length. */
const char *sxs_rows_get_text(struct sxs_rows_reader *r, size_t *size);

#endif
