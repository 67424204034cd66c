/* SPDX-License-Identifier: MIT */
/** match.h - finds the methods of a module that rules apply to, by the module's metadata. */
#ifndef SXS_REJIT_METHODS_MATCH_H
#define SXS_REJIT_METHODS_MATCH_H

#include "instr/config/config.h"
#include "manager/runtime.h"
#include "rejit/methods/instrumented.h"

/** The caller's functions that receive the results of a search. */
struct sxs_match_to {
    /** Called for a method that at least one rule applies to. @rules belong to the config and are
     *  valid as long as the config. @assembly and @name are valid during the call. */
    void (*found)(void *context, mdToken token, const char *assembly, const char *name,
                  const struct sxs_rule *const *rules, size_t n);
    /** Called for a method that could not be read completely, when no rule applies by the part that
     *  could be read. */
    void (*unread)(void *context, mdToken token);
    void *context; /* passed to both */
};

/**
 * sxs_match_module - report each method of @module that rules of @config apply to.
 * Returns 0, or -1 when the metadata, or a part of it, cannot be read: a method that was not
 * reported may be in the module nevertheless.
 * Any thread that may ask for metadata: in a callback, or one that the runtime does not know.
 */
int sxs_match_module(sxs_module module, const struct sxs_config *config,
                     const struct sxs_match_to *to);

#endif
