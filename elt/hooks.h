/* SPDX-License-Identifier: MIT */
/**
 * hooks.h - enter, leave and tailcall hooks: one set per runtime for all tools and guests.
 *
 * A runtime takes one set of hooks and one function ID mapper, and only in Initialize. So tools and
 * guests (here: users) register their hooks and mappers with this folder. When all users of a
 * runtime have started, the registry decides:
 * - one user: its hooks and its mapper are given to the runtime as they are;
 * - several users: the runtime gets the fan-out hooks and the mapper of this folder. The mapper
 *   asks each user whether it wants the function and makes a record of those that do; the fan-out
 *   hooks call the hooks in the record, each with its own client ID.
 *
 * A user with hooks of version 3 without information is called with all registers as the runtime
 * would call it; other hooks are called as C functions.
 */
#ifndef SXS_ELT_HOOKS_H
#define SXS_ELT_HOOKS_H

#include <stdint.h>

#include "manager/tool.h"

/** Event mask flags with which a runtime uses its slow path: hooks get information about the call. */
#define SXS_HOOKS_SLOW_FLAGS                                                             \
    ((uint32_t)COR_PRF_ENABLE_FUNCTION_ARGS | (uint32_t)COR_PRF_ENABLE_FUNCTION_RETVAL | \
     (uint32_t)COR_PRF_ENABLE_FRAME_INFO)

/** Which method of ICorProfilerInfo the hooks were passed to. */
enum sxs_hooks_kind {
    SXS_HOOKS_1,      /* SetEnterLeaveFunctionHooks */
    SXS_HOOKS_2,      /* SetEnterLeaveFunctionHooks2 */
    SXS_HOOKS_3,      /* SetEnterLeaveFunctionHooks3 */
    SXS_HOOKS_3_INFO, /* SetEnterLeaveFunctionHooks3WithInfo */
    SXS_HOOKS_KINDS
};

/** Addresses of hooks; 0: none. Integers, because most hooks get their arguments in registers that
 *  C cannot express. */
struct sxs_hooks_functions {
    uintptr_t enter, leave, tailcall;
};

/** A user's mapper. Either function may be NULL; `two` is used when both are set. */
struct sxs_hooks_mapper {
    FunctionIDMapper  *one;
    FunctionIDMapper2 *two;
    void              *data; /* argument of `two` */
};

/**
 * sxs_hooks_set - set the hooks of a user. Only in the start() of its tool.
 * @sub: the user's subscription.
 * @low: the event mask that the user has asked for until now.
 * Returns what the runtime would return if the user were alone: S_OK, E_INVALIDARG when all three
 * are 0, CORPROF_E_INCONSISTENT_WITH_FLAGS when @kind does not go with @low, E_NOTIMPL when the
 * runtime lacks the method; or E_OUTOFMEMORY.
 */
HRESULT sxs_hooks_set(struct sxs_sub *sub, enum sxs_hooks_kind kind, uint32_t low,
                      const struct sxs_hooks_functions *hooks);

/** sxs_hooks_check_mask - return CORPROF_E_INCONSISTENT_WITH_FLAGS when the runtime would refuse
 *  the event mask @low of a user because of the hooks that it has set, else S_OK. */
HRESULT sxs_hooks_check_mask(const struct sxs_sub *sub, uint32_t low);

/**
 * sxs_hooks_set_mapper, sxs_hooks_set_mapper2 - set or (with NULL) remove a mapper of a user.
 * Any thread; unlike hooks, mappers may be set at any time. Returns S_OK, E_OUTOFMEMORY, or the
 * runtime's answer.
 */
HRESULT sxs_hooks_set_mapper(struct sxs_sub *sub, FunctionIDMapper *mapper);
HRESULT sxs_hooks_set_mapper2(struct sxs_sub *sub, FunctionIDMapper2 *mapper, void *data);

/**
 * Calls a user's mapper. While the user is alone and has none, @mapper has no function: then it only
 * sees the function, and returns @fn.
 * @hook: 1; receives 0 when the user does not want the function. Returns the client ID.
 * Called by the JIT, on any thread, several at a time.
 */
typedef UINT_PTR sxs_hooks_ask(struct sxs_sub *sub, const struct sxs_hooks_mapper *mapper,
                               FunctionID fn, BOOL *hook);

/** sxs_hooks_ask_directly - call the mapper: what is used unless a user sets its own function. */
UINT_PTR sxs_hooks_ask_directly(struct sxs_sub *sub, const struct sxs_hooks_mapper *mapper,
                                FunctionID fn, BOOL *hook);

/** sxs_hooks_set_ask - call the mapper of a user through @ask. In the start() of its tool. */
HRESULT sxs_hooks_set_ask(struct sxs_sub *sub, sxs_hooks_ask *ask);

/** sxs_hooks_need_argument - give the user's enter hook of version 3 the first argument of the
 *  function in rdi even on the slow path, where that takes a call of the runtime. In start(). */
HRESULT sxs_hooks_need_argument(struct sxs_sub *sub);

/** sxs_hooks_forget - drop the hooks and the mapper of a user whose start() fails. */
void sxs_hooks_forget(const struct sxs_sub *sub);

/** sxs_hooks_end - call no hook and no mapper of this user any more, though compiled code keeps the
 *  records. Hooks in progress go on. No effect on a user that is alone: the runtime calls its hooks
 *  itself. Any thread; takes no lock. */
void sxs_hooks_end(const struct sxs_sub *sub);

/** sxs_hooks_sp - return the stack pointer that a hook without information would have received.
 *  @info: the argument of a hook with information, on whose thread this is called.
 *  Returns 0 when the runtime's saved registers are not where they are in 8, 9 and 10. */
uintptr_t sxs_hooks_sp(COR_PRF_ELT_INFO info);

#endif
