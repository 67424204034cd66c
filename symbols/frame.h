/* SPDX-License-Identifier: MIT */
/** frame.h - one frame of a stack, as walkers find it and as it is named. */
#ifndef SXS_FRAME_H
#define SXS_FRAME_H

#include "manager/runtime.h"

/** Type arguments kept with a method's frame; one with more is asked again for its name. */
#define SXS_WALK_TYPE_ARGS 8

/** What it takes to go on from a frame: its IP and SP, and what its caller may rely on. */
struct sxs_seed {
    uintptr_t rip, rsp, rbp, rbx, r12, r13, r14, r15;
};

/** How a managed frame came to be known. */
enum sxs_frame_account {
    SXS_FRAME_REPORTED,   /* by its runtime; or the runtime gave no account at all */
    SXS_FRAME_FUNCLET,    /* not reported, but an older frame of the same method is: an exception
                             handler of it, which the runtimes keep to themselves */
    SXS_FRAME_UNREPORTED, /* its runtime left it out for reasons of its own */
};

struct sxs_frame {
    struct sxs_seed at;
    /* fn.rt NULL: native code, or code that no runtime claimed. fn.id 0 with fn.rt set: the
     * youngest of a run of frames that runtime says are not its own (only in a struct sxs_run). */
    sxs_function fn;
    HRESULT      info_hr; /* what became of asking for the members below; S_FALSE: not asked */
    sxs_class    cls;     /* id 0: the runtime cannot tell which instantiation */
    sxs_module   module;
    mdToken      token;
    uint32_t     n_type_args; /* SXS_WALK_TYPE_ARGS: there may be more */
    ClassID      type_args[SXS_WALK_TYPE_ARGS]; /* fn.rt's */
    int          exact_ip; /* at.rip is where the frame stands, not a return address */
    enum sxs_frame_account account;
};

#endif
