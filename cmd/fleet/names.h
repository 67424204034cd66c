/* SPDX-License-Identifier: MIT */
/** names.h - finds the stacks and frames of the IDs that a query returned. One thread. */
#ifndef SXS_CMD_FLEET_NAMES_H
#define SXS_CMD_FLEET_NAMES_H

#include "cmd/fleet/server.h"
#include "cmd/report/model.h"

struct sxs_fleet_stack {
    uint64_t id;
    char    *thread;   /* owned */
    uint8_t  root;     /* flags of the thread's root */
    uint32_t first, n; /* of its frames, in struct sxs_fleet_names.ids */
};

struct sxs_fleet_frame {
    uint64_t id;
    char    *name, *file, *runtime; /* owned; runtime: a version; "" for other native code */
    uint16_t flags;                 /* enum sxs_frame_flag, SXS_CLICKHOUSE_MANAGED, _HOME */
};

/** Zeroed it is empty. */
struct sxs_fleet_names {
    struct sxs_fleet_stack *stacks; /* owned; by id */
    size_t                  n_stacks, cap_stacks;
    uint64_t               *ids; /* owned; of the frames of all stacks, each oldest first */
    size_t                  n_ids, cap_ids;
    struct sxs_fleet_frame *frames; /* owned; by id */
    size_t                  n_frames, cap_frames;
};

/** sxs_fleet_names_stacks - ask for the stacks of these @n IDs, which are sorted here. Returns 0,
 * or -1
 *  with one line in @why. */
int sxs_fleet_names_stacks(struct sxs_fleet_names *names, struct sxs_fleet_server *server,
                           uint64_t *ids, size_t n, char *why, size_t size);
/** sxs_fleet_names_frames - the same for frames. @ids: some may occur several times. */
int sxs_fleet_names_frames(struct sxs_fleet_names *names, struct sxs_fleet_server *server,
                           uint64_t *ids, size_t n, char *why, size_t size);
/** sxs_fleet_stack, sxs_fleet_frame - return what has this ID, borrowed; NULL: the server has no
 * such
 *  row. */
const struct sxs_fleet_stack *sxs_fleet_stack(const struct sxs_fleet_names *names, uint64_t id);
const struct sxs_fleet_frame *sxs_fleet_frame(const struct sxs_fleet_names *names, uint64_t id);
void                          sxs_fleet_names_free(struct sxs_fleet_names *names);

/** sxs_fleet_model_frame - return the number of frame @id in @m, added when new: a frame "?" when
 * it
 *  has no name. */
uint32_t sxs_fleet_model_frame(struct sxs_model *m, const struct sxs_fleet_names *names,
                               uint64_t id);

#endif
