/* SPDX-License-Identifier: MIT */
/* elt2.c - a profiler with hooks of version 2, without information. */
#define ELT2_FLAGS 0
#include "tests/guests/elt2.h"

const char prof_clsid[] = "{5E5C0012-0000-4000-8000-0000000E1720}";

static int elt_is_chosen(const char *type, const char *method)
{
    (void)method;
    return strncmp(type, "Calls.", 6) == 0 || strncmp(type, "Tail.", 5) == 0;
}
