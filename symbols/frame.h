/* SPDX-License-Identifier: MIT */
/** symbols/frame.h - one frame of a stack, as walkers find it and naming uses it. */
#ifndef SXS_SYMBOLS_FRAME_H
#define SXS_SYMBOLS_FRAME_H

#include "manager/runtime.h"

/**
 * Type arguments stored with a frame. If a method has more, the runtime is asked again for its
 * name. */
#define SXS_WALK_TYPE_ARGS 8

/** The registers needed to unwind from a frame: IP, SP, and the callee-saved registers. */
struct sxs_seed {
    uintptr_t rip, rsp, rbp, rbx, r12, r13, r14, r15;
};

/** How a managed frame was found. */
enum sxs_frame_account {
    SXS_FRAME_REPORTED,   /* reported by its runtime, or the runtime reported no frames at all */
    /* Not reported, but an older frame of the same method is: a catch or finally block of that
     * method, which runtimes do not report. */
    SXS_FRAME_FUNCLET,
    SXS_FRAME_UNREPORTED, /* not reported, for other reasons of the runtime */
};

struct sxs_frame {
    struct sxs_seed at;
    /* fn.rt NULL: native code, or code that no runtime owns. fn.id 0 with fn.rt set: the
     * youngest of several frames that this runtime says it does not own (only in a struct
     * sxs_run). */
    sxs_function fn;
    HRESULT      info_hr; /* result of the call that fills the members below; S_FALSE: not called */
    sxs_class    cls;     /* id 0: the runtime cannot tell which instantiation it is */
    sxs_module   module;
    mdToken      token;
    uint32_t     n_type_args; /* if SXS_WALK_TYPE_ARGS, there may be more */
    ClassID      type_args[SXS_WALK_TYPE_ARGS]; /* IDs of fn.rt */
    int          exact_ip; /* 1: at.rip is the IP of the frame; 0: a return address */
    enum sxs_frame_account account;
};

#endif
