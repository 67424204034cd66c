/* SPDX-License-Identifier: MIT */
/* rewrite_two.c - a profiler that rewrites methods: it appends the digit 2 to their results. */
#define REWRITER_DIGIT 2

#include "tests/guests/rewriter.h"

const char prof_clsid[] = "{5E5C000B-0000-4000-8000-0000000E7217}";
