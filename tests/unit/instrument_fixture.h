/* SPDX-License-Identifier: MIT */
/** instrument_fixture.h - a temporary folder in which this process records its file "instrument". */
#ifndef SXS_TESTS_INSTRUMENT_FIXTURE_H
#define SXS_TESTS_INSTRUMENT_FIXTURE_H

#include "record/instrument_write.h"
#include "tests/unit/folder_fixture.h"

/** For cmocka's group: begins to record. */
static inline int make_folder(void **state)
{
    static struct sxs_folder place;
    (void)state;
    return open_folder() || sxs_folder_open(&place, folder) || sxs_instrument_create(&place);
}

static inline int remove_folder(void **state)
{
    (void)state;
    return remove_folder_with(SXS_INSTRUMENT_FILE);
}

#endif
