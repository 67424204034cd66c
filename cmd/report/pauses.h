/* SPDX-License-Identifier: MIT */
/** pauses.h - which samples were taken while their thread had stopped a runtime for a collection. */
#ifndef SXS_REPORT_PROFILE_PAUSES_H
#define SXS_REPORT_PROFILE_PAUSES_H

#include "cmd/report/model.h"

/** The collections of one process, by thread and time. */
struct sxs_collections;

/** sxs_collections_new - those among @m's pauses of @process. sxs_collections_free(). */
struct sxs_collections *sxs_collections_new(const struct sxs_model *m, uint32_t process);

/** sxs_collections_at - did @tid collect at @time_ns? The runtime's index + 1, or 0. */
uint16_t sxs_collections_at(const struct sxs_collections *c, uint32_t tid, uint64_t time_ns);

void sxs_collections_free(struct sxs_collections *c);

#endif
