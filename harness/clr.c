/* SPDX-License-Identifier: MIT */
/* clr.c - loads one runtime and calls its hosting functions. */
#include "harness/clr.h"

#include <limits.h>
#include <stdio.h>

#include "harness/library.h"
#include "harness/properties.h"
#include "harness/self.h"

static int describe_refusal(const char *export, int hr, char *why, size_t why_size)
{
    snprintf(why, why_size, "%s failed: 0x%08x", export, (unsigned)hr);
    return -1;
}

int sxs_clr_load(struct sxs_clr *clr, const char *dir, char *why, size_t why_size)
{
    const struct sxs_export exports[] = {
        { "coreclr_initialize", &clr->initialize },
        { "coreclr_execute_assembly", &clr->execute_assembly },
        { "coreclr_create_delegate", &clr->create_delegate },
        { "coreclr_shutdown_2", &clr->shutdown_2 },
    };
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/libcoreclr.so", dir);
    return sxs_library_load(path, exports, sizeof(exports) / sizeof(exports[0]),
                            "cannot load", why, why_size);
}

int sxs_clr_start(struct sxs_clr *clr, const struct sxs_properties *properties, char *why,
                  size_t why_size)
{
    const char *keys[SXS_PROPERTIES_MAX], *values[SXS_PROPERTIES_MAX];
    char        exe[PATH_MAX];

    for (int i = 0; i < properties->len; i++) {
        keys[i] = properties->keys[i];
        values[i] = properties->values[i];
    }
    snprintf(exe, sizeof(exe), "%s/runsxs", sxs_self_dir());
    int hr = clr->initialize(exe, "runsxs", properties->len, keys, values, &clr->host,
                             &clr->domain);
    return hr < 0 ? describe_refusal("coreclr_initialize", hr, why, why_size) : 0;
}

int sxs_clr_execute(struct sxs_clr *clr, const char *app, int argc, const char **argv,
                    int *exit_code, char *why, size_t why_size)
{
    unsigned code = 0;

    int hr = clr->execute_assembly(clr->host, clr->domain, argc, argv, app, &code);
    *exit_code = (int)code;
    return hr < 0 ? describe_refusal("coreclr_execute_assembly", hr, why, why_size) : 0;
}

int sxs_clr_stop(struct sxs_clr *clr, int *exit_code, char *why, size_t why_size)
{
    int latched = *exit_code;
    int hr = clr->shutdown_2(clr->host, clr->domain, &latched);

    *exit_code = latched;
    return hr < 0 ? describe_refusal("coreclr_shutdown_2", hr, why, why_size) : 0;
}
