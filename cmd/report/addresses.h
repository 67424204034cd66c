/* SPDX-License-Identifier: MIT */
/**
 * addresses.h - from an address of a recorded process to a frame of the model.
 *
 * The first pass over a process's records (sxs_addresses_read) collects what has names; the second
 * asks for the frames of each sample. Private to loading.
 */
#ifndef SXS_REPORT_PROFILE_ADDRESSES_H
#define SXS_REPORT_PROFILE_ADDRESSES_H

#include "session/read/samples_read.h"
#include "session/read/session_read.h"
#include "cmd/report/model.h"
#include "cmd/report/native.h"
#include "cmd/report/sources.h"

struct sxs_addresses;

/** A named address. */
struct sxs_named {
    uint32_t frame;
    uint32_t line;   /* of the address, in the frame's source file; 0 when not known */
    uint8_t  tier;   /* enum sxs_code_tier */
    bool     varies; /* another time may give another name */
};

/**
 * sxs_addresses_read - collect code, modules, runtimes, threads and pauses of @reader's process.
 * @census: the process's runtimes as the census has them, or NULL. @natives, @sources: shared by
 * processes.
 * All borrowed until sxs_addresses_free().
 */
struct sxs_addresses *sxs_addresses_read(struct sxs_model *m, uint32_t process,
                                         struct sxs_samples *reader,
                                         const struct sxs_session_process *census,
                                         struct sxs_natives *natives, struct sxs_sources *sources);

/** sxs_addresses_name - the frame at @address (for a caller: return address - 1) at @time_ns. */
struct sxs_named sxs_addresses_name(struct sxs_addresses *a, uint64_t address, uint64_t time_ns);

/** sxs_addresses_free - release it; the frames stay in the model. */
void sxs_addresses_free(struct sxs_addresses *a);

#endif
