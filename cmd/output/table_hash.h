/* SPDX-License-Identifier: MIT */
/**
 * table_hash.h - hash values for tables whose keys others choose: a session, a process, a file.
 *
 * They depend on a random key of this process, so nobody can choose keys that collide, which would make a
 * table as slow as a list. A hash value must therefore not leave the process: for values that are stored or
 * sent, use sxs_hash_bytes() (strings.h).
 */
#ifndef SXS_CMD_OUTPUT_TABLE_HASH_H
#define SXS_CMD_OUTPUT_TABLE_HASH_H

#include <stddef.h>
#include <stdint.h>

/** The random key. Set before main(); the same in forked children. */
extern uint64_t sxs_table_key[3];

/**
 * sxs_table_hash - return the hash value of @size bytes (SipHash-1-3); any of its bits may be used.
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
