/* SPDX-License-Identifier: MIT */
/** labels.h - the labels of a batch, which targets send with its stacks. */
#ifndef SXS_CMD_PUSH_LABELS_H
#define SXS_CMD_PUSH_LABELS_H

#include "cmd/push/target.h"

/** Called for a label. @key: as in OpenTelemetry's conventions: "host.name". Both are borrowed. */
typedef void sxs_push_label_take(void *arg, const char *key, const char *value);

/**
 * sxs_push_labels - call @take for every label of a batch: host.name, service.version, process.pid,
 * process.executable.name, process.runtime.name and .version (of the runtimes: "8.0.29, 9.0.18"),
 * and those of --label, which replace others of the same key. Labels that are not known are left
 * out, and service.name is not among them. */
void sxs_push_labels(const struct sxs_push_settings *s, const struct sxs_push_batch *b,
                     sxs_push_label_take *take, void *arg);

/** sxs_push_label_key - say whether @key can be the key of a label: a letter, then letters, digits,
 *  '_' and '.', 100 at most. */
bool sxs_push_label_key(const char *key);

#endif
