/* SPDX-License-Identifier: MIT */
/**
 * sxs_il.h - read, change, check and write IL method bodies (ECMA-335 II.25.4 and III).
 *
 * This is a library of its own: it can be used without a CLR. A body is a list of instructions and
 * an array of exception clauses that point to instructions. Instructions keep their identity: an
 * instruction that was read stays the same struct when others are inserted around it, and
 * `old_offset` distinguishes it from a new one.
 *
 *     struct sxs_il_body *body = sxs_il_new();
 *     if (!sxs_il_read(body, bytes, size, &error)) {
 *         sxs_il_insert_before(body, body->first, sxs_il_insn(body, SXS_IL_NOP));
 *         if (!sxs_il_check(body, &method, &error) && !sxs_il_write(body, &bytes, &size, &error))
 *             ...
 *     }
 *     sxs_il_free(body);
 *
 * The body owns all memory that these functions return. The memory is valid until the next
 * sxs_il_read(), sxs_il_clear() or sxs_il_free() of that body. Reading and clearing keep the memory
 * for reuse: a body that is used repeatedly stops allocating.
 *
 * Functions that can fail return an enum sxs_il_status, 0 for success, and on failure fill in
 * @error, which may be NULL. After SXS_IL_ENOMEM a body may only be cleared or freed.
 *
 * Only one thread at a time may use a body; there is no global state. No function here is
 * async-signal-safe.
 */
#ifndef SXS_IL_H
#define SXS_IL_H

#include <stddef.h>
#include <stdint.h>

#include "sxs_il_opcodes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- opcodes --------------------------------------------------------------------------------- */

/** The operand that follows an opcode. */
enum sxs_il_operand {
    SXS_IL_OPERAND_NONE,
    SXS_IL_OPERAND_I1,
    SXS_IL_OPERAND_I4,
    SXS_IL_OPERAND_I8,
    SXS_IL_OPERAND_R4,
    SXS_IL_OPERAND_R8,
    SXS_IL_OPERAND_VAR1, /* number of an argument or a local, in 1 byte; VAR2: in 2 bytes */
    SXS_IL_OPERAND_VAR2,
    SXS_IL_OPERAND_BRANCH1,
    SXS_IL_OPERAND_BRANCH4,
    SXS_IL_OPERAND_SWITCH,
    SXS_IL_OPERAND_METHOD, /* this and all that follow: a metadata token */
    SXS_IL_OPERAND_FIELD,
    SXS_IL_OPERAND_TYPE,
    SXS_IL_OPERAND_TOKEN,
    SXS_IL_OPERAND_SIGNATURE,
    SXS_IL_OPERAND_STRING,
};

/** Where control goes after an instruction. */
enum sxs_il_flow {
    SXS_IL_FLOW_NEXT,
    SXS_IL_FLOW_CALL, /* to the next instruction after the call; jmp does not come back */
    SXS_IL_FLOW_CONDITIONAL,
    SXS_IL_FLOW_BRANCH,
    SXS_IL_FLOW_RETURN, /* ret, endfinally, endfilter */
    SXS_IL_FLOW_THROW,
    SXS_IL_FLOW_PREFIX, /* the instruction modifies the next one */
};

struct sxs_il_opcode_info {
    const char *name;         /* in ilasm's spelling; NULL: no such opcode */
    uint8_t     operand;      /* enum sxs_il_operand */
    uint8_t     flow;         /* enum sxs_il_flow */
    int8_t      pops, pushes; /* number of values; -1: depends on a signature */
    uint8_t     size;         /* of the operand, in bytes; 0 for switch, whose size varies */
};

/** Static table, indexed by enum sxs_il_opcode. */
extern const struct sxs_il_opcode_info sxs_il_opcodes[SXS_IL_N_OPCODES];

/* ---- errors ---------------------------------------------------------------------------------- */

enum sxs_il_status {
    SXS_IL_OK,
    SXS_IL_ENOMEM,
    SXS_IL_EMALFORMED, /* the bytes are not a method body */
    SXS_IL_EINVALID,   /* the checker refuses the body, or an argument is wrong */
    SXS_IL_ERANGE,     /* more code, clauses or locals than the format allows */
    SXS_IL_EUNCHECKED, /* the body was changed and not checked since */
};

struct sxs_il_error {
    enum sxs_il_status status;
    uint32_t           offset;    /* byte offset in the code that was read; SXS_IL_NONE: none */
    char               text[160]; /* one line of English, without a full stop */
};

#define SXS_IL_NONE UINT32_MAX

/* ---- bodies ---------------------------------------------------------------------------------- */

struct sxs_il_insn;

struct sxs_il_switch {
    uint32_t            n;
    struct sxs_il_insn *targets[];
};

/** One instruction. A prefix is an instruction of its own, before the instruction it modifies. */
struct sxs_il_insn {
    struct sxs_il_insn *prev, *next; /* NULL at the ends. Removed: the neighbours it had */
    union {
        int64_t               i;    /* I1, I4 and I8, sign-extended; VAR1 and VAR2 */
        uint64_t              bits; /* R4 and R8, as the bits that are stored */
        uint32_t              token;
        struct sxs_il_insn   *target;  /* of a branch */
        struct sxs_il_switch *targets; /* of a switch */
    };
    uint32_t old_offset; /* in the code that was read; SXS_IL_NONE: a new instruction */
    uint32_t offset;     /* in the code last read or written */
    uint32_t index;      /* scratch number of the library, such as the position in the list */
    uint16_t opcode;     /* enum sxs_il_opcode. A branch may be written in its other form */
    uint16_t height;     /* values on the stack before it, once checked, or SXS_IL_UNREACHABLE */
    uint8_t  removed;    /* taken out of the list; branches to it now go to its successor */
    uint8_t  listed;     /* in the body's list */
    uint8_t  width;      /* set by sxs_il_write(): bytes of a branch's operand; 0: no branch */
    uint16_t region;     /* set by sxs_il_check(): number of the innermost block around it */
    uint16_t writer;     /* the body's `writer` when the instruction was made; 0: it was read */
    void    *user;       /* for the caller; NULL at first */
};

#define SXS_IL_UNREACHABLE UINT16_MAX

enum sxs_il_clause_kind {
    SXS_IL_CATCH = 0,
    SXS_IL_FILTER = 1,
    SXS_IL_FINALLY = 2,
    SXS_IL_FAULT = 4,
};

/** One exception clause: the first and the last instruction of each part, both inclusive. */
struct sxs_il_clause {
    uint32_t            kind;  /* enum sxs_il_clause_kind */
    uint32_t            token; /* of the caught type; SXS_IL_CATCH only */
    struct sxs_il_insn *try_first, *try_last;
    struct sxs_il_insn *handler_first, *handler_last;
    struct sxs_il_insn *filter_first; /* SXS_IL_FILTER only; the filter ends before handler_first */
};

struct sxs_il_arena;

struct sxs_il_body {
    struct sxs_il_insn   *first, *last;
    struct sxs_il_clause *clauses; /* inner clauses first, as the runtime searches them */
    uint32_t              n_clauses;
    uint32_t              locals;    /* token of the locals' signature; 0: no locals */
    uint16_t              max_stack; /* as read; computed when a changed body is checked */
    uint8_t               init_locals;
    uint8_t               changed;   /* since the body was read */
    uint8_t               unchecked; /* changed since the body was last checked */
    uint8_t               stale;     /* `offset` of the instructions: see sxs_il_offsets() */
    uint8_t               keep_forms; /* set by the caller after reading, see sxs_il_write() */
    uint16_t              writer;    /* set by the caller; copied into each new instruction */
    /* What was read, so that an unchanged body is written in the same form. */
    uint8_t             was_fat, had_fat_sections;
    struct sxs_il_insn *old; /* array of n_old instructions in their old order, with removed ones */
    uint32_t            n_old;
    uint32_t            clauses_room; /* length of the array `clauses` */
    struct sxs_il_arena *arena;       /* private to the library */
};

/** sxs_il_new - make an empty body. Returns NULL without memory. Free it with sxs_il_free(). */
struct sxs_il_body *sxs_il_new(void);

/** sxs_il_free - free @body and all memory it owns. NULL is allowed. */
void sxs_il_free(struct sxs_il_body *body);

/** sxs_il_clear - empty @body. Keeps its memory for reuse. */
void sxs_il_clear(struct sxs_il_body *body);

/**
 * sxs_il_read - read a method body, header included, and replace the contents of @body.
 * @bytes: untrusted; not used after the call.
 * @size: in bytes; may be more than the method body takes. Nothing beyond it is read.
 * Returns SXS_IL_EMALFORMED for unknown opcodes, for branches into the middle of an instruction,
 * and for clauses that do not begin and end at instructions. @body is empty after a failure.
 */
int sxs_il_read(struct sxs_il_body *body, const uint8_t *bytes, size_t size,
                struct sxs_il_error *error);

/**
 * sxs_il_read_code - likewise, without a header: @bytes are @size bytes of code.
 * The body has no locals, no clauses and the stack of a tiny header. @size 0: no instructions.
 */
int sxs_il_read_code(struct sxs_il_body *body, const uint8_t *bytes, size_t size,
                     struct sxs_il_error *error);

/**
 * sxs_il_write - write the body, header included.
 * @bytes, @size: receive the address of the bytes, owned by the body, and their number.
 * An unchanged body is written as it was read: same forms of header, sections and branches. In a
 * changed body each branch has its shortest form, except that branches that were read in the long
 * form keep it; a tiny header becomes a fat one if necessary. With keep_forms each branch has the
 * form of its opcode, except that a short branch that does not reach its target becomes long. Sets
 * `offset` of every instruction.
 * Returns SXS_IL_EUNCHECKED when the body was changed and not checked since, SXS_IL_ERANGE when it
 * is too large for the format.
 */
int sxs_il_write(struct sxs_il_body *body, const uint8_t **bytes, size_t *size,
                 struct sxs_il_error *error);

/**
 * sxs_il_offsets - set `offset` of each instruction in the list to what sxs_il_write() would set it
 * to. The body may be unfinished: a branch that goes nowhere is taken to have the form that it would
 * have with a near target, a switch without targets to have none. Does nothing when the body was
 * not changed since the offsets were set. A caller that writes to fields calls sxs_il_set_changed().
 */
void sxs_il_offsets(struct sxs_il_body *body);

/** sxs_il_length - return the number of bytes that @insn takes when it is written in the form in
 *  which it was last written, or else in the form of its opcode. */
uint32_t sxs_il_length(const struct sxs_il_insn *insn);

/** One row of the map from old code to new code. */
struct sxs_il_map {
    uint32_t old_offset, new_offset;
};

/**
 * sxs_il_map - map old offsets to new ones. Call it after sxs_il_write().
 * @map: receives at most @room rows, in the order of the old code, one for each instruction that
 * was read. new_offset is the offset of the instruction, or of the instruction that stands for it
 * when it was removed (see sxs_il_target()). Instructions that nothing stands for have no row.
 * Returns the number of rows, which may be more than @room.
 */
size_t sxs_il_map(const struct sxs_il_body *body, struct sxs_il_map *map, size_t room);

/* ---- changes --------------------------------------------------------------------------------- */

/** sxs_il_insn - make an instruction that is not in the list yet. The caller sets its operand.
 *  Returns NULL without memory, or when there is no such opcode. */
struct sxs_il_insn *sxs_il_insn(struct sxs_il_body *body, enum sxs_il_opcode opcode);

/** sxs_il_int, sxs_il_token, sxs_il_branch - likewise, and set the operand. sxs_il_int() does not
 *  check that @i fits the opcode's operand; sxs_il_check() does. */
struct sxs_il_insn *sxs_il_int(struct sxs_il_body *body, enum sxs_il_opcode opcode, int64_t i);
struct sxs_il_insn *sxs_il_token(struct sxs_il_body *body, enum sxs_il_opcode opcode,
                                 uint32_t token);
struct sxs_il_insn *sxs_il_branch(struct sxs_il_body *body, enum sxs_il_opcode opcode,
                                  struct sxs_il_insn *target);

/** sxs_il_switch - make a switch with @n targets, which the caller sets; they are NULL at first. */
struct sxs_il_insn *sxs_il_switch(struct sxs_il_body *body, uint32_t n);

/** sxs_il_ldc, _ldarg, _ldloc, _stloc, _ldloca - make the shortest form of the instruction. */
struct sxs_il_insn *sxs_il_ldc(struct sxs_il_body *body, int32_t value);
struct sxs_il_insn *sxs_il_ldarg(struct sxs_il_body *body, uint16_t number);
struct sxs_il_insn *sxs_il_ldloc(struct sxs_il_body *body, uint16_t number);
struct sxs_il_insn *sxs_il_stloc(struct sxs_il_body *body, uint16_t number);
struct sxs_il_insn *sxs_il_ldloca(struct sxs_il_body *body, uint16_t number);

/**
 * sxs_il_insert_before, sxs_il_insert_after, sxs_il_append - put @insn into the list.
 * @at: an instruction in the list. sxs_il_insert_before() inserts before the prefixes of @at, if it
 * has any. To insert a new instruction with a prefix, insert the instruction first and then the
 * prefix before it.
 * @insn: made for this body, and not in the list. A removed instruction may be inserted again;
 * branches and clauses that still point to it then mean it again.
 * Branches to @at, and clauses that begin or end at @at, do not change; see sxs_il_move_targets().
 * Instructions that are inserted before the same @at end up in the order of the calls.
 * Returns @insn; NULL when @insn is NULL, so that calls can be nested and checked once.
 */
struct sxs_il_insn *sxs_il_insert_before(struct sxs_il_body *body, struct sxs_il_insn *at,
                                         struct sxs_il_insn *insn);
struct sxs_il_insn *sxs_il_insert_after(struct sxs_il_body *body, struct sxs_il_insn *at,
                                        struct sxs_il_insn *insn);
struct sxs_il_insn *sxs_il_append(struct sxs_il_body *body, struct sxs_il_insn *insn);

/** sxs_il_remove - take @insn out of the list. Branches to it, and clauses that begin at it, then
 *  mean its successor; clauses that end at it mean its predecessor. */
void sxs_il_remove(struct sxs_il_body *body, struct sxs_il_insn *insn);

/** sxs_il_replace - remove @insn and put @with in its place. Branches and clauses then mean
 *  @with. */
void sxs_il_replace(struct sxs_il_body *body, struct sxs_il_insn *insn, struct sxs_il_insn *with);

/**
 * sxs_il_move_targets - make all branches to @from go to @to.
 * @clauses: nonzero: also make try blocks, handlers and filters that begin at @from begin at @to.
 * When @to is before @from in the list, the instructions from @to up to @from, without @from, keep
 * their targets, because code that was inserted before @from may branch over itself to @from.
 * Takes time proportional to the size of the body.
 */
void sxs_il_move_targets(struct sxs_il_body *body, struct sxs_il_insn *from, struct sxs_il_insn *to,
                         int clauses);

/** sxs_il_add_clause - insert a zeroed clause before the clause at @position. n_clauses as
 *  @position: insert it last, as the outermost. Pointers to clauses become invalid. Returns NULL
 *  without memory. */
struct sxs_il_clause *sxs_il_add_clause(struct sxs_il_body *body, uint32_t position);

/** sxs_il_remove_clause - remove the clause at @position. Its instructions stay in the list. */
void sxs_il_remove_clause(struct sxs_il_body *body, uint32_t position);

/** sxs_il_target - find the instruction that a pointer to @insn means: @insn itself, or, when it
 *  was removed, its replacement or its successor in the list. Returns NULL when there is none. */
struct sxs_il_insn *sxs_il_target(struct sxs_il_insn *insn);

/** sxs_il_old_next, sxs_il_old_prev - return the neighbour of @insn in the code that was read,
 *  wherever the neighbour is now, even if it was removed. NULL: there is none, or @insn is new. */
struct sxs_il_insn *sxs_il_old_next(const struct sxs_il_body *body, const struct sxs_il_insn *insn);
struct sxs_il_insn *sxs_il_old_prev(const struct sxs_il_body *body, const struct sxs_il_insn *insn);

/** sxs_il_old_at - return the instruction that was read at byte @offset of the code, even if it was
 *  removed. NULL: no instruction began there. */
struct sxs_il_insn *sxs_il_old_at(const struct sxs_il_body *body, uint32_t offset);

/** sxs_il_set_changed - note that the caller wrote to fields of the body or of an instruction. */
void sxs_il_set_changed(struct sxs_il_body *body);

/* ---- whole methods --------------------------------------------------------------------------- */

/** What a call does to the stack, in values. Depends on the signature of the called method. */
struct sxs_il_effect {
    uint16_t pops; /* arguments, with `this` except for newobj; calli: plus the address */
    uint16_t pushes;
};

/** What the checker must know about the method and the body does not contain. */
struct sxs_il_method {
    uint16_t n_args; /* with `this` */
    uint16_t n_locals;
    uint8_t  returns; /* nonzero: the method returns a value */
    /** Report what call, callvirt, newobj or calli with @token does to the stack. Returns 0, or
     *  nonzero when the signature is not known. */
    int (*effect)(void *context, enum sxs_il_opcode opcode, uint32_t token,
                  struct sxs_il_effect *effect);
    void *context;
};

/**
 * sxs_il_check - check whether a JIT would accept the body.
 * Checks the stack height wherever control flow joins, the targets of branches, the nesting and the
 * ranges of clauses, branches into and out of them, leave, endfinally, endfilter, rethrow,
 * prefixes, the numbers of arguments and locals, and that operands fit. Does not check types.
 * docs/internals/il.md has the rules.
 * Sets `height` of each instruction and, when the body was changed, max_stack of the body.
 * @error: its offset is that of the instruction, or of the nearest old instruction before it.
 */
int sxs_il_check(struct sxs_il_body *body, const struct sxs_il_method *method,
                 struct sxs_il_error *error);

/**
 * sxs_il_single_return - give the method one exit: each ret becomes a branch to one ret at the end.
 * @local: number of a local of the method's result type, which receives the result; not used when
 * the method returns nothing.
 * @exit: receives the nop at which the exit begins, where the stack is empty. Insert code after the
 * nop. Receives NULL when the method never returns.
 * Removes the prefix tail. from calls before a ret. Turns jmp into a call with all arguments.
 */
int sxs_il_single_return(struct sxs_il_body *body, const struct sxs_il_method *method, uint16_t local,
                         struct sxs_il_insn **exit, struct sxs_il_error *error);

/**
 * sxs_il_exits - insert a nop before each exit of the method. The method keeps all its exits.
 * An exit is a ret, a jmp, or a call with the prefix tail. together with its ret. All control flow
 * to an exit passes its nop. Insert code after the nop; on the stack are the result (ret), the
 * arguments (tail.), or nothing (jmp).
 * @exits: receives an array of the nops in the order of the list, owned by the body.
 * @n: receives the number of nops.
 */
int sxs_il_exits(struct sxs_il_body *body, struct sxs_il_insn ***exits, uint32_t *n,
                 struct sxs_il_error *error);

/**
 * sxs_il_add_locals - make a signature of locals that has more locals at its end. Pure.
 * @old, @size: the present signature and its bytes; size 0: the method has no locals.
 * @types, @types_size: the types of the @n new locals, as in signatures, one after the other.
 * @out, @room: receive at most @room bytes of the new signature.
 * @first: receives the number of the first new local; may be NULL.
 * Returns the size of the new signature in bytes, which may be more than @room; 0 when @old is not
 * a signature of locals, or when there would be more than 65,535 locals.
 */
size_t sxs_il_add_locals(const uint8_t *old, size_t size, const uint8_t *types, size_t types_size,
                         uint32_t n, uint8_t *out, size_t room, uint16_t *first);

/** The places in a wrapped method where code can be inserted. */
struct sxs_il_wrap {
    struct sxs_il_insn *body;    /* first of the try block; code inserted before is outside of it */
    struct sxs_il_insn *handler; /* nop with the exception on the stack: insert after it */
    struct sxs_il_insn *pop;     /* takes the exception off the stack; may be replaced */
    struct sxs_il_insn *rethrow; /* last instruction of the handler */
    struct sxs_il_insn *exit;    /* nop after the block, with an empty stack: insert after it.
                                    NULL: the method never returns */
};

/**
 * sxs_il_wrap - put the whole method into a try block with a handler that rethrows the exception.
 * The method gets one exit, after the block:
 *
 *     .try { the method, with `stloc local; leave exit` as ret } catch caught { nop; pop; rethrow }
 *     exit: nop; ldloc local; ret
 *
 * @local: as for sxs_il_single_return(). @caught: token of the caught type.
 * @wrap: receives the places for more code.
 */
int sxs_il_wrap(struct sxs_il_body *body, const struct sxs_il_method *method, uint16_t local,
                uint32_t caught, struct sxs_il_wrap *wrap, struct sxs_il_error *error);

#ifdef __cplusplus
}
#endif

#endif
