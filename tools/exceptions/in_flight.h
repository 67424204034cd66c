/* SPDX-License-Identifier: MIT */
/**
 * in_flight.h - tracks the in-flight exceptions of one thread, and determines the fate of each.
 *
 * An exception is in flight from its throw until its fate is decided. The list is ordered, oldest
 * first. Runtimes report a throw, the search for a catcher and the unwinding, but not the exception
 * to which a callback belongs: a callback belongs to the youngest exception of the list. An
 * exception that a filter, a finally block or a catch block throws comes after the exception for
 * which the block runs. Some exceptions never reach a catcher. This is detected at the next
 * callback that would be impossible if such an exception were still in flight.
 *
 * One thread at a time may use a list. No function of this file calls a runtime.
 */
#ifndef SXS_TOOLS_EXCEPTIONS_IN_FLIGHT_H
#define SXS_TOOLS_EXCEPTIONS_IN_FLIGHT_H

#include <stdint.h>

#include "base/base.h"
#include "session/format/events.h"
#include "tools/exceptions/thrower.h"

#define SXS_IN_FLIGHT_MAX 16u

/** An in-flight exception. */
struct sxs_in_flight {
    unsigned  runtime; /* number of the runtime that threw; valid after the runtime has ended */
    void     *record;  /* for the user of this file */
    uintptr_t sp;      /* highest SP of its callbacks: code that runs for it lies below */
    uint64_t  time_ns; /* time of the throw */
    uint32_t  type, thrown, caught; /* numbers of names; for the user of this file */
    uint8_t   fate;                 /* enum sxs_exception_fate; CAUGHT: its handler runs */
    uint8_t   rethrown;             /* 1: had been thrown before; for the user of this file */
    uint8_t   in_filter;            /* 1: a filter runs for it */
    uint8_t   left;             /* 1: another exception left the function of its finally block */
    uint64_t  finally_fn;       /* FunctionID whose finally block runs for it; 0: none */
    uint64_t  unwind_fn;        /* FunctionID that is being unwound for it; 0: none */
    struct sxs_thrower thrower; /* set for SXS_FATE_UNWOUND; all zeros: not known */
};

/** The in-flight exceptions of one thread. All zeros: none. */
struct sxs_in_flight_list {
    uint32_t             n;
    struct sxs_in_flight all[SXS_IN_FLIGHT_MAX];
    /** Called once for each exception, when exception->fate is decided. */
    void (*landed)(struct sxs_in_flight *exception);
};

/* Parameters of the functions below: @runtime is the number of the runtime that calls back; @sp is
 * the current stack pointer; @fn is the FunctionID of the callback. */

/** sxs_in_flight_throw - add the exception that is being thrown. Returns its entry, zeroed except for
 *  @runtime and @sp; never NULL. If the list is full, gives up the oldest exception. */
struct sxs_in_flight *sxs_in_flight_throw(struct sxs_in_flight_list *f, unsigned runtime,
                                          uintptr_t sp);

/** sxs_in_flight_current - return the exception to which a callback of @runtime belongs, or NULL.
 *  Removes younger exceptions whose handlers have ended. */
struct sxs_in_flight *sxs_in_flight_current(struct sxs_in_flight_list *f, unsigned runtime,
                                            uintptr_t sp);

/** sxs_in_flight_..._enter, sxs_in_flight_..._leave - handle the runtime's callback of the same
 *  name. */
void sxs_in_flight_filter_enter(struct sxs_in_flight_list *f, unsigned runtime, uintptr_t sp);
void sxs_in_flight_filter_leave(struct sxs_in_flight_list *f, unsigned runtime);
void sxs_in_flight_unwind_enter(struct sxs_in_flight_list *f, unsigned runtime, uintptr_t sp,
                                uint64_t fn);
/** sxs_in_flight_unwind_leave - the same. Returns the exception, or NULL if there is none. */
struct sxs_in_flight *sxs_in_flight_unwind_leave(struct sxs_in_flight_list *f, unsigned runtime,
                                                 uintptr_t sp);
void sxs_in_flight_finally_enter(struct sxs_in_flight_list *f, unsigned runtime, uintptr_t sp,
                                 uint64_t fn);
void sxs_in_flight_finally_leave(struct sxs_in_flight_list *f, unsigned runtime, uintptr_t sp);
/** sxs_in_flight_catcher_enter - decide the fate of the current exception, whose handler is
 *  entered, and of the exceptions that it has replaced. */
void sxs_in_flight_catcher_enter(struct sxs_in_flight_list *f, unsigned runtime, uintptr_t sp);
void sxs_in_flight_catcher_leave(struct sxs_in_flight_list *f, unsigned runtime);

/** sxs_in_flight_crash - decide which exception ends the process, and which ones it has replaced.
 *  Called by the thread that has crashed with the stack pointer @sp. Signal-safe.
 *  Returns the exception, whose fate is SXS_FATE_UNHANDLED now, or NULL. @known receives 0 if there
 *  is an exception that may have ended the process or not, else 1. */
SXS_SIGSAFE struct sxs_in_flight *sxs_in_flight_crash(struct sxs_in_flight_list *f, uintptr_t sp,
                                                      int *known);

/** sxs_in_flight_end - decide the fate of all remaining exceptions, because the thread ends. */
void sxs_in_flight_end(struct sxs_in_flight_list *f);

#endif
