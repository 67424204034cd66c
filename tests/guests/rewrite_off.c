/* SPDX-License-Identifier: MIT */
/* rewrite_off.c - a profiler that requests new IL for methods without COR_PRF_ENABLE_REJIT. */
#define REWRITER_DIGIT 3
#define REWRITER_MASK  (COR_PRF_MONITOR_MODULE_LOADS | COR_PRF_MONITOR_JIT_COMPILATION)

#include "tests/guests/rewriter.h"

const char prof_clsid[] = "{5E5C000C-0000-4000-8000-0000000E7317}";
