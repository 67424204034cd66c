/* SPDX-License-Identifier: MIT */
/**
 * sxs_il.h - IL method bodies (ECMA-335 II.25.4, III): read, change, check, write.
 *
 * The library can be used alone; it does not need a CLR. A body is a list of instructions and a
 * table of exception clauses, which point to instructions of the list. Instructions keep their
 * identity: an instruction that was read stays the same struct, however many instructions are
 * inserted around it, and it can be told from new instructions.
 *
 *     struct sxs_il_body *body = sxs_il_new();
 *     if (!sxs_il_read(body, bytes, size, &error)) {
 *         sxs_il_insert_before(body, body->first, sxs_il_insn(body, SXS_IL_NOP));
 *         if (!sxs_il_check(body, &method, &error) && !sxs_il_write(body, &bytes, &size, &error))
 *             ...
 *     }
 *     sxs_il_free(body);
 *
 * All memory belongs to the body and is valid until sxs_il_read(), sxs_il_clear() or sxs_il_free().
 * The memory is reused, so a body that is used again and again stops allocating after a while. A
 * body may be used by one thread at a time; there is no other state. No function here is
 * signal-safe. Functions declared as int return an enum sxs_il_status, which is 0 on success, and
 * otherwise fill in @error, which may be NULL. After SXS_IL_ENOMEM a body may only be cleared or
 * freed.
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
    SXS_IL_OPERAND_VAR1, /* number of an argument or a local */
    SXS_IL_OPERAND_VAR2,
    SXS_IL_OPERAND_BRANCH1,
    SXS_IL_OPERAND_BRANCH4,
    SXS_IL_OPERAND_SWITCH,
    SXS_IL_OPERAND_METHOD, /* this and the following kinds are tokens */
    SXS_IL_OPERAND_FIELD,
    SXS_IL_OPERAND_TYPE,
    SXS_IL_OPERAND_TOKEN,
    SXS_IL_OPERAND_SIGNATURE,
    SXS_IL_OPERAND_STRING,
};

/** Where control goes after an instruction. */
enum sxs_il_flow {
    SXS_IL_FLOW_NEXT,        /* to the next instruction */
    SXS_IL_FLOW_CALL,        /* to the next instruction, after a call; jmp: out of the method */
    SXS_IL_FLOW_CONDITIONAL, /* to the next instruction or to a target */
    SXS_IL_FLOW_BRANCH,      /* to a target */
    SXS_IL_FLOW_RETURN,      /* ret, endfinally, endfilter */
    SXS_IL_FLOW_THROW,
    SXS_IL_FLOW_PREFIX,      /* a prefix of the next instruction */
};

struct sxs_il_opcode_info {
    const char *name;    /* as ilasm spells it; NULL: no such opcode */
    uint8_t     operand; /* enum sxs_il_operand */
    uint8_t     flow;    /* enum sxs_il_flow */
    int8_t      pops, pushes; /* numbers of stack values; -1: depends on a signature */
    uint8_t     size;    /* bytes of the operand; not valid for switch, whose size varies */
};

/** All opcodes, indexed by enum sxs_il_opcode. Static. */
extern const struct sxs_il_opcode_info sxs_il_opcodes[SXS_IL_N_OPCODES];

/* ---- errors ---------------------------------------------------------------------------------- */

enum sxs_il_status {
    SXS_IL_OK,
    SXS_IL_ENOMEM,
    SXS_IL_EMALFORMED, /* the bytes are not a method body */
    SXS_IL_EINVALID,   /* the checker found that the body would not run; or an argument is wrong */
    SXS_IL_ERANGE,     /* too much code, or too many clauses or locals, for the format */
    SXS_IL_EUNCHECKED, /* the body was changed and has not been checked since */
};

/** The description of an error. */
struct sxs_il_error {
    enum sxs_il_status status;
    uint32_t           offset;    /* where, in the code that was read; SXS_IL_NONE: unknown */
    char               text[160]; /* one line in English, without a full stop */
};

#define SXS_IL_NONE UINT32_MAX

/* ---- bodies ---------------------------------------------------------------------------------- */

struct sxs_il_insn;

/** The targets of a switch instruction. */
struct sxs_il_switch {
    uint32_t            n;
    struct sxs_il_insn *targets[];
};

/** One instruction. A prefix is an instruction of its own, in front of the instruction that it
 *  belongs to. */
struct sxs_il_insn {
    /* Neighbours in the list; NULL at its ends. A removed instruction keeps its last neighbours; a
     * replaced instruction has its replacement in both. */
    struct sxs_il_insn *prev, *next;
    union {
        int64_t               i; /* operand of kind I1, I4 or I8, sign-extended; VAR1 or VAR2 */
        uint64_t              bits; /* operand of kind R4 or R8, as stored */
        uint32_t              token;
        struct sxs_il_insn   *target;  /* target of a branch */
        struct sxs_il_switch *targets; /* targets of a switch */
    };
    uint32_t old_offset; /* offset in the code that was read; SXS_IL_NONE: a new instruction */
    uint32_t offset;     /* offset in the code that was last read or written */
    uint32_t index;      /* position in the list; used by the library only */
    uint16_t opcode;     /* enum sxs_il_opcode. A branch may be written in its short or long form */
    uint16_t height;     /* height of the stack before it, after a check; or SXS_IL_UNREACHABLE */
    uint8_t  removed;    /* 1: taken out of the list. Branches to it go to the next instruction */
    uint8_t  listed;     /* 1: in the body's list */
    uint8_t  width;      /* bytes of a branch's operand; used by the writer only */
    uint16_t region;     /* used by the checker only */
    uint16_t writer;     /* value of the body's `writer` when it was made; 0: it was read */
    void    *user;       /* for the caller; NULL at first */
};

#define SXS_IL_UNREACHABLE UINT16_MAX

enum sxs_il_clause_kind {
    SXS_IL_CATCH = 0,
    SXS_IL_FILTER = 1,
    SXS_IL_FINALLY = 2,
    SXS_IL_FAULT = 4,
};

/** One exception clause, with the first and the last instruction of each part. */
struct sxs_il_clause {
    uint32_t            kind;  /* enum sxs_il_clause_kind */
    uint32_t            token; /* token of the caught type; SXS_IL_CATCH only */
    struct sxs_il_insn *try_first, *try_last;
    struct sxs_il_insn *handler_first, *handler_last;
    struct sxs_il_insn *filter_first; /* SXS_IL_FILTER only. The filter ends before handler_first */
};

struct sxs_il_arena;

/** A method body. */
struct sxs_il_body {
    struct sxs_il_insn   *first, *last; /* the list of instructions */
    struct sxs_il_clause *clauses; /* inner clauses first, which is a runtime's search order */
    uint32_t              n_clauses;
    uint32_t              locals;    /* token of the locals' signature; 0: none */
    uint16_t              max_stack; /* as read; sxs_il_check() computes it for a changed body */
    uint8_t               init_locals;
    uint8_t               changed;   /* 1: changed since it was read */
    uint8_t               unchecked; /* 1: changed since it was checked */
    uint16_t              writer;    /* set by the caller, to tell the origins of new instructions;
                                      * is copied to each new instruction */
    /* The form that was read, so that an unchanged body is written in the same form. */
    uint8_t             was_fat, had_fat_sections;
    struct sxs_il_insn *old; /* all instructions that were read, in their old order, including the
                              * removed ones */
    uint32_t            n_old;
    uint32_t            clauses_room; /* used by the library only, as is the next member */
    struct sxs_il_arena *arena;
};

/** sxs_il_new - make an empty body. Returns the body, which the caller must free by sxs_il_free(),
 *  or NULL if there is no memory. */
struct sxs_il_body *sxs_il_new(void);

/** sxs_il_free - free @body and all its memory. @body may be NULL. */
void sxs_il_free(struct sxs_il_body *body);

/** sxs_il_clear - make @body empty again. Its memory is kept for later use. */
void sxs_il_clear(struct sxs_il_body *body);

/**
 * sxs_il_read - read a body from bytes, header included. Former contents of @body are discarded.
 * @bytes: untrusted; nothing beyond @size is read.
 * @size: number of bytes, at least those of the body; may be more.
 * Returns SXS_IL_EMALFORMED for an unknown opcode, a branch into the middle of an instruction, a
 * clause that does not begin and end at instructions, and other bytes that are not a body.
 */
int sxs_il_read(struct sxs_il_body *body, const uint8_t *bytes, size_t size,
                struct sxs_il_error *error);

/**
 * sxs_il_write - write the body as bytes, header included.
 * @bytes, @size: receive the bytes, which the body owns, and their number.
 * An unchanged body is written as it was read, with the same forms of header, sections and
 * branches. In a changed body a branch is as short as possible, except that a branch that was read
 * in the long form keeps it; a tiny header becomes a fat one if necessary. Sets `offset` of every
 * instruction.
 * Returns SXS_IL_EUNCHECKED if the body was changed and has not been checked since, and
 * SXS_IL_ERANGE if the body is too large for the format.
 */
int sxs_il_write(struct sxs_il_body *body, const uint8_t **bytes, size_t *size,
                 struct sxs_il_error *error);

/** One row of the map from old code to new code. */
struct sxs_il_map {
    uint32_t old_offset, new_offset;
};

/** sxs_il_map - make the map from the code that was read to the code that was last written.
 *  @map: receives a row for each instruction that was read, in the order of the old code; at most
 *        @room rows. For a removed instruction, new_offset is that of the instruction that stands
 *        for it (sxs_il_target()); if there is none, the row is left out.
 *  Returns the number of rows, which may be more than @room. */
size_t sxs_il_map(const struct sxs_il_body *body, struct sxs_il_map *map, size_t room);

/* ---- changes --------------------------------------------------------------------------------- */

/** sxs_il_insn - make a new instruction, which is not in the list yet. The caller fills in its
 *  operand. Returns NULL if there is no memory or no such opcode. */
struct sxs_il_insn *sxs_il_insn(struct sxs_il_body *body, enum sxs_il_opcode opcode);

/** sxs_il_int, sxs_il_token, sxs_il_branch - make a new instruction with an operand. @i must fit
 *  the operand of @opcode. */
struct sxs_il_insn *sxs_il_int(struct sxs_il_body *body, enum sxs_il_opcode opcode, int64_t i);
struct sxs_il_insn *sxs_il_token(struct sxs_il_body *body, enum sxs_il_opcode opcode,
                                 uint32_t token);
struct sxs_il_insn *sxs_il_branch(struct sxs_il_body *body, enum sxs_il_opcode opcode,
                                  struct sxs_il_insn *target);

/** sxs_il_switch - make a switch instruction with @n targets, which are all NULL at first. */
struct sxs_il_insn *sxs_il_switch(struct sxs_il_body *body, uint32_t n);

/** sxs_il_ldc, ldarg, ldloc, stloc, ldloca - make the shortest form of ldc.i4, ldarg, ldloc, stloc
 *  or ldloca. */
struct sxs_il_insn *sxs_il_ldc(struct sxs_il_body *body, int32_t value);
struct sxs_il_insn *sxs_il_ldarg(struct sxs_il_body *body, uint16_t number);
struct sxs_il_insn *sxs_il_ldloc(struct sxs_il_body *body, uint16_t number);
struct sxs_il_insn *sxs_il_stloc(struct sxs_il_body *body, uint16_t number);
struct sxs_il_insn *sxs_il_ldloca(struct sxs_il_body *body, uint16_t number);

/**
 * sxs_il_insert_before, sxs_il_insert_after, sxs_il_append - put @insn into the list.
 * @at: an instruction in the list. If @at has prefixes, sxs_il_insert_before() inserts in front of
 *      the prefixes. So to insert an instruction with a prefix, insert the instruction first, and
 *      then the prefix before it.
 * @insn: made by this body, and not in the list. A removed instruction may be inserted again;
 *        branches and clauses that still point to it then refer to its new place.
 * Branches to @at, and clauses that begin or end at @at, do not change; see sxs_il_move_targets().
 * Instructions that are inserted one after the other before the same @at are in that order.
 * Returns @insn, or NULL if @insn is NULL, so that calls can be nested and the result checked once.
 */
struct sxs_il_insn *sxs_il_insert_before(struct sxs_il_body *body, struct sxs_il_insn *at,
                                         struct sxs_il_insn *insn);
struct sxs_il_insn *sxs_il_insert_after(struct sxs_il_body *body, struct sxs_il_insn *at,
                                        struct sxs_il_insn *insn);
struct sxs_il_insn *sxs_il_append(struct sxs_il_body *body, struct sxs_il_insn *insn);

/** sxs_il_remove - take @insn out of the list. Branches to @insn, and parts of clauses that begin
 *  at it, then refer to the next instruction; parts of clauses that end at @insn refer to the
 *  previous one. */
void sxs_il_remove(struct sxs_il_body *body, struct sxs_il_insn *insn);

/** sxs_il_replace - put @with in the place of @insn, which is removed. Branches and clauses that
 *  pointed to @insn then refer to @with. */
void sxs_il_replace(struct sxs_il_body *body, struct sxs_il_insn *insn, struct sxs_il_insn *with);

/** sxs_il_move_targets - make all branches to @from go to @to.
 *  @clauses: nonzero: parts of clauses that begin at @from begin at @to, too.
 *  If @to lies before @from, the branches of the instructions from @to up to @from are not changed,
 *  so that inserted code can branch to @from past the rest of itself. The time is proportional to
 *  the size of the body. */
void sxs_il_move_targets(struct sxs_il_body *body, struct sxs_il_insn *from, struct sxs_il_insn *to,
                         int clauses);

/** sxs_il_add_clause - insert a zeroed clause before the clause at @position. With @position
 *  n_clauses the new clause is the last, outermost one.
 *  Returns the clause, or NULL if there is no memory. Earlier pointers to clauses become
 *  invalid. */
struct sxs_il_clause *sxs_il_add_clause(struct sxs_il_body *body, uint32_t position);

/** sxs_il_remove_clause - remove the clause at @position. The code in its ranges stays. */
void sxs_il_remove_clause(struct sxs_il_body *body, uint32_t position);

/** sxs_il_target - return the instruction that a branch to @insn goes to: @insn itself or, if @insn
 *  was removed, the instruction that stands for it. NULL: there is none. */
struct sxs_il_insn *sxs_il_target(struct sxs_il_insn *insn);

/** sxs_il_old_next, sxs_il_old_prev - return the neighbour of @insn in the code that was read, even
 *  if the neighbour was removed. NULL: there is none, or @insn is new. */
struct sxs_il_insn *sxs_il_old_next(const struct sxs_il_body *body, const struct sxs_il_insn *insn);
struct sxs_il_insn *sxs_il_old_prev(const struct sxs_il_body *body, const struct sxs_il_insn *insn);

/** sxs_il_old_at - return the instruction that was read at @offset, even if it was removed. NULL:
 *  no instruction begins there. */
struct sxs_il_insn *sxs_il_old_at(const struct sxs_il_body *body, uint32_t offset);

/** sxs_il_set_changed - mark @body as changed and unchecked. To be called after the caller has
 *  written to fields of the body or of an instruction. */
void sxs_il_set_changed(struct sxs_il_body *body);

/* ---- whole methods --------------------------------------------------------------------------- */

/** The effect on the stack of an instruction whose effect depends on a signature. */
struct sxs_il_effect {
    uint16_t pops; /* number of arguments, including `this`; for calli also the address */
    uint16_t pushes;
};

/** Properties of a method that its body does not contain. */
struct sxs_il_method {
    uint16_t n_args; /* including `this` */
    uint16_t n_locals;
    uint8_t  returns; /* 1: the method returns a value */
    /** effect - get the effect of call, callvirt, newobj or calli with @token. Returns 0, or
     *  nonzero if the effect is not known. */
    int (*effect)(void *context, enum sxs_il_opcode opcode, uint32_t token,
                  struct sxs_il_effect *effect);
    void *context; /* the first argument of effect() */
};

/**
 * sxs_il_check - check whether a JIT would accept the body: heights of the stack wherever paths
 * join, targets of branches, nesting and ranges of clauses, paths into and out of clauses, leave,
 * endfinally, endfilter, rethrow, prefixes, numbers of arguments and locals, and ranges of
 * operands. Types are not checked. docs/il.md has the rules.
 * Sets `height` of each instruction and, if the body was changed, `max_stack` of the body.
 * @error: the offset is that of the instruction or, if it is new, of the nearest instruction before
 *         it that was read.
 * Returns SXS_IL_EINVALID if a JIT would reject the body, or another error.
 */
int sxs_il_check(struct sxs_il_body *body, const struct sxs_il_method *method,
                 struct sxs_il_error *error);

/**
 * sxs_il_single_return - change the body such that it has one ret, at its end. Each other ret
 * becomes a branch to the end. The prefix tail. of a call in front of a ret is removed. jmp becomes
 * a call with all arguments.
 * @local: number of a local of the method's result type; not used if @method returns nothing.
 * @exit: receives the nop that the branches go to. The stack is empty there; insert code after the
 *        nop. NULL: the method never returns.
 */
int sxs_il_single_return(struct sxs_il_body *body, const struct sxs_il_method *method, uint16_t local,
                         struct sxs_il_insn **exit, struct sxs_il_error *error);

/**
 * sxs_il_exits - put a nop before each exit of the method: each ret, jmp and call with tail. All
 * branches to an exit go to its nop; insert code after the nop. The stack there has the result
 * (ret), the arguments (call with tail.), or nothing (jmp).
 * @exits: receives an array of the nops in the order of the list, in memory of the body.
 * @n: receives the number of nops.
 */
int sxs_il_exits(struct sxs_il_body *body, struct sxs_il_insn ***exits, uint32_t *n,
                 struct sxs_il_error *error);

/**
 * sxs_il_add_locals - write a locals' signature with additional locals at its end.
 * @old, @size: the present signature and its bytes; @size 0: there is none.
 * @types, @types_size: the types of the new locals, one after the other as in signatures, in bytes.
 * @n: number of new locals.
 * @out: receives the new signature, cut to @room bytes.
 * @first: receives the number of the first new local; may be NULL.
 * Returns the bytes of the whole new signature, which may be more than @room; 0 if @old is not a
 * locals' signature or there are too many locals. A pure function.
 */
size_t sxs_il_add_locals(const uint8_t *old, size_t size, const uint8_t *types, size_t types_size,
                         uint32_t n, uint8_t *out, size_t room, uint16_t *first);

/** The instructions at which code can be inserted into a wrapped method. */
struct sxs_il_wrap {
    struct sxs_il_insn *body;    /* first of the try block. Code inserted before it is in front of
                                  * the block */
    struct sxs_il_insn *handler; /* a nop with the exception on the stack; insert after it */
    struct sxs_il_insn *pop;     /* removes the exception from the stack; may be replaced */
    struct sxs_il_insn *rethrow; /* last instruction of the handler */
    struct sxs_il_insn *exit;    /* a nop behind the handler with an empty stack; insert after it.
                                  * NULL: the method never returns */
};

/**
 * sxs_il_wrap - put the whole method into a try block with a handler that throws the exception
 * again, and one ret behind both:
 *
 *     .try { the method, with `stloc local; leave exit` for ret } catch caught {
 *         nop; pop; rethrow }
 *     exit: nop; ldloc local; ret
 *
 * @local: as for sxs_il_single_return().
 * @caught: token of the caught type.
 * @wrap: receives the instructions at which to insert code.
 */
int sxs_il_wrap(struct sxs_il_body *body, const struct sxs_il_method *method, uint16_t local,
                uint32_t caught, struct sxs_il_wrap *wrap, struct sxs_il_error *error);

#ifdef __cplusplus
}
#endif

#endif
