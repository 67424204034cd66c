/* SPDX-License-Identifier: MIT */
/**
 * table_hash.h - hash values for tables whose keys others choose: a session, a process, a file.
 *
 * They depend on a random key of this process, so nobody can make keys that meet in one slot, which would
 * make a table as slow as a list. So no hash value may leave the process: what is stored or sent is made by
 * sxs_hash_bytes() (strings.h).
 */
#ifndef SXS_CMD_OUTPUT_TABLE_HASH_H
#define SXS_CMD_OUTPUT_TABLE_HASH_H

#include <stddef.h>
#include <stdint.h>

/** The random key. Set before main(); the same in forked children. */
extern uint64_t sxs_table_key[3];

/**
 * sxs_table_hash - return the hash value of @size bytes; all its bits are good (SipHash-1-3).
 * @seed: chains several calls. Any thread.
 */
uint64_t sxs_table_hash(const void *bytes, size_t size, uint64_t seed);

/**
 * sxs_table_hash_number - return the hash value of one number; faster. Use its high bits, which depend on
 * all bits of @number (multiplication by a random odd number). Any thread.
 */
static inline uint64_t sxs_table_hash_number(uint64_t number)
{
    return (number ^ sxs_table_key[0]) * sxs_table_key[2];
}

/** sxs_table_hash_with - sxs_table_hash() with a given key, for tests. */
uint64_t sxs_table_hash_with(const uint64_t key[2], const void *bytes, size_t size);

#endif
