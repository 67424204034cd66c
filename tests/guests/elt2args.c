/* SPDX-License-Identifier: MIT */
/* elt2args.c - a profiler with hooks of version 2 and all information. */
#define ELT2_FLAGS \
    (COR_PRF_ENABLE_FUNCTION_ARGS | COR_PRF_ENABLE_FUNCTION_RETVAL | COR_PRF_ENABLE_FRAME_INFO)
#define ELT2_RANGES /* print the largest number of argument ranges */
#include "tests/guests/elt2.h"

const char prof_clsid[] = "{5E5C0013-0000-4000-8000-0000000E1721}";

static int elt_is_chosen(const char *type, const char *method)
{
    return strcmp(type, "Calls.Work") == 0 || strcmp(type, "Calls.Faults") == 0 ||
           (strcmp(type, "Calls.Shapes") == 0 && strcmp(method, "Twenty") == 0);
}
