/* SPDX-License-Identifier: MIT */
/**
 * il_assemble.h - instructions written in ilasm's syntax.
 *
 *     .locals init (int32 n)                  // more locals, by name
 *     ldstr      "hello"
 *     call       void [System.Console]System.Console::WriteLine(string)
 *     ldarg.1
 *     brtrue.s   DONE
 *     ...
 *     DONE: nop
 *     .try L1 to L2 catch [System.Runtime]System.Exception handler L2 to L3
 *
 * One line each; `//` comments. A label behind all that something goes to gets a nop. What sxs_il_put_body() writes can be read back.
 */
#ifndef SXS_INSTR_IL_ASSEMBLE_H
#define SXS_INSTR_IL_ASSEMBLE_H

#include "include/sxs_il.h"

/** Where tokens come from: a runtime's metadata, which may make new ones. Each returns 0, or nonzero: it
 *  cannot be. */
struct sxs_il_tokens {
    /** A type by name: `Namespace.Outer/Inner`. @assembly NULL: of the module itself. */
    int (*type)(void *context, const char *assembly, const char *name, uint32_t *token);
    /** A type that is a signature: instantiations, arrays. */
    int (*type_spec)(void *context, const uint8_t *sig, size_t size, uint32_t *token);
    /** A method or field. @owner: TypeDef, TypeRef or TypeSpec; 0: of the module. */
    int (*member)(void *context, uint32_t owner, const char *name, const uint8_t *sig, size_t size,
                  uint32_t *token);
    /** An instantiation of a generic method. */
    int (*method_spec)(void *context, uint32_t method, const uint8_t *sig, size_t size,
                       uint32_t *token);
    /** A standalone signature, for calli. */
    int (*signature)(void *context, const uint8_t *sig, size_t size, uint32_t *token);
    /** A string. @n units of UTF-16. */
    int (*string)(void *context, const uint16_t *units, size_t n, uint32_t *token);
    void *context;
    /** May be NULL: is @opcode with @token, made by one of the above, refused? Nonzero: it is. */
    int (*use)(void *context, enum sxs_il_opcode opcode, uint32_t token);
};

/** Instructions that are not in a body's list yet. */
struct sxs_il_fragment {
    struct sxs_il_insn   *first, *last; /* NULL: none */
    struct sxs_il_clause *clauses;
    uint32_t              n_clauses;
    const uint8_t        *locals; /* types of the locals it declares, one behind the other, as in signatures */
    size_t                locals_size;
    uint32_t              n_locals;
    uint8_t               init_locals; /* they must begin as zeros */
};

struct sxs_il_source {
    const char                 *text; /* UTF-8, zero-terminated */
    uint16_t                    first_local; /* number of the first local it declares */
    const struct sxs_il_tokens *tokens;
};

/**
 * sxs_il_assemble - @source as instructions of @body's, not yet in its list; *fragment's memory is the body's.
 * @error: text begins with the line and column, from 1; its offset is that of the byte.
 */
int sxs_il_assemble(struct sxs_il_body *body, const struct sxs_il_source *source,
                    struct sxs_il_fragment *fragment, struct sxs_il_error *error);

/**
 * sxs_il_insert_fragment - all of it before @at and its prefixes (NULL: at the end); clauses before all others,
 * for what lies within another's block is inner. What is in it must be used once only: copy it before.
 */
int sxs_il_insert_fragment(struct sxs_il_body *body, struct sxs_il_insn *at,
                           const struct sxs_il_fragment *fragment);

/** sxs_il_copy_fragment - the same instructions once more, as new ones; @from must not have been inserted yet.
 *  Locals are shared. */
int sxs_il_copy_fragment(struct sxs_il_body *body, const struct sxs_il_fragment *from,
                         struct sxs_il_fragment *to);

#endif
