/* SPDX-License-Identifier: MIT */
/** addresses.h - finds objects by their addresses. */
#ifndef SXS_CMD_HEAP_ADDRESSES_H
#define SXS_CMD_HEAP_ADDRESSES_H

#include <stddef.h>
#include <stdint.h>

struct sxs_page; /* objects that begin in the same 4096 bytes */

/** An index of ascending addresses. It is small, because it has one entry for many objects. */
struct sxs_pages {
    struct sxs_page *all; /* owned; open addressing */
    size_t           mask;
    const uint64_t  *address; /* borrowed */
};

/**
 * sxs_addresses_sort - sort @n addresses, and the numbers that belong to them, by address.
 * @address, @number: changed in place; equal addresses are joined, and their numbers added.
 * Returns the number of different addresses.
 */
size_t sxs_addresses_sort(uint64_t *address, uint32_t *number, size_t n);

/** sxs_pages_build - index @n ascending addresses. @address: borrowed until sxs_pages_free(). */
void sxs_pages_build(struct sxs_pages *p, const uint64_t *address, uint32_t n);
void sxs_pages_free(struct sxs_pages *p);

/** sxs_pages_find - return the position of @address among the addresses, or UINT32_MAX. */
uint32_t sxs_pages_find(const struct sxs_pages *p, uint64_t address);

#endif
