/* SPDX-License-Identifier: MIT */
/**
 * classes.h - loaded types, for values of traced methods: all are asked about as soon as anything is traced, and only
 * their IDs kept until then.
 *
 * A lock inside, under which runtimes are asked for metadata.
 */
#ifndef SXS_REWRITE_CLASSES_H
#define SXS_REWRITE_CLASSES_H

#include "instr/config/config.h"
#include "manager/runtime.h"

/** sxs_classes_follow - from now on what @config traces has values: asks about what was loaded before. At start, or
 *  on a thread the runtimes do not know. */
void sxs_classes_follow(const struct sxs_config *config);

/** Callbacks of the class's runtime. */
void sxs_classes_loaded(sxs_class cls);
void sxs_classes_unloading(sxs_class cls);

/** A module is unloaded, or (@ended) the runtime ends. */
void sxs_classes_close(struct sxs_runtime *rt, int ended);

#endif
