/* SPDX-License-Identifier: MIT */
/* instr/metadata/pe.c - see pe.h. The layout is that of ECMA-335 II.25. */
#include "instr/metadata/pe.h"

#define SECTION_SIZE 40

enum { MZ = 0x5a4d, PE = 0x4550, PE32_PLUS = 0x20b };

/* Returns the little-endian number of @n bytes at @at, or 0 when it is cut off. */
static uint32_t number_at(const struct sxs_pe *pe, uint64_t at, unsigned n)
{
    uint32_t value = 0;
    if (at > pe->size || n > pe->size - at)
        return 0;
    for (unsigned i = 0; i < n; i++)
        value |= (uint32_t)pe->head[at + i] << (8 * i);
    return value;
}

int sxs_pe_parse(const uint8_t *head, size_t size, struct sxs_pe *out)
{
    struct sxs_pe pe = {.head = head, .size = size};
    uint64_t      at = number_at(&pe, 0x3c, 4), sections;
    uint32_t      n = number_at(&pe, at + 6, 2);
    if (number_at(&pe, 0, 2) != MZ || number_at(&pe, at, 4) != PE || n > SXS_PE_SECTIONS_MAX)
        return -1;
    sections = at + 24 + number_at(&pe, at + 20, 2);
    if (sections > size || (uint64_t)n * SECTION_SIZE > size - sections)
        return -1;
    pe.optional = (size_t)at + 24;
    pe.sections = (size_t)sections;
    pe.n_sections = n;
    *out = pe;
    return 0;
}

void sxs_pe_directory(const struct sxs_pe *pe, enum sxs_pe_directory which, uint32_t *rva,
                      uint32_t *bytes)
{
    uint64_t at = pe->optional + (number_at(pe, pe->optional, 2) == PE32_PLUS ? 112 : 96);
    int      exists = number_at(pe, at - 4, 4) > (uint32_t)which;
    at += 8 * (uint64_t)which;
    exists = exists && at + 8 <= pe->sections;
    *rva = exists ? number_at(pe, at, 4) : 0;
    *bytes = exists ? number_at(pe, at + 4, 4) : 0;
}

uint64_t sxs_pe_offset(const struct sxs_pe *pe, uint32_t rva, uint32_t *left)
{
    for (uint32_t i = 0; i < pe->n_sections; i++) {
        uint64_t at = pe->sections + (uint64_t)i * SECTION_SIZE;
        uint32_t begin = number_at(pe, at + 12, 4), size = number_at(pe, at + 16, 4);
        if (rva >= begin && rva - begin < size) {
            *left = size - (rva - begin);
            return (uint64_t)number_at(pe, at + 20, 4) + (rva - begin);
        }
    }
    *left = 0;
    return 0;
}

uint64_t sxs_pe_end(const struct sxs_pe *pe)
{
    uint64_t end = 0;
    for (uint32_t i = 0; i < pe->n_sections; i++) {
        uint64_t at = pe->sections + (uint64_t)i * SECTION_SIZE;
        uint64_t last = (uint64_t)number_at(pe, at + 16, 4) + number_at(pe, at + 20, 4);
        if (last > end)
            end = last;
    }
    return end;
}
