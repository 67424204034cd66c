/* SPDX-License-Identifier: MIT */
/** fault.h - wraps a whole method body in a try block with a fault handler, so that code runs when
 *  an exception leaves the method. */
#ifndef SXS_INSTR_WEAVE_FAULT_H
#define SXS_INSTR_WEAVE_FAULT_H

#include "instr/weave/method.h"

/**
 * sxs_fault_wrap - wrap the body of @m as sxs_il_wrap() does, with a fault instead of a catch
 * block. With a fault block, filters further up the stack run before the method is unwound, and the
 * exception's stack trace stays as it is.
 * @wrap: receives the instructions to insert code at; wrap->rethrow is the last one of the fault
 * block. Returns 0, or -1 with m->why.
 */
int sxs_fault_wrap(struct sxs_method *m, struct sxs_il_wrap *wrap);

/** sxs_fault_keep - store the exception that leaves the method in the local @thrown, of type
 *  object. Called directly after sxs_fault_wrap(). A filter that never catches stores the
 *  exception. The local is null when nothing was thrown. Returns 0, or -1 with m->why. */
int sxs_fault_keep(struct sxs_method *m, uint16_t thrown);

#endif
