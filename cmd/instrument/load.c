/* SPDX-License-Identifier: MIT */
#include "cmd/instrument/instrument.h"

#define KIND   instrument
#define DATA   struct sxs_instrument_data
#define MEMBER data
#define NAMED  SXS_INSTRUMENT_FILE
#include "cmd/output/load.inc"
