/* SPDX-License-Identifier: MIT */
/** pack_format.h - what the writer and the reader of packed sessions share. */
#ifndef SXS_CMD_PACK_PACK_FORMAT_H
#define SXS_CMD_PACK_PACK_FORMAT_H

#include <stdint.h>
#include <string.h>
#include <zlib.h>

#define SXS_PACK_HEAD    "sxsprof-pack"
#define SXS_PACK_VERSION "1\n"
#define SXS_PACK_NAMES   "names"
#define SXS_PACK_END     "end"

/** sxs_pack_sum_head - return the check sum after the name and the size of an entry. */
static inline uLong sxs_pack_sum_head(uLong sum, const char *name, uint64_t size)
{
    Bytef bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (Bytef)(size >> (8 * i));
    sum = crc32(sum, (const Bytef *)name, (uInt)strlen(name) + 1);
    return crc32(sum, bytes, sizeof(bytes));
}

#endif
