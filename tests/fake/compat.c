/* SPDX-License-Identifier: MIT */
/**
 * compat.c - the setting COMPLUS_ProfAPI_ProfilerCompatibilitySetting.
 *
 * .NET Framework 4 loads a profiler written for 2.0 (without ICorProfilerCallback3) only when this
 * setting allows it; 2.0 does not read the variable. Each runtime decides independently, so the
 * outcome does not depend on the order in which the two are loaded.
 */
#include "tests/fake/fake.h"

#include <strings.h>

#define END(x) FAKECLR_##x
#define ROW(setting, v4, in_2, in_4)                       \
    {setting, "2.0", "4.0", v4, END(in_2), END(in_4)},     \
    {setting, "4.0", "2.0", v4, END(in_4), END(in_2)},

static const struct fakeclr_compat_row table[] = {
    ROW(NULL, 0, ACTIVE, V2_DISABLED)
    ROW(NULL, 1, ACTIVE, ACTIVE)
    ROW("DisableV2Profiler", 0, ACTIVE, V2_DISABLED)
    ROW("DisableV2Profiler", 1, ACTIVE, ACTIVE)
    ROW("EnableV2Profiler", 0, ACTIVE, ACTIVE)
    ROW("EnableV2Profiler", 1, ACTIVE, ACTIVE)
    ROW("PreventLoad", 0, ACTIVE, PREVENTED)
    ROW("PreventLoad", 1, ACTIVE, PREVENTED)
};

const struct fakeclr_compat_row *fake_compat_table(size_t *n)
{
    *n = sizeof(table) / sizeof(table[0]);
    return table;
}

enum fake_compat fake_compat_setting(void)
{
    static const char *const names[] = {"DOTNET_ProfAPI_ProfilerCompatibilitySetting",
                                        "COMPlus_ProfAPI_ProfilerCompatibilitySetting",
                                        "COMPLUS_ProfAPI_ProfilerCompatibilitySetting"};
    if (fake.major < 4 && fake.framework)
        return FAKE_ENABLE_V2;
    const char *value = NULL;
    for (size_t i = fake.framework ? 1 : 0; i < 3 && !value; i++)
        value = getenv(names[i]);
    if (value && strcasecmp(value, "EnableV2Profiler") == 0)
        return FAKE_ENABLE_V2;
    if (value && strcasecmp(value, "PreventLoad") == 0)
        return FAKE_PREVENT_LOAD;
    return FAKE_DISABLE_V2;
}
