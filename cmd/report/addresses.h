/* SPDX-License-Identifier: MIT */
/**
 * addresses.h - convert addresses of a recorded process to frames of the model. Private to loading.
 *
 * The first pass over a process's records (sxs_addresses_read) collects everything that has a name;
 * the second pass asks for the frames of each sample (sxs_addresses_name). A file that still grows is
 * followed by sxs_addresses_new(), _take() for each record, and _seal() before names are asked for.
 */
#ifndef SXS_CMD_REPORT_ADDRESSES_H
#define SXS_CMD_REPORT_ADDRESSES_H

#include "cmd/report/model.h"
#include "cmd/report/named.h"
#include "cmd/symbols/native.h"
#include "cmd/symbols/sources.h"
#include "session/read/samples_read.h"
#include "session/read/session_read.h"

struct sxs_addresses;

/**
 * sxs_addresses_read - collect code, modules, runtimes, threads and pauses of one process.
 * @m: the model to add to. @process: index of the process in @m. @reader: its records; rewound at
 * the end.
 * @census: the process's runtimes from the file "census", or NULL. @natives, @sources: shared by
 * all processes.
 * All are borrowed until sxs_addresses_free(). Returns an owned object.
 */
struct sxs_addresses *sxs_addresses_read(struct sxs_model *m, uint32_t process,
                                         struct sxs_samples *reader,
                                         const struct sxs_session_process *census,
                                         struct sxs_natives *natives, struct sxs_sources *sources);

/**
 * sxs_addresses_new - return an owned object without any record. The parameters are those of
 * sxs_addresses_read().
 * @grows: more records will come after names were asked for: an address without a name may get one,
 * so it `varies`.
 */
struct sxs_addresses *sxs_addresses_new(struct sxs_model *m, uint32_t process,
                                        struct sxs_natives *natives, struct sxs_sources *sources,
                                        bool grows);

/** sxs_addresses_census - add the runtimes of the file "census"; NULL adds none. */
void sxs_addresses_census(struct sxs_addresses *a, const struct sxs_session_process *census);

/** sxs_addresses_take - add a record; those of other types than the above are ignored. */
void sxs_addresses_take(struct sxs_addresses *a, const struct sxs_samples_record *r);

/** sxs_addresses_seal - make the added records known. Returns true when an address that had a name
 *  may have another one now. */
bool sxs_addresses_seal(struct sxs_addresses *a);

/**
 * sxs_addresses_name - return the frame at @address at time @time_ns. For a caller's frame pass
 * (return address - 1).
 */
struct sxs_named sxs_addresses_name(struct sxs_addresses *a, uint64_t address, uint64_t time_ns);

/** sxs_addresses_runtime - return the runtime of this number: its index in the model + 1. */
uint16_t sxs_addresses_runtime(struct sxs_addresses *a, uint16_t number);

/** sxs_addresses_free - release the object; its frames stay in the model. */
void sxs_addresses_free(struct sxs_addresses *a);

#endif
