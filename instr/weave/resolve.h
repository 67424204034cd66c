/* SPDX-License-Identifier: MIT */
/**
 * resolve.h - tokens for lines of IL, of what there is alone: a reference that a runtime could not follow would
 * throw when the method runs, or take it away when it is compiled.
 */
#ifndef SXS_REWRITE_RESOLVE_H
#define SXS_REWRITE_RESOLVE_H

#include "instr/weave/definition.h"
#include "instr/weave/method.h"

#define SXS_RESOLVED_MAX 256u /* tokens; more are not looked at */

/** What a token stands for. */
struct sxs_resolved {
    uint32_t              token;
    struct sxs_definition definition; /* image NULL: of the module itself, or not known */
    uint32_t              flags;      /* of the member; of the type when it is none */
    uint32_t              type_flags;
    uint8_t               known; /* flags are */
    uint8_t               is_member, is_field, is_constructor;
};

struct sxs_resolver {
    struct sxs_method   *m;
    struct sxs_il_tokens tokens; /* those of the module */
    struct sxs_images    images;
    struct sxs_resolved  all[SXS_RESOLVED_MAX];
    unsigned             n;
    int                  depends; /* on the method's type, or on what cannot be read: of another method's lines
                                     that say the same nothing is known */
};

/** sxs_resolver_new - for @m, which is open. NULL: no memory. sxs_resolver_free() takes NULL. */
struct sxs_resolver *sxs_resolver_new(struct sxs_method *m);
void                 sxs_resolver_free(struct sxs_resolver *r);

/** sxs_resolver_table - for the assembler; why something is refused is in the method's tokens.error. */
struct sxs_il_tokens sxs_resolver_table(struct sxs_resolver *r);

/** sxs_access_refused - may the method not use @what? Returns nonzero with the reason in @why. */
int sxs_access_refused(struct sxs_resolver *r, const struct sxs_resolved *what, const char *name,
                       struct sxs_il_text *why);

#endif
