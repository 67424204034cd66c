/* SPDX-License-Identifier: MIT */
/** definition.h - looks up types and members by name, in the assemblies that define them, and says
 *  why one is not found. */
#ifndef SXS_INSTR_WEAVE_DEFINITION_H
#define SXS_INSTR_WEAVE_DEFINITION_H

#include "instr/metadata/signature.h"
#include "instr/weave/image.h"

enum sxs_found {
    SXS_FOUND_NOT = -1,
    SXS_FOUND = 0,
    SXS_FOUND_UNKNOWN = 1, /* some metadata cannot be read: it may exist or not */
};

/** A type or member, where it is defined. */
struct sxs_definition {
    const struct sxs_image *image;  /* borrowed, valid until sxs_images_end() */
    uint32_t                type;   /* TypeDef token */
    uint32_t                member; /* MethodDef or Field token; 0: the type itself */
    int inherited; /* nonzero: after a generic base type; of members only name and number of
                      parameters are compared */
};

/** A member that is looked for in a type. */
struct sxs_wanted {
    const char *name;
    const char *text; /* its signature, by sxs_definition_put_signature() */
    uint32_t    n_params;
    int         is_field; /* nonzero: a field, 0: a method */
};

/**
 * sxs_definition_type - find the type `Namespace.Outer/Inner` of @assembly.
 * Follows type forwards to other assemblies.
 * @why: receives the reason for SXS_FOUND_NOT, with similar names that exist.
 */
enum sxs_found sxs_definition_type(struct sxs_images *images, const char *assembly,
                                   const char *name, struct sxs_definition *out,
                                   struct sxs_text *why);

/** sxs_definition_member - find the member @wanted of the type *d, or of a type that it derives
 *  from. *d receives the member. @why: as above. */
enum sxs_found sxs_definition_member(struct sxs_images *images, struct sxs_definition *d,
                                     const struct sxs_wanted *wanted, struct sxs_text *why);

/** sxs_definition_base - replace the type *d by the type that it derives from. Returns
 *  SXS_FOUND_NOT when it has no base type. */
enum sxs_found sxs_definition_base(struct sxs_images *images, struct sxs_definition *d);

/**
 * sxs_definition_put_signature - write a member's signature as in `instance void (string)`.
 * The text is that of ilasm, but without names of assemblies, so that it is the same for references
 * from every module.
 * @bytes, @size: the signature as in metadata.
 * @put:          writes the name of a type; gets @context.
 * @n_params:     receives the number of parameters.
 * Returns 0, or -1 when the signature cannot be read.
 */
int sxs_definition_put_signature(struct sxs_text *t, const uint8_t *bytes, size_t size,
                                 void (*put)(void *context, struct sxs_text *t, uint32_t token),
                                 void *context, uint32_t *n_params);

/** sxs_definition_put_type - write the name of a TypeDef as `Namespace.Outer/Inner`. */
void sxs_definition_put_type(const struct sxs_image *image, struct sxs_text *t, uint32_t type);

#endif
