/* SPDX-License-Identifier: MIT */
/** instr/il/source.h - text for the assembler, and the functions that find its tokens. */
#ifndef SXS_INSTR_IL_SOURCE_H
#define SXS_INSTR_IL_SOURCE_H

#include "include/sxs_il.h"

/**
 * Functions of the caller that find or make the metadata token of a name or a signature, for
 * example in a runtime's metadata. Each stores the token in *token and returns 0, or returns
 * nonzero when there is no such token and none can be made.
 */
struct sxs_il_tokens {
    /** A type by name: `Namespace.Outer/Inner`. @assembly NULL: a type of the module itself. */
    int (*type)(void *context, const char *assembly, const char *name, uint32_t *token);
    /** A type given by a signature of @size bytes, such as an instantiation or an array. */
    int (*type_spec)(void *context, const uint8_t *sig, size_t size, uint32_t *token);
    /** A method or field. @owner: TypeDef, TypeRef or TypeSpec; 0: a member of the module. */
    int (*member)(void *context, uint32_t owner, const char *name, const uint8_t *sig, size_t size,
                  uint32_t *token);
    /** An instantiation of the generic method with the token @method. */
    int (*method_spec)(void *context, uint32_t method, const uint8_t *sig, size_t size,
                       uint32_t *token);
    /** A standalone signature, for calli. */
    int (*signature)(void *context, const uint8_t *sig, size_t size, uint32_t *token);
    /** A string of @n UTF-16 units. */
    int (*string)(void *context, const uint16_t *units, size_t n, uint32_t *token);
    void *context;
    /** Return nonzero to refuse @opcode with a @token from one of the above. May be NULL. */
    int (*use)(void *context, enum sxs_il_opcode opcode, uint32_t token);
};

struct sxs_il_source {
    const char                 *text;        /* UTF-8, zero-terminated */
    uint16_t                    first_local; /* number of the first local that the text declares */
    const struct sxs_il_tokens *tokens;
};

#endif
