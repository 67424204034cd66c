/* SPDX-License-Identifier: MIT */
/** flame.h - the stacks of a selection as the model of a report. One thread. */
#ifndef SXS_CMD_FLEET_FLAME_H
#define SXS_CMD_FLEET_FLAME_H

#include "cmd/fleet/select.h"
#include "cmd/fleet/server.h"
#include "cmd/report/model.h"

/** The frame that stands for all stacks beyond the limit. */
#define SXS_FLEET_OTHERS "(others)"

/**
 * sxs_fleet_model - sum up the samples of @s by stack, in the server, and load the heaviest stacks.
 * @limit: how many; the rest is one frame SXS_FLEET_OTHERS, with which the total is that of all.
 * @out: overwritten; release it with sxs_model_free(), also after an error. Threads of one name are
 * one thread, without a number. Returns 0, or -1 with one line in @why.
 */
int sxs_fleet_model(struct sxs_fleet_server *server, const struct sxs_fleet_selection *s,
                    size_t limit, struct sxs_model *out, char *why, size_t size);

#endif
