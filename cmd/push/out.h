/* SPDX-License-Identifier: MIT */
/** out.h - the requests of a batch in memory, where sxs_push_emit() puts them. */
#ifndef SXS_CMD_PUSH_OUT_H
#define SXS_CMD_PUSH_OUT_H

#include "cmd/push/target.h"

/** Requests in memory. Zeroed it is empty. */
struct sxs_push_out {
    struct sxs_push_kept {
        char  *path, *content_type, *encoding; /* owned; encoding: NULL: none */
        size_t at, size;                       /* of its body in `bytes` */
    } * requests;                              /* owned */
    size_t   n, cap;
    uint8_t *bytes; /* owned */
    size_t   size, room;
};

void sxs_push_out_free(struct sxs_push_out *out);

#endif
