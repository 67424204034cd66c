/* SPDX-License-Identifier: MIT */
/* fan_out_offsets.h - offsets in struct hooks_entry, for arch/x86_64/elt/fan_out.S. Checked in map.c. */
#ifndef SXS_ELT_FAN_OUT_OFFSETS_H
#define SXS_ELT_FAN_OUT_OFFSETS_H

#define ENTRY_PASSED   0
#define ENTRY_ENTER    8
#define ENTRY_LEAVE    16
#define ENTRY_TAILCALL 24
#define ENTRY_SIZE     56

#endif
