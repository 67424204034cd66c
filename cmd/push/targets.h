/* SPDX-License-Identifier: MIT */
/** targets.h - the targets of this folder; the table of all is cmd/push_targets.c. */
#ifndef SXS_CMD_PUSH_TARGETS_H
#define SXS_CMD_PUSH_TARGETS_H

#include "cmd/push/target.h"

extern const struct sxs_push_target sxs_push_pyroscope, sxs_push_ingest, sxs_push_otlp;

#endif
