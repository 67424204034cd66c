/* SPDX-License-Identifier: MIT */
/* version.c - the versions of ICorProfilerInfo and ICorProfilerCallback in each release. */
#include "tests/fake/fake.h"

static const struct release {
    int major, minor, info, callback;
    bool framework;
} releases[] = {
    /* The last row that is not newer than this library's version is used. */
    {2, 0, 2, 2, true},    {3, 0, 10, 9, false}, {3, 1, 11, 9, false},  {4, 0, 4, 4, true},
    {5, 0, 12, 10, false}, {6, 0, 12, 11, false}, {7, 0, 13, 11, false}, {8, 0, 14, 11, false},
    {9, 0, 15, 11, false},
};

void fake_version_init(void)
{
    if (sscanf(FAKECLR_VERSION, "%d.%d", &fake.major, &fake.minor) < 1)
        fake.major = 8;
    const struct release *found = &releases[0];
    for (size_t i = 0; i < sizeof(releases) / sizeof(releases[0]); i++)
        if (releases[i].major < fake.major ||
            (releases[i].major == fake.major && releases[i].minor <= fake.minor))
            found = &releases[i];
    fake.info_version = found->info;
    fake.callback_version = found->callback;
    fake.framework = found->framework;
    const char *strict = getenv("FAKECLR_STRICT"), *signals = getenv("FAKECLR_SIGNALS");
    const char *verbose = getenv("FAKECLR_LOG");
    fake.strict = strict && strcmp(strict, "1") == 0;
    fake.verbose = verbose && strcmp(verbose, "1") == 0;
    fake.signals = !fake.framework && !(signals && strcmp(signals, "off") == 0);
}

void fake_version_text(char *out, size_t size)
{
    if (fake.framework)
        snprintf(out, size, "v%d.%d.30319", fake.major, fake.minor);
    else
        snprintf(out, size, "%d.%d.0", fake.major, fake.minor);
}
