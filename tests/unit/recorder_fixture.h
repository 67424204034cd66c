/* SPDX-License-Identifier: MIT */
/** recorder_fixture.h - a file "samples" of a test, and the records in it. */
#ifndef SXS_TESTS_UNIT_RECORDER_FIXTURE_H
#define SXS_TESTS_UNIT_RECORDER_FIXTURE_H

#include <sys/syscall.h>

#include "sampling/costs.h"
#include "sampling/stacks.h"
#include "sampling/walk.h"
#include "session/write/session_write.h"
#include "stackwalk/fast/tables.h"
#include "tests/unit/fake_host.h"

static struct sxs_samples_writer *writer;

static inline uint32_t gettid_now(void)
{
    return (uint32_t)syscall(SYS_gettid);
}

/** Makes the file, which has no name any more, and lets costs be recorded. */
static inline void begin_recording(uint64_t max_bytes)
{
    static struct sxs_folder folder;
    const char              *path = temporary();
    CHECK_EQ(sxs_folder_open(&folder, path), 0);
    writer = sxs_samples_create(&folder, max_bytes, NULL);
    CHECK(writer && sxs_tables_refresh() >= 0);
    remove_tree(path);
    sxs_stacks_refresh();
    sxs_walk_prepare();
    sxs_costs_start(writer);
}

/** Calls @see, which may be NULL, for each committed record of @type, until it returns nonzero. Returns
 *  the number of records until then. */
static inline unsigned each_record(uint16_t type, int (*see)(const void *record, void *arg),
                                   void    *arg)
{
    struct sxs_samples_header *header = sxs_samples_header(writer);
    unsigned char             *at = (unsigned char *)header + SXS_HEADER_SIZE;
    unsigned                   n = 0;
    for (uint32_t i = 0; i < atomic_load(&header->n_chunks); i++, at += SXS_CHUNK_SIZE) {
        uint32_t used = atomic_load(&((struct sxs_chunk_header *)at)->used);
        for (uint32_t off = sizeof(struct sxs_chunk_header); off < used && off < SXS_CHUNK_SIZE;) {
            const struct sxs_record *r = (const struct sxs_record *)(at + off);
            uint32_t                 size = __atomic_load_n(&r->size, __ATOMIC_RELAXED);
            if (!size)
                break;
            if (atomic_load(&r->type) == type) {
                n++;
                if (see && see(r, arg))
                    return n;
            }
            off += size;
        }
    }
    return n;
}

#endif
