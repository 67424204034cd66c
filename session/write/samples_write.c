/* SPDX-License-Identifier: MIT */
#include "session/write/samples_write.h"

#include <errno.h>
#include <string.h>

#include "base/session_state.h"
#include "session/write/chunks_write.h"

#define BURST 16u /* chunks kept ready for bursts: 4 MiB, 20,000 costs with 20 frames */

struct sxs_samples_writer {
    struct sxs_chunks          chunks;
    struct sxs_samples_header *header;
};

static struct sxs_samples_writer the_writer;
SXS_SESSION_RESETS(the_writer);

struct sxs_samples_writer *sxs_samples_create(const struct sxs_folder *folder,
                                              uint64_t max_bytes, void (*low)(void))
{
    struct sxs_samples_writer *w = &the_writer;
    int                        err;
    w->chunks.low = low;
    err = sxs_chunks_create(&w->chunks, folder, SXS_SAMPLES_FILE, max_bytes,
                                offsetof(struct sxs_samples_header, n_chunks));
    if (err) {
        errno = err;
        return NULL;
    }
    w->header = (struct sxs_samples_header *)w->chunks.map;
    w->header->version = SXS_SAMPLES_VERSION;
    w->header->max_chunks = w->chunks.max_chunks;
    memcpy(w->header->magic, SXS_SAMPLES_MAGIC, sizeof(w->header->magic));
    return w;
}

SXS_SIGSAFE struct sxs_samples_header *sxs_samples_header(struct sxs_samples_writer *w)
{
    return w->header;
}

SXS_SIGSAFE void *sxs_samples_reserve(struct sxs_samples_writer *w, size_t size)
{
    return sxs_chunks_reserve(&w->chunks, size);
}

SXS_SIGSAFE void sxs_samples_commit(void *record, enum sxs_record_type type)
{
    sxs_chunks_commit(record, (uint16_t)type);
}

void sxs_samples_expect_bursts(struct sxs_samples_writer *w)
{
    sxs_chunks_keep_ready(&w->chunks, BURST);
    if (w->chunks.low)
        w->chunks.low();
}

int sxs_samples_make_room(struct sxs_samples_writer *w)
{
    return sxs_chunks_make_room(&w->chunks);
}

void sxs_samples_forget(struct sxs_samples_writer *w)
{
    sxs_chunks_forget(&w->chunks);
}

void sxs_samples_finish(struct sxs_samples_writer *w)
{
    sxs_chunks_finish(&w->chunks);
}
