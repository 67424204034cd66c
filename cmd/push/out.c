/* SPDX-License-Identifier: MIT */
#include "cmd/push/out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/output/must.h"

int sxs_push_emit(struct sxs_push_out *out, const struct sxs_push_request *r)
{
    if (r->size > SIZE_MAX / 4 - out->size)
        return -EFBIG;
    if (out->size + r->size > out->room) {
        out->room = (out->size + r->size) * 2;
        out->bytes = sxs_must(realloc(out->bytes, out->room));
    }
    if (r->size)
        memcpy(out->bytes + out->size, r->body, r->size);
    SXS_GROW(out->requests, out->n, out->cap);
    out->requests[out->n++] = (struct sxs_push_kept){
        .path = sxs_must(strdup(r->path)),
        .content_type = sxs_must(strdup(r->content_type)),
        .encoding = r->encoding ? sxs_must(strdup(r->encoding)) : NULL,
        .at = out->size,
        .size = r->size,
    };
    out->size += r->size;
    return 0;
}

void sxs_push_out_free(struct sxs_push_out *out)
{
    for (size_t i = 0; i < out->n; i++) {
        free(out->requests[i].path);
        free(out->requests[i].content_type);
        free(out->requests[i].encoding);
    }
    free(out->requests);
    free(out->bytes);
    *out = (struct sxs_push_out){0};
}
