/* SPDX-License-Identifier: MIT */
/**
 * stackwalk/fast/unwind_library.h - libunwind, loaded such that its functions cannot be mixed up
 * with functions of the same names in the host (see base/own_library.h).
 *
 * Include this header instead of libunwind's. Macros give the functions their usual names.
 */
#ifndef SXS_STACKWALK_FAST_UNWIND_LIBRARY_H
#define SXS_STACKWALK_FAST_UNWIND_LIBRARY_H

#define UNW_LOCAL_ONLY
#include <libunwind.h>

/* X(member, the function as libunwind's header names it) */
#define SXS_UNWIND_FUNCTIONS(X)                                                       \
    X(init_local, unw_init_local)                                                     \
    X(init_local2, unw_init_local2)                                                   \
    X(step, unw_step) X(get_reg, unw_get_reg) X(is_signal_frame, unw_is_signal_frame) \
        X(capture, unw_tdep_getcontext)

#define SXS_UNWIND_MEMBER(member, function) __typeof__(&function) member;
struct sxs_unwind {
    int usable; /* 0: libunwind could not be loaded; no function may be called */
    SXS_UNWIND_FUNCTIONS(SXS_UNWIND_MEMBER)
};
#undef SXS_UNWIND_MEMBER

/** The functions of libunwind. Set before any other code of this library runs; then constant. */
extern struct sxs_unwind sxs_unwind;

#ifndef SXS_UNWIND_OWN
#undef unw_init_local
#undef unw_init_local2
#undef unw_step
#undef unw_get_reg
#undef unw_is_signal_frame
#undef unw_getcontext
#define unw_init_local      sxs_unwind.init_local
#define unw_init_local2     sxs_unwind.init_local2
#define unw_step            sxs_unwind.step
#define unw_get_reg         sxs_unwind.get_reg
#define unw_is_signal_frame sxs_unwind.is_signal_frame
#define unw_getcontext      sxs_unwind.capture
#endif

#endif
