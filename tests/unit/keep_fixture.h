/* SPDX-License-Identifier: MIT */
/** keep_fixture.h - settings of continuous mode for tests. */
#ifndef SXS_TESTS_UNIT_KEEP_FIXTURE_H
#define SXS_TESTS_UNIT_KEEP_FIXTURE_H

/* cmocka wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "control/keep/keep_settings.h"

/* Returns what the texts say, which must be right. */
static inline struct sxs_keep_settings parsed(const char *keep, const char *segment, const char *on,
                                              const char *budget)
{
    const struct sxs_keep_texts texts = {keep, segment, on, budget};
    struct sxs_keep_settings    s;
    char                        why[SXS_KEEP_WHY] = "";
    int                         err = sxs_keep_parse(&texts, &s, why, sizeof(why));
    if (err)
        fail_msg("%s", why);
    return s;
}

#endif
