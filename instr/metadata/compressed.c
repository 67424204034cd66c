/* SPDX-License-Identifier: MIT */
#include "instr/metadata/compressed.h"

/* The number of bits that an integer of @size bytes holds. */
static unsigned bits_of(unsigned size)
{
    return size == 1 ? 7 : size == 2 ? 14 : 29;
}

unsigned sxs_compressed_read(const uint8_t *at, const uint8_t *end, uint32_t *out)
{
    *out = 0;
    if (at >= end || *at >= 0xe0)
        return 0;
    unsigned size = *at < 0x80 ? 1 : *at < 0xc0 ? 2 : 4;
    if ((size_t)(end - at) < size)
        return 0;
    uint32_t value = size == 1 ? at[0] : at[0] & (size == 2 ? 0x3fu : 0x1fu);
    for (unsigned i = 1; i < size; i++)
        value = value << 8 | at[i];
    *out = value;
    return size;
}

static unsigned write_bits(uint8_t *out, uint32_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        out[i] = (uint8_t)(value >> 8 * (size - 1 - i));
    out[0] |= size == 1 ? 0 : size == 2 ? 0x80 : 0xc0;
    return size;
}

unsigned sxs_compressed_write(uint8_t out[SXS_COMPRESSED_SIZE], uint32_t value)
{
    return write_bits(out, value, value < 0x80 ? 1 : value < 0x4000 ? 2 : 4);
}

/* Signed integers are rotated left by one within their bits, so that the sign is the lowest bit. */
int32_t sxs_compressed_signed(uint32_t value, unsigned size)
{
    return (int32_t)(value >> 1) - (value & 1 ? INT32_C(1) << (bits_of(size) - 1) : 0);
}

unsigned sxs_compressed_write_signed(uint8_t out[SXS_COMPRESSED_SIZE], int32_t value)
{
    unsigned size = value >= -0x40 && value < 0x40 ? 1 : value >= -0x2000 && value < 0x2000 ? 2 : 4;
    uint32_t mask = (UINT32_C(1) << bits_of(size)) - 1;
    return write_bits(out, ((uint32_t)value << 1 | (value < 0)) & mask, size);
}

static const uint32_t coded_tables[] = {0x02000000, 0x01000000, 0x1b000000};

uint32_t sxs_coded_type(uint32_t coded)
{
    return (coded & 3) == 3 || coded >> 2 > 0xffffff ? 0 : coded_tables[coded & 3] | coded >> 2;
}

uint32_t sxs_code_type(uint32_t token)
{
    for (uint32_t tag = 0; tag < 3; tag++)
        if (token >> 24 == coded_tables[tag] >> 24)
            return (token & 0xffffff) << 2 | tag;
    return UINT32_MAX;
}
