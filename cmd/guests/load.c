/* SPDX-License-Identifier: MIT */
#include "cmd/guests/guests.h"

#define KIND   guests
#define DATA   struct sxs_guests_data
#define MEMBER data
#define NAMED  SXS_GUESTS_FILE
#include "cmd/output/load.inc"
