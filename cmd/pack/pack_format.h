/* SPDX-License-Identifier: MIT */
/** pack_format.h - what the writer and the reader of packed sessions share. */
#ifndef SXS_CMD_PACK_PACK_FORMAT_H
#define SXS_CMD_PACK_PACK_FORMAT_H

#include "session/format/calls.h"
#include "session/format/events.h"
#include "session/format/guests.h"
#include "session/format/instrument.h"
#include "session/format/samples.h"
#include "session/format/session.h"
#include "session/format/traced.h"

#include <string.h>
#include <zlib.h>

#define SXS_PACK_HEAD    "sxsprof-pack"
#define SXS_PACK_VERSION "1\n"
#define SXS_PACK_NAMES   "names"
#define SXS_PACK_END     "end"

/** The files that a process's folder can have, besides heap snapshots. */
static const char *const sxs_pack_files[] = {SXS_CENSUS_FILE, SXS_SAMPLES_FILE,    SXS_CALLS_FILE,
                                             SXS_EVENTS_FILE, SXS_INSTRUMENT_FILE, SXS_TRACED_FILE,
                                             SXS_GUESTS_FILE};
#define SXS_PACK_N_FILES (sizeof(sxs_pack_files) / sizeof(sxs_pack_files[0]))

/** sxs_pack_sum_head - return the check sum after the name and the size of an entry. */
static inline uLong sxs_pack_sum_head(uLong sum, const char *name, uint64_t size)
{
    Bytef bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (Bytef)(size >> (8 * i));
    sum = crc32(sum, (const Bytef *)name, (uInt)strlen(name) + 1);
    return crc32(sum, bytes, sizeof(bytes));
}

#endif
