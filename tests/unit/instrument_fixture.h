/* SPDX-License-Identifier: MIT */
/** tests/unit/instrument_fixture.h - a temporary folder in which the test program writes a file
 *  "instrument". */
#ifndef SXS_TESTS_INSTRUMENT_FIXTURE_H
#define SXS_TESTS_INSTRUMENT_FIXTURE_H

#include "session/write/instrument_write.h"
#include "tests/unit/folder_fixture.h"

/** Group setup: creates the folder and starts recording. Returns 0, or nonzero on failure. */
static inline int make_folder(void **state)
{
    static struct sxs_folder place;
    (void)state;
    return open_folder() || sxs_folder_open(&place, folder) || sxs_instrument_create(&place);
}

/** Group teardown: removes the folder. */
static inline int remove_folder(void **state)
{
    (void)state;
    return remove_folder_with(SXS_INSTRUMENT_FILE);
}

#endif
