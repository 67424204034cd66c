/* SPDX-License-Identifier: MIT */
/** image.h - the headers of a module's image in memory. */
#ifndef SXS_CLRIE_MODEL_IMAGE_H
#define SXS_CLRIE_MODEL_IMAGE_H

#include "sxs_abi.h"

struct clrie_image;

/**
 * clrie_image_read - copy the headers of the image at @base.
 * @is_flat: 1: it lies in memory as in the file; 0: its sections lie at their addresses.
 * Returns NULL when there is no memory, or no readable PE file with a CLI header at @base. */
struct clrie_image *clrie_image_read(LPCBYTE base, int is_flat);
void                clrie_image_free(struct clrie_image *image);

int clrie_image_is_64bit(const struct clrie_image *image);
/** clrie_image_cli - the CLI header, a copy. */
const IMAGE_COR20_HEADER *clrie_image_cli(const struct clrie_image *image);
/** clrie_image_resolve - the address of @rva. Returns S_OK, or E_POINTER when @rva is in no section of
 *  a flat image. */
HRESULT clrie_image_resolve(const struct clrie_image *image, DWORD rva, LPCBYTE *out);

#endif
