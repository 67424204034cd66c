/* SPDX-License-Identifier: MIT */
/**
 * pauses.h - find samples that were taken while their thread had stopped a runtime for a garbage
 * collection.
 */
#ifndef SXS_CMD_REPORT_PAUSES_H
#define SXS_CMD_REPORT_PAUSES_H

#include "cmd/report/model.h"

/** The garbage collections of one process, by thread and time. */
struct sxs_collections;

/**
 * sxs_collections_new - collect them from @m's pauses of @process, from number @first on. Returns an owned object; release
 * it with sxs_collections_free().
 */
struct sxs_collections *sxs_collections_new(const struct sxs_model *m, uint32_t process,
                                            size_t first);

/**
 * sxs_collections_at - return index + 1 of the runtime that thread @tid had stopped for a
 * collection at @time_ns, or 0.
 */
uint16_t sxs_collections_at(const struct sxs_collections *c, uint32_t tid, uint64_t time_ns);

/** sxs_suspended_at - return true when any runtime had suspended its threads at @time_ns. */
bool sxs_suspended_at(const struct sxs_collections *c, uint64_t time_ns);

void sxs_collections_free(struct sxs_collections *c);

#endif
