/* SPDX-License-Identifier: MIT */
/**
 * resolve.h - tokens for the names in lines of IL, after a check that what is named exists and may
 * be used.
 *
 * A reference that the runtime cannot resolve would throw when the method runs, or would make the
 * whole method fail to compile.
 */
#ifndef SXS_INSTR_WEAVE_RESOLVE_H
#define SXS_INSTR_WEAVE_RESOLVE_H

#include "instr/weave/definition.h"
#include "instr/weave/method.h"

#define SXS_RESOLVED_MAX 256u /* tokens in one action's lines; further ones are not checked */

/** What a token stands for. */
struct sxs_resolved {
    uint32_t              token;
    struct sxs_definition definition; /* image NULL: of the module itself, or not known */
    uint32_t              flags;      /* flags of the member; of the type if it is a type */
    uint32_t              type_flags;
    uint8_t               known; /* 1: flags are valid */
    uint8_t               is_member, is_field, is_constructor;
};

struct sxs_resolver {
    struct sxs_method   *m;      /* borrowed */
    struct sxs_il_tokens tokens; /* functions that find and make tokens of the module */
    struct sxs_images    images;
    struct sxs_resolved  all[SXS_RESOLVED_MAX];
    unsigned             n; /* used elements of all */
    /* Nonzero: the result depends on the method's type, or on metadata that cannot be read. Then it
     * says nothing about the same lines in another method. */
    int depends;
};

/** sxs_resolver_new - make a resolver for the open method @m. Returns NULL when there is no memory.
 *  sxs_resolver_free() accepts NULL. */
struct sxs_resolver *sxs_resolver_new(struct sxs_method *m);
void                 sxs_resolver_free(struct sxs_resolver *r);

/** sxs_resolver_table - return the functions by which the assembler asks for tokens. When they
 *  refuse a name, the reason is in r->m->tokens.error. Valid as long as @r. */
struct sxs_il_tokens sxs_resolver_table(struct sxs_resolver *r);

/** sxs_access_refused - return nonzero, with the reason in @why, when the method may not use @what.
 *  @name: the name of @what, for the reason. */
int sxs_access_refused(struct sxs_resolver *r, const struct sxs_resolved *what, const char *name,
                       struct sxs_text *why);

#endif
