/* SPDX-License-Identifier: MIT */
/** named.h - the name of an address. */
#ifndef SXS_CMD_REPORT_NAMED_H
#define SXS_CMD_REPORT_NAMED_H

#include <stdbool.h>
#include <stdint.h>

/** The name of an address. */
struct sxs_named {
    uint32_t frame;
    uint32_t line;   /* of the address, in the frame's source file; 0: not known */
    uint8_t  tier;   /* enum sxs_code_tier */
    bool     varies; /* the address can have another name at another time */
};

#endif
