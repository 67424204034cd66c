/* SPDX-License-Identifier: MIT */
/**
 * instr/il/assemble.h - turn text in ilasm's syntax into instructions.
 *
 *     .locals init (int32 n)                  // more locals; n can be used as an operand
 *     ldstr      "hello"
 *     call       void [System.Console]System.Console::WriteLine(string)
 *     ldarg.1
 *     brtrue.s   DONE
 *     ...
 *     DONE: nop
 *     .try L1 to L2 catch [System.Runtime]System.Exception handler L2 to L3
 *
 * One instruction or directive a line; comments begin with `//`. A label after the last instruction
 * gets a nop when a branch goes there or a range begins there. The output of sxs_il_put_body() can
 * be read back.
 */
#ifndef SXS_INSTR_IL_ASSEMBLE_H
#define SXS_INSTR_IL_ASSEMBLE_H

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

/** Instructions that are not in a body's list yet. The body they were made for owns all memory. */
struct sxs_il_fragment {
    struct sxs_il_insn   *first, *last; /* NULL: none */
    struct sxs_il_clause *clauses;
    uint32_t              n_clauses;
    const uint8_t        *locals; /* types of the declared locals, as in signatures, in a row */
    size_t                locals_size; /* bytes */
    uint32_t              n_locals;
    uint8_t               init_locals; /* `init`: the locals must be zero at first */
};

struct sxs_il_source {
    const char                 *text;        /* UTF-8, zero-terminated */
    uint16_t                    first_local; /* number of the first local that the text declares */
    const struct sxs_il_tokens *tokens;
};

/**
 * sxs_il_assemble - turn @source into instructions for @body that are not in its list yet.
 * @fragment: receives the instructions; @body owns their memory.
 * @error: its text begins with line and column, from 1; its offset is a byte of the text.
 * Returns 0 or an enum sxs_il_status.
 */
int sxs_il_assemble(struct sxs_il_body *body, const struct sxs_il_source *source,
                    struct sxs_il_fragment *fragment, struct sxs_il_error *error);

/**
 * sxs_il_insert_fragment - insert the instructions before @at and its prefixes.
 * @at: in the list; NULL: insert at the end.
 * The clauses of the fragment go before all others, because inner clauses must come first. A
 * fragment can be inserted only once: to insert it again, copy it before the first insertion.
 * Returns 0 or SXS_IL_ENOMEM.
 */
int sxs_il_insert_fragment(struct sxs_il_body *body, struct sxs_il_insn *at,
                           const struct sxs_il_fragment *fragment);

/** sxs_il_copy_fragment - copy the instructions and clauses of @from, which must not have been
 *  inserted yet. Both fragments then share the locals. Returns 0 or SXS_IL_ENOMEM. */
int sxs_il_copy_fragment(struct sxs_il_body *body, const struct sxs_il_fragment *from,
                         struct sxs_il_fragment *to);

#endif
