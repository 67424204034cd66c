/* SPDX-License-Identifier: MIT */
#include "session/read/session_files.h"

#include <string.h>

#include "session/format/calls.h"
#include "session/format/events.h"
#include "session/format/guests.h"
#include "session/format/heap.h"
#include "session/format/instrument.h"
#include "session/format/samples.h"
#include "session/format/session.h"
#include "session/format/thread_names.h"
#include "session/format/traced.h"
#include "session/read/heap_read.h"

#define MIB UINT64_C(1048576)
#define GIB (1024 * MIB)

/* The sizes are those that the library writes at most (the tools' MAX_BYTES and options), rounded
 * up generously, so that a later version may write more. */
const struct sxs_session_file sxs_session_files[] = {
    {SXS_CENSUS_FILE, MIB, false, true},         {SXS_SAMPLES_FILE, 4 * GIB, false, true},
    {SXS_CALLS_FILE, 4 * GIB, false, true},      {SXS_EVENTS_FILE, 4 * GIB, false, true},
    {SXS_INSTRUMENT_FILE, 4 * GIB, false, true}, {SXS_TRACED_FILE, 4 * GIB, false, true},
    {SXS_THREAD_NAMES_FILE, GIB, false, true},   {SXS_GUESTS_FILE, MIB, false, true},
    {SXS_HEAP_FILE, 256 * GIB, true, true},      {SXS_HEAP_ASK_FILE, MIB, false, false},
    {"segment.json", MIB, false, false},         {"trigger.json", MIB, false, false},
    {SXS_LOG_FILE, MIB, false, true},
};
const size_t sxs_session_n_files = sizeof(sxs_session_files) / sizeof(sxs_session_files[0]);

const struct sxs_session_file *sxs_session_file_named(const char *name)
{
    for (size_t i = 0; i < sxs_session_n_files; i++) {
        const struct sxs_session_file *f = &sxs_session_files[i];
        if (f->is_numbered ? sxs_heap_number_of(name) != 0 : strcmp(name, f->name) == 0)
            return f;
    }
    return NULL;
}

_Static_assert(sizeof(sxs_session_files) / sizeof(sxs_session_files[0]) <= 32,
               "a bit for each kind");

uint32_t sxs_session_file_bit(const char *name)
{
    const struct sxs_session_file *f = sxs_session_file_named(name);
    return f ? UINT32_C(1) << (f - sxs_session_files) : 0;
}
