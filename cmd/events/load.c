/* SPDX-License-Identifier: MIT */
#include "cmd/events/events.h"

#define KIND   events
#define DATA   struct sxs_events_data
#define MEMBER data
#define NAMED  SXS_EVENTS_FILE
#define CUT    sxs_events_cut
#define JOIN   sxs_events_join
#define JOINED sxs_events_joined
#include "cmd/output/load.inc"
