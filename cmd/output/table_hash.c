/* SPDX-License-Identifier: MIT */
#include "cmd/output/table_hash.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>

uint64_t sxs_table_key[3];

/* Without random numbers, which a system call filter may refuse, the address of the stack and the time are
 * still more than a file can know. */
__attribute__((constructor)) static void make_key(void)
{
    if (getrandom(sxs_table_key, sizeof(sxs_table_key), GRND_NONBLOCK) !=
        (ssize_t)sizeof(sxs_table_key)) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        for (size_t i = 0; i < 3; i++)
            sxs_table_key[i] = ((uint64_t)now.tv_nsec << 32 ^ (uint64_t)(uintptr_t)&now) *
                               (0x9e3779b97f4a7c15u + 2 * i);
    }
    sxs_table_key[2] |= 1;
}

struct state {
    uint64_t v0, v1, v2, v3;
};

static inline uint64_t rotated(uint64_t value, unsigned bits)
{
    return value << bits | value >> (64 - bits);
}

static inline void mix(struct state *s)
{
    s->v0 += s->v1;
    s->v1 = rotated(s->v1, 13) ^ s->v0;
    s->v0 = rotated(s->v0, 32);
    s->v2 += s->v3;
    s->v3 = rotated(s->v3, 16) ^ s->v2;
    s->v0 += s->v3;
    s->v3 = rotated(s->v3, 21) ^ s->v0;
    s->v2 += s->v1;
    s->v1 = rotated(s->v1, 17) ^ s->v2;
    s->v2 = rotated(s->v2, 32);
}

static inline void add(struct state *s, uint64_t word)
{
    s->v3 ^= word;
    mix(s);
    s->v0 ^= word;
}

uint64_t sxs_table_hash_with(const uint64_t key[2], const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    struct state         s = {key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du,
                              key[0] ^ 0x6c7967656e657261u, key[1] ^ 0x7465646279746573u};
    uint64_t             word, last = (uint64_t)size << 56;
    for (; size >= sizeof(word); size -= sizeof(word), at += sizeof(word)) {
        memcpy(&word, at, sizeof(word));
        add(&s, word);
    }
    word = 0;
    memcpy(&word, at, size);
    add(&s, last | word);
    s.v2 ^= 0xff;
    for (int i = 0; i < 3; i++)
        mix(&s);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

uint64_t sxs_table_hash(const void *bytes, size_t size, uint64_t seed)
{
    const uint64_t key[2] = {sxs_table_key[0] ^ seed, sxs_table_key[1]};
    return sxs_table_hash_with(key, bytes, size);
}
