/* SPDX-License-Identifier: MIT */
#ifndef SXS_HARNESS_PROPERTIES_H
#define SXS_HARNESS_PROPERTIES_H

enum { SXS_PROPERTIES_MAX = 8 };

/* What coreclr_initialize is told about the app. */
struct sxs_properties {
    const char *keys[SXS_PROPERTIES_MAX];   /* static strings */
    char       *values[SXS_PROPERTIES_MAX]; /* owned */
    int         len;
};

/**
 * sxs_properties_fill - collect the properties of one app in one runtime.
 * @runtime_dir: every dll in it is trusted; absolute.
 * @app_dir:     where the app's own assemblies and native libraries are; NULL for none.
 * Returns 0, or -1 when memory is short or @runtime_dir cannot be read; free it either way. */
int sxs_properties_fill(struct sxs_properties *out, const char *runtime_dir, const char *app_dir);

/* Frees the values; a zeroed object is fine. */
void sxs_properties_free(struct sxs_properties *properties);

#endif
