/* SPDX-License-Identifier: MIT */
#include "cmd/report/page_data.h"

#include "cmd/report/data_kind.h"
#include "cmd/report/profile.h"

void sxs_page_parts(const struct sxs_opened *v, char *out, size_t size)
{
    size_t len = 0;
    *out = '\0';
    for (unsigned data = SXS_DATA_SAMPLES; data < SXS_N_DATA && len < size; data++)
        if (sxs_profile_has(v, (enum sxs_data)data))
            len += (size_t)snprintf(out + len, size - len, "%s\"%s\"", len ? "," : "",
                                    sxs_data_kind((enum sxs_data)data)->name);
}

bool sxs_page_data(const struct sxs_opened *v, enum sxs_data data, const char *parts)
{
    const struct sxs_report_options options = {.data = data, .parts = parts};
    return sxs_profile_report(v, "html", &options) <= SXS_PROFILE_DAMAGED;
}
