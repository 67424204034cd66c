/* SPDX-License-Identifier: MIT */
/** match.h - which methods of a module rules apply to, by its metadata. */
#ifndef SXS_REWRITE_MATCH_H
#define SXS_REWRITE_MATCH_H

#include "config/config.h"
#include "manager/runtime.h"
#include "rewrite/sites.h"

/** A method with at least one rule; @rules are those of the config, valid as long as it. */
typedef void (*sxs_match_found)(void *context, mdToken token, const char *assembly,
                                const char *name, const struct sxs_rule *const *rules, size_t n);

/** sxs_match_module - each method of @module that rules of @config apply to. Any thread that may ask for
 *  metadata. Returns 0, or -1: its metadata cannot be read. */
int sxs_match_module(sxs_module module, const struct sxs_config *config, sxs_match_found found,
                     void *context);

#endif
