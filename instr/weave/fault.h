/* SPDX-License-Identifier: MIT */
/** fault.h - the whole method in a block whose end is told of, whatever it ends by. */
#ifndef SXS_REWRITE_FAULT_H
#define SXS_REWRITE_FAULT_H

#include "instr/weave/method.h"

/**
 * sxs_fault_wrap - as sxs_il_wrap(), with a fault block instead of a catch block: filters further up still run
 * before anything is unwound, and the exception's stack trace stays as it is. wrap->rethrow: the last of it.
 * Returns 0, or -1 with m->why.
 */
int sxs_fault_wrap(struct sxs_method *m, struct sxs_il_wrap *wrap);

/** sxs_fault_keep - right after that: what leaves the method is put into local @thrown (an object) by a filter that never
 *  catches. The local is null where nothing was thrown. */
int sxs_fault_keep(struct sxs_method *m, uint16_t thrown);

#endif
