/* SPDX-License-Identifier: MIT */
/** definition.h - types and members by their names, where assemblies define them; why there are none. */
#ifndef SXS_REWRITE_DEFINITION_H
#define SXS_REWRITE_DEFINITION_H

#include "instr/metadata/signature.h"
#include "instr/weave/image.h"

enum sxs_found {
    SXS_FOUND_NOT = -1,
    SXS_FOUND = 0,
    SXS_FOUND_UNKNOWN = 1, /* what would tell cannot be read: it may be there */
};

struct sxs_definition {
    const struct sxs_image *image; /* borrowed, as long as the images */
    uint32_t                type;  /* TypeDef */
    uint32_t                member; /* MethodDef or Field; 0: the type */
    int                     inherited; /* by a type of another definition: names alone were compared */
};

/** What is looked for in a type. */
struct sxs_wanted {
    const char *name;
    const char *text; /* sxs_definition_put_member() of it, without its name */
    uint32_t    n_params;
    int         is_field;
};

/** sxs_definition_type - `Namespace.Outer/Inner` of @assembly, behind forwards to other assemblies. SXS_FOUND_NOT:
 *  @why says what there is not, and what there is instead. */
enum sxs_found sxs_definition_type(struct sxs_images *images, const char *assembly,
                                   const char *name, struct sxs_definition *out,
                                   struct sxs_il_text *why);

/** sxs_definition_member - @wanted of the type in *d, or of one it derives from; *d becomes the member's. */
enum sxs_found sxs_definition_member(struct sxs_images *images, struct sxs_definition *d,
                                     const struct sxs_wanted *wanted, struct sxs_il_text *why);

/** sxs_definition_base - *d becomes the type that it derives from. SXS_FOUND_NOT: there is none. */
enum sxs_found sxs_definition_base(struct sxs_images *images, struct sxs_definition *d);

/** sxs_definition_put_signature - `instance void (string)`, as ilasm has it without names of assemblies: the same text
 *  from everywhere. @put: names types. @n_params: receives how many there are. Returns 0, or -1: not readable. */
int sxs_definition_put_signature(struct sxs_il_text *t, const uint8_t *bytes, size_t size,
                                 void (*put)(void *context, struct sxs_il_text *t, uint32_t token),
                                 void *context, uint32_t *n_params);

/** `Namespace.Outer/Inner` of a TypeDef. */
void sxs_definition_put_type(const struct sxs_image *image, struct sxs_il_text *t, uint32_t type);

#endif
