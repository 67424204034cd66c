/* SPDX-License-Identifier: MIT */
#include "clrie/model/image.h"

#include <stdlib.h>
#include <string.h>

#include "base/safe_read.h"
#include "instr/metadata/pe.h"

enum { MAGIC_64BIT = 0x20b, SECTION_SIZE = 40 };

struct clrie_image {
    LPCBYTE            base;
    int                is_flat;
    struct sxs_pe      pe; /* of `head` */
    IMAGE_COR20_HEADER cli;
    size_t             size;
    uint8_t            head[]; /* up to the end of the table of sections */
};

void clrie_image_free(struct clrie_image *image)
{
    free(image);
}

int clrie_image_is_64bit(const struct clrie_image *image)
{
    uint16_t magic;
    memcpy(&magic, image->head + image->pe.optional, sizeof(magic));
    return magic == MAGIC_64BIT;
}

const IMAGE_COR20_HEADER *clrie_image_cli(const struct clrie_image *image)
{
    return &image->cli;
}

HRESULT clrie_image_resolve(const struct clrie_image *image, DWORD rva, LPCBYTE *out)
{
    uint32_t left;
    uint64_t offset = rva;
    *out = NULL;
    if (image->is_flat && rva >= image->pe.sections) {
        offset = sxs_pe_offset(&image->pe, rva, &left);
        if (!left)
            return E_POINTER;
    }
    *out = image->base + offset;
    return S_OK;
}

static int read_cli(struct clrie_image *image)
{
    uint32_t rva, size;
    LPCBYTE  at;
    sxs_pe_directory(&image->pe, SXS_PE_CLI, &rva, &size);
    if (!rva || !size || FAILED(clrie_image_resolve(image, rva, &at)))
        return -1;
    return sxs_safe_read(&image->cli, (uintptr_t)at, sizeof(image->cli)) == sizeof(image->cli) ? 0
                                                                                               : -1;
}

struct clrie_image *clrie_image_read(LPCBYTE base, int is_flat)
{
    uint8_t             head[4096];
    struct sxs_pe       pe;
    struct clrie_image *image;
    size_t              size = sxs_safe_read(head, (uintptr_t)base, sizeof(head));
    if (sxs_pe_parse(head, size, &pe) || pe.optional + 2 > size)
        return NULL;
    size = pe.sections + (size_t)pe.n_sections * SECTION_SIZE;
    image = calloc(1, sizeof(*image) + size);
    if (!image)
        return NULL;
    image->base = base;
    image->is_flat = is_flat;
    image->size = size;
    memcpy(image->head, head, size);
    if (sxs_pe_parse(image->head, size, &image->pe) || image->pe.optional + 2 > size ||
        read_cli(image)) {
        free(image);
        return NULL;
    }
    return image;
}
