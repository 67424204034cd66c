/* SPDX-License-Identifier: MIT */
#include "cmd/calls/calls.h"

#include <stdio.h>

#define KIND   calls
#define DATA   struct sxs_calls
#define MEMBER calls
#define NAMED  SXS_CALLS_FILE
#include "cmd/output/load.inc"

const char *sxs_calls_plain_name(const char *name, char *buf, size_t size)
{
    snprintf(buf, size, "%.*s", (int)strcspn(name, "("), name);
    return buf;
}
