/* SPDX-License-Identifier: MIT */
/** cost_stacks.h - finds the frames of a stack that belong to a cost, and its call site. */
#ifndef SXS_CMD_REPORT_COST_STACKS_H
#define SXS_CMD_REPORT_COST_STACKS_H

#include "cmd/report/model.h"
#include "cmd/report/named.h"

/**
 * sxs_cost_stack_begin - return how many of the @n youngest frames are not the program's: those of
 * the library, and for objects and locks those with which the runtime delivers events, as far as they
 * follow one another; 0 when nothing would be left. @frames: youngest first. */
size_t sxs_cost_stack_begin(const struct sxs_model *m, const struct sxs_named *frames, size_t n,
                            enum sxs_cost_kind kind);

/**
 * sxs_cost_stack_call_site - find the call site of a cost: the youngest frame of managed code that
 * is not the framework's; if there is none, the youngest managed frame; else the youngest frame that
 * is not of the C or C++ library.
 * @call_site, @callee: receive the frames of struct sxs_cost_call_site; UINT32_MAX when @n is 0. */
void sxs_cost_stack_call_site(const struct sxs_model *m, const struct sxs_named *frames, size_t n,
                              uint32_t *call_site, uint32_t *callee);

/** sxs_cost_frame_is_own - return true for managed code of the program, not of a framework. */
bool sxs_cost_frame_is_own(const struct sxs_model *m, uint32_t frame);

#endif
