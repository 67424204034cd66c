/* SPDX-License-Identifier: MIT */
/** push_options.h - the options of the verb push. */
#ifndef SXS_CMD_PUSH_OPTIONS_H
#define SXS_CMD_PUSH_OPTIONS_H

#include "cmd/http/http.h"
#include "cmd/push/target.h"

/** The strings are borrowed from the arguments; the headers are owned. Release it with
 *  sxs_push_options_free(). */
struct sxs_push_options {
    const char              *to, *format, *dir, *follow, *queue, *service;
    uint64_t                 queue_size, period_ns, retry_ns, gather_ns;
    uint32_t                 data;   /* bit N: enum sxs_data N; 0: all */
    struct sxs_push_label   *labels; /* owned, with their keys */
    size_t                   n_labels, cap_labels;
    struct sxs_symbol_path  *symbols; /* owned */
    struct sxs_http_settings http;
    char                   **headers;  /* owned */
    char                    *password; /* owned */
    size_t                   n_headers, cap_headers;
};

/** sxs_push_options_parse - parse the arguments. Wrong ones end the command with a message. */
void sxs_push_options_parse(int argc, char **argv, struct sxs_push_options *o);
void sxs_push_options_free(struct sxs_push_options *o);

#endif
