/* SPDX-License-Identifier: MIT */
/* rewrite_one.c - a profiler that rewrites methods: it appends the digit 1 to their results. */
#define REWRITER_DIGIT 1

#include "tests/guests/rewriter.h"

const char prof_clsid[] = "{5E5C000A-0000-4000-8000-0000000E7117}";
