/* SPDX-License-Identifier: MIT */
/* pipes.c - a profiler with an EventPipe session for even keywords to the level informational. */
#include "tests/guests/sessions.h"

const char   prof_clsid[] = "{5E5C0001-0000-4000-8000-0000000000C9}";
const char   prof_name[] = "pipes";
const UINT64 session_keywords = 2;
const UINT32 session_level = 4;
