/* SPDX-License-Identifier: MIT */
/**
 * adopt.h - profilers that a process's environment names beside or in place of this one.
 *
 * When a process starts and SXSPROF_GUESTS has the item `adopt`, the environment is changed before a
 * runtime reads it: the profilers that it names are appended to SXSPROF_GUESTS, and CORECLR_PROFILER
 * and CORECLR_PROFILER_PATH name this one again. Without `adopt`, one line is written when a runtime
 * starts in a process of a session but another profiler is set.
 */
#ifndef SXS_SIGNALS_PRELOAD_ADOPT_H
#define SXS_SIGNALS_PRELOAD_ADOPT_H

#include <stdint.h>

/** 1: the line about another profiler may still have to be written. */
extern _Atomic int adopt_watches;

/** adopt_runtime_seen - write the line if @caller, which has registered a signal handler, lies in a
 *  runtime, and another profiler is set. Writes it at most once in a process. */
void adopt_runtime_seen(uintptr_t caller);

#endif
