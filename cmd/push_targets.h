/* SPDX-License-Identifier: MIT */
/** push_targets.h - the table of targets: find one by name or by URL. */
#ifndef SXS_CMD_PUSH_TARGETS_TABLE_H
#define SXS_CMD_PUSH_TARGETS_TABLE_H

#include "cmd/push/target.h"

/** sxs_push_target_named - return the target of this name; NULL when there is none. */
const struct sxs_push_target *sxs_push_target_named(const char *name);

/** sxs_push_target_of - return the target of a URL: by its endpoint, else the first of its scheme;
 *  NULL when none has its scheme. */
const struct sxs_push_target *sxs_push_target_of(const char *url);

/** sxs_push_target_names - return "pyroscope, ingest, ...", for messages. Static. */
const char *sxs_push_target_names(void);

#endif
