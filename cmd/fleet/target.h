/* SPDX-License-Identifier: MIT */
/** target.h - the target "clickhouse" of pushes: the inserts of cmd/clickhouse/encode.h. */
#ifndef SXS_CMD_FLEET_TARGET_H
#define SXS_CMD_FLEET_TARGET_H

#include "cmd/push/target.h"

/** A batch becomes four requests: frames, stacks, source, samples. */
extern const struct sxs_push_target sxs_push_clickhouse;

#endif
