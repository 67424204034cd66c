/* SPDX-License-Identifier: MIT */
/** match.h - which methods of a module rules apply to, by its metadata. */
#ifndef SXS_REWRITE_MATCH_H
#define SXS_REWRITE_MATCH_H

#include "instr/config/config.h"
#include "manager/runtime.h"
#include "instr/rejit/sites.h"

/** Who is told what was found. */
struct sxs_match_to {
    /** A method with at least one rule; @rules are those of the config, valid as long as it. */
    void (*found)(void *context, mdToken token, const char *assembly, const char *name,
                  const struct sxs_rule *const *rules, size_t n);
    /** A method of which not all could be read, and to which no rule applies by what could be. */
    void (*unread)(void *context, mdToken token);
    void *context;
};

/** sxs_match_module - each method of @module that rules of @config apply to. Any thread that may ask for
 *  metadata. Returns 0, or -1: the metadata cannot be read, or not all of it, so that a method that was not found may be
 *  there all the same. */
int sxs_match_module(sxs_module module, const struct sxs_config *config,
                     const struct sxs_match_to *to);

#endif
