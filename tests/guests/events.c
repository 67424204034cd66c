/* SPDX-License-Identifier: MIT */
/* events.c - a profiler with an EventPipe session for odd keywords to the level verbose. */
#include "tests/guests/sessions.h"

const char   prof_clsid[] = "{5E5C0001-0000-4000-8000-0000000000C8}";
const char   prof_name[] = "events";
const UINT64 session_keywords = 1;
const UINT32 session_level = 5;
