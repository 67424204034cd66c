/* SPDX-License-Identifier: MIT */
/**
 * sxs_il.h - IL method bodies (ECMA-335 II.25.4, III): read, change, check, write.
 *
 * A library of its own: it knows nothing of a CLR and needs none. A body is a list of instructions
 * and its exception clauses, which point into it. Instructions keep their identity: one that was read
 * stays the same struct however many are put around it, and can be told from new ones.
 *
 *     struct sxs_il_body *body = sxs_il_new();
 *     if (!sxs_il_read(body, bytes, size, &error)) {
 *         sxs_il_insert_before(body, body->first, sxs_il_insn(body, SXS_IL_NOP));
 *         if (!sxs_il_check(body, &method, &error) && !sxs_il_write(body, &bytes, &size, &error))
 *             ...
 *     }
 *     sxs_il_free(body);
 *
 * All memory belongs to the body and lives until sxs_il_read(), sxs_il_clear() or sxs_il_free(): one body
 * used again and again allocates nothing any more. A body belongs to one thread at a time; there is no
 * other state. Nothing here is for signal handlers. Functions that can fail return an enum
 * sxs_il_status, 0 when all is well, and fill in @error (NULL: not wanted). After SXS_IL_ENOMEM a body
 * may only be cleared or freed.
 */
#ifndef SXS_IL_H
#define SXS_IL_H

#include <stddef.h>
#include <stdint.h>

#include "sxs_il_opcodes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- opcodes ---------------------------------------------------------------------------------- */

/** What follows an opcode. */
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
    SXS_IL_OPERAND_METHOD, /* the rest are tokens */
    SXS_IL_OPERAND_FIELD,
    SXS_IL_OPERAND_TYPE,
    SXS_IL_OPERAND_TOKEN,
    SXS_IL_OPERAND_SIGNATURE,
    SXS_IL_OPERAND_STRING,
};

/** Where control goes. */
enum sxs_il_flow {
    SXS_IL_FLOW_NEXT,
    SXS_IL_FLOW_CALL, /* next, too (jmp: nowhere) */
    SXS_IL_FLOW_CONDITIONAL,
    SXS_IL_FLOW_BRANCH,
    SXS_IL_FLOW_RETURN, /* ret, endfinally, endfilter */
    SXS_IL_FLOW_THROW,
    SXS_IL_FLOW_PREFIX, /* belongs to the instruction that follows */
};

struct sxs_il_opcode_info {
    const char *name;    /* as ilasm spells it; NULL: no such opcode */
    uint8_t     operand; /* enum sxs_il_operand */
    uint8_t     flow;    /* enum sxs_il_flow */
    int8_t      pops, pushes; /* values; -1: a signature says */
    uint8_t     size;    /* bytes of operand; a switch's differs */
};

/** By enum sxs_il_opcode. Static. */
extern const struct sxs_il_opcode_info sxs_il_opcodes[SXS_IL_N_OPCODES];

/* ---- errors ----------------------------------------------------------------------------------- */

enum sxs_il_status {
    SXS_IL_OK,
    SXS_IL_ENOMEM,
    SXS_IL_EMALFORMED, /* bytes that are no method body */
    SXS_IL_EINVALID,   /* a body that would not run: what the checker found, or a wrong argument */
    SXS_IL_ERANGE,     /* more than the format holds: code, clauses, locals */
    SXS_IL_EUNCHECKED, /* changed, and not checked since */
};

struct sxs_il_error {
    enum sxs_il_status status;
    uint32_t           offset;    /* in the bytes' code, or of the old instruction; SXS_IL_NONE: none */
    char               text[160]; /* one line, English, without a full stop */
};

#define SXS_IL_NONE UINT32_MAX

/* ---- bodies ----------------------------------------------------------------------------------- */

struct sxs_il_insn;

struct sxs_il_switch {
    uint32_t            n;
    struct sxs_il_insn *targets[];
};

/** One instruction. Prefixes are instructions of their own, before the one they belong to. */
struct sxs_il_insn {
    struct sxs_il_insn *prev, *next; /* NULL: the ends. Of a removed one: where it was */
    union {
        int64_t               i; /* I1, I4 and I8, sign-extended; VAR1 and VAR2 */
        uint64_t              bits; /* R4 and R8 as they are stored */
        uint32_t              token;
        struct sxs_il_insn   *target;  /* of a branch */
        struct sxs_il_switch *targets; /* of a switch */
    };
    uint32_t old_offset; /* in the code that was read; SXS_IL_NONE: it is new */
    uint32_t offset;     /* in the code last read or written */
    uint32_t index;      /* of the checker and the writer: 0, 1, 2... in the list */
    uint16_t opcode;     /* enum sxs_il_opcode. A branch may be written longer or shorter */
    uint16_t height;     /* of the stack before it, once checked; SXS_IL_UNREACHABLE */
    uint8_t  removed;    /* no longer in the list; branches that meant it mean the next */
    uint8_t  listed;     /* in the body's list */
    uint8_t  width;      /* of the writer: bytes of a branch's operand */
    uint16_t region;     /* of the checker */
    uint16_t writer;     /* who made it: the body's `writer` at that time; 0: it was read */
    void    *user;       /* the caller's own; NULL at first */
};

#define SXS_IL_UNREACHABLE UINT16_MAX

enum sxs_il_clause_kind {
    SXS_IL_CATCH = 0,
    SXS_IL_FILTER = 1,
    SXS_IL_FINALLY = 2,
    SXS_IL_FAULT = 4,
};

/** One exception clause; first and last instruction of each part. */
struct sxs_il_clause {
    uint32_t            kind;  /* enum sxs_il_clause_kind */
    uint32_t            token; /* of the caught type; SXS_IL_CATCH only */
    struct sxs_il_insn *try_first, *try_last;
    struct sxs_il_insn *handler_first, *handler_last;
    struct sxs_il_insn *filter_first; /* SXS_IL_FILTER only: up to handler_first */
};

struct sxs_il_arena;

struct sxs_il_body {
    struct sxs_il_insn   *first, *last;
    struct sxs_il_clause *clauses; /* inner ones first, as the runtime searches them */
    uint32_t              n_clauses;
    uint32_t              locals;    /* token of the locals' signature; 0: none */
    uint16_t              max_stack; /* as read; as computed, once a changed body was checked */
    uint8_t               init_locals;
    uint8_t               changed;   /* since it was read */
    uint8_t               unchecked; /* changed since it was checked */
    uint16_t              writer;    /* the caller's number for who is at work; new instructions get it */
    /* what was read, for bodies that must be written as they were */
    uint8_t             was_fat, had_fat_sections;
    struct sxs_il_insn *old; /* @n_old of them in their old order, removed ones too */
    uint32_t            n_old;
    uint32_t            clauses_room;
    struct sxs_il_arena *arena; /* the library's own */
};

/** sxs_il_new - an empty body, owned: sxs_il_free(). NULL: no memory. */
struct sxs_il_body *sxs_il_new(void);

/** sxs_il_free - NULL is fine. */
void sxs_il_free(struct sxs_il_body *body);

/** sxs_il_clear - empty again; memory is kept for what comes. */
void sxs_il_clear(struct sxs_il_body *body);

/**
 * sxs_il_read - the body in @bytes, header included; what was in @body is gone.
 * @size: may be more than the body has.
 * Untrusted bytes: nothing beyond @size is read. Branches into the middle of an instruction, clauses
 * that do not begin and end at instructions, unknown opcodes: SXS_IL_EMALFORMED.
 */
int sxs_il_read(struct sxs_il_body *body, const uint8_t *bytes, size_t size,
                struct sxs_il_error *error);

/**
 * sxs_il_write - the body as bytes, header included: *bytes of *size, owned by the body.
 * A body that was not changed is written as it was read: same forms of header, sections and branches.
 * Otherwise branches are as short as they can be, but for those that were read long, which stay so;
 * a tiny header becomes a fat one when it must. Sets `offset` of every instruction.
 * SXS_IL_EUNCHECKED: it was changed and not checked since. SXS_IL_ERANGE: it has outgrown the format.
 */
int sxs_il_write(struct sxs_il_body *body, const uint8_t **bytes, size_t *size,
                 struct sxs_il_error *error);

/** One row of the map from old code to new. */
struct sxs_il_map {
    uint32_t old_offset, new_offset;
};

/** sxs_il_map - for each instruction that was read, in the order of the old code: where it was and, after
 *  sxs_il_write(), where it, or what stands for it, is. Fills at most @room of @map; returns how many
 *  there are. */
size_t sxs_il_map(const struct sxs_il_body *body, struct sxs_il_map *map, size_t room);

/* ---- changes ---------------------------------------------------------------------------------- */

/** sxs_il_insn - a new instruction, not yet in the list. NULL: no memory, or no such opcode. Fill in
 *  its operand. */
struct sxs_il_insn *sxs_il_insn(struct sxs_il_body *body, enum sxs_il_opcode opcode);

/** The same with an operand. sxs_il_int() takes what fits the opcode's. */
struct sxs_il_insn *sxs_il_int(struct sxs_il_body *body, enum sxs_il_opcode opcode, int64_t i);
struct sxs_il_insn *sxs_il_token(struct sxs_il_body *body, enum sxs_il_opcode opcode,
                                 uint32_t token);
struct sxs_il_insn *sxs_il_branch(struct sxs_il_body *body, enum sxs_il_opcode opcode,
                                  struct sxs_il_insn *target);

/** sxs_il_switch - a switch with room for @n targets, all NULL yet. */
struct sxs_il_insn *sxs_il_switch(struct sxs_il_body *body, uint32_t n);

/** The shortest forms: ldc.i4, ldarg, starg, ldloc, stloc, ldarga, ldloca. */
struct sxs_il_insn *sxs_il_ldc(struct sxs_il_body *body, int32_t value);
struct sxs_il_insn *sxs_il_ldarg(struct sxs_il_body *body, uint16_t number);
struct sxs_il_insn *sxs_il_ldloc(struct sxs_il_body *body, uint16_t number);
struct sxs_il_insn *sxs_il_stloc(struct sxs_il_body *body, uint16_t number);
struct sxs_il_insn *sxs_il_ldloca(struct sxs_il_body *body, uint16_t number);

/**
 * sxs_il_insert_before, _after, sxs_il_append - put @insn, made by this body and in no list, there. One
 * that was removed may come back; what still means it follows.
 * @at: in the list. Before an instruction that has prefixes it goes before these: of a new one with a prefix,
 * insert the instruction first and the prefix before it.
 * Branches to @at, and clauses that begin or end there, stay with @at; see sxs_il_move_targets().
 * Inserted before the same @at one after the other, they stand in that order.
 * Returns @insn; NULL when @insn is NULL, so that calls can be nested and checked once.
 */
struct sxs_il_insn *sxs_il_insert_before(struct sxs_il_body *body, struct sxs_il_insn *at,
                                         struct sxs_il_insn *insn);
struct sxs_il_insn *sxs_il_insert_after(struct sxs_il_body *body, struct sxs_il_insn *at,
                                        struct sxs_il_insn *insn);
struct sxs_il_insn *sxs_il_append(struct sxs_il_body *body, struct sxs_il_insn *insn);

/** sxs_il_remove - take @insn out. Branches and clauses that meant it mean its neighbour: that which
 *  follows where one begins, that which precedes where one ends. */
void sxs_il_remove(struct sxs_il_body *body, struct sxs_il_insn *insn);

/** sxs_il_replace - put @with in the place of @insn, which is removed; branches and clauses go along. */
void sxs_il_replace(struct sxs_il_body *body, struct sxs_il_insn *insn, struct sxs_il_insn *with);

/** sxs_il_move_targets - what branches to @from, and the clauses that begin there when @clauses is
 *  nonzero, go to @to from now on; but for instructions from @to up to @from, when @to lies before it: what was
 *  put there may skip itself. Takes time by the size of the body. */
void sxs_il_move_targets(struct sxs_il_body *body, struct sxs_il_insn *from, struct sxs_il_insn *to,
                         int clauses);

/** sxs_il_add_clause - room for one more clause, zeroed, before the one now at @position (n_clauses:
 *  last, the outermost). NULL: no memory. Pointers to clauses are no longer good. */
struct sxs_il_clause *sxs_il_add_clause(struct sxs_il_body *body, uint32_t position);

/** sxs_il_remove_clause - its code stays. */
void sxs_il_remove_clause(struct sxs_il_body *body, uint32_t position);

/** sxs_il_target - the instruction that @insn means: itself, or when it was removed what stands for it.
 *  NULL: nothing does. */
struct sxs_il_insn *sxs_il_target(struct sxs_il_insn *insn);

/** sxs_il_old_next, _prev - the neighbour of @insn in the code that was read, wherever it is now, removed ones
 *  too. NULL: none, or @insn is new. */
struct sxs_il_insn *sxs_il_old_next(const struct sxs_il_body *body, const struct sxs_il_insn *insn);
struct sxs_il_insn *sxs_il_old_prev(const struct sxs_il_body *body, const struct sxs_il_insn *insn);

/** sxs_il_old_at - the instruction that was read at @offset, removed or not. NULL: none begins there. */
struct sxs_il_insn *sxs_il_old_at(const struct sxs_il_body *body, uint32_t offset);

/** sxs_il_set_changed - after writing to an instruction's or a body's fields. */
void sxs_il_set_changed(struct sxs_il_body *body);

/* ---- whole methods ---------------------------------------------------------------------------- */

/** What an instruction that a signature says does to the stack. */
struct sxs_il_effect {
    uint16_t pops; /* arguments, with `this`; calli: and the address */
    uint16_t pushes;
};

/** What the body itself does not say of its method. */
struct sxs_il_method {
    uint16_t n_args; /* with `this` */
    uint16_t n_locals;
    uint8_t  returns; /* a value? */
    /** What call, callvirt, newobj and calli with @token do. Returns 0, or nonzero when unknown. */
    int (*effect)(void *context, enum sxs_il_opcode opcode, uint32_t token,
                  struct sxs_il_effect *effect);
    void *context;
};

/**
 * sxs_il_check - would a JIT take it? Heights of the stack wherever ways meet, targets of branches,
 * nesting and ranges of clauses, ways into and out of them, leave, endfinally, endfilter, rethrow, prefixes,
 * numbers of arguments and locals, operands that fit. Types are not looked at. docs/il.md has the rules.
 * Sets `height` of each instruction and, when the body was changed, its max_stack.
 * @error: the offset is that of the instruction, or of the nearest old one before it.
 */
int sxs_il_check(struct sxs_il_body *body, const struct sxs_il_method *method,
                 struct sxs_il_error *error);

/**
 * sxs_il_single_return - one way out: each ret becomes a branch to the only one, at the end.
 * @local: number of a local of the method's result type; not used when @method returns nothing.
 * tail. before a call that a ret follows is removed; jmp becomes a call with all arguments.
 * *exit: a nop, the first instruction of the way out, where the stack is empty: insert after it. NULL: the
 * method never returns.
 */
int sxs_il_single_return(struct sxs_il_body *body, const struct sxs_il_method *method, uint16_t local,
                         struct sxs_il_insn **exit, struct sxs_il_error *error);

/**
 * sxs_il_exits - every way out, the method keeping them all: a nop before each ret, jmp and call with tail.,
 * which every way to it goes through; insert after it. On the stack are there the result (ret), the
 * arguments (tail.), or nothing (jmp).
 * **exits: those nops in the list's order, *n of them, the body's memory.
 */
int sxs_il_exits(struct sxs_il_body *body, struct sxs_il_insn ***exits, uint32_t *n,
                 struct sxs_il_error *error);

/**
 * sxs_il_add_locals - a locals' signature with more of them at its end, into @out of @room bytes.
 * @old, @size: the signature there is; 0: none. @types: those of the new ones, @n of them, one behind the
 * other as in signatures. *first: number of the first new one; NULL: not wanted. Pure.
 * Returns how many bytes it takes, cut when that is more than @room; 0: @old is none, or too many.
 */
size_t sxs_il_add_locals(const uint8_t *old, size_t size, const uint8_t *types, size_t types_size,
                         uint32_t n, uint8_t *out, size_t room, uint16_t *first);

/** The places of a wrapped method. */
struct sxs_il_wrap {
    struct sxs_il_insn *body;    /* first in the try block; insert before it: ahead of the block */
    struct sxs_il_insn *handler; /* a nop, the exception on the stack: insert after it */
    struct sxs_il_insn *pop;     /* of the exception; may be replaced */
    struct sxs_il_insn *rethrow; /* the last of the handler */
    struct sxs_il_insn *exit;    /* a nop behind the block, the stack empty: insert after it. NULL: the
                                    method never returns */
};

/**
 * sxs_il_wrap - the whole method in a try block, whose handler throws again; one way out behind it:
 *
 *     .try { the method, with `stloc local; leave exit` for ret } catch caught { nop; pop; rethrow }
 *     exit: nop; ldloc local; ret
 *
 * @local: as above. @caught: token of the caught type.
 */
int sxs_il_wrap(struct sxs_il_body *body, const struct sxs_il_method *method, uint16_t local,
                uint32_t caught, struct sxs_il_wrap *wrap, struct sxs_il_error *error);

#ifdef __cplusplus
}
#endif

#endif
