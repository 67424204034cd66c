/* SPDX-License-Identifier: MIT */
/** properties.h - the properties that are passed to coreclr_initialize. */
#ifndef SXS_HARNESS_PROPERTIES_H
#define SXS_HARNESS_PROPERTIES_H

enum { SXS_PROPERTIES_MAX = 8 };

/* Properties of one app in one runtime, for coreclr_initialize. */
struct sxs_properties {
    const char *keys[SXS_PROPERTIES_MAX];   /* static strings */
    char       *values[SXS_PROPERTIES_MAX]; /* owned */
    int         len;
};

/**
 * sxs_properties_fill - collect the properties of one app in one runtime.
 * @runtime_dir: absolute path; every dll in it becomes a trusted platform assembly.
 * @app_dir:     the folder of the app's own assemblies and native libraries; NULL for none.
 * Returns 0, or -1 when there is no memory or @runtime_dir cannot be read. Call
 * sxs_properties_free() in both cases. */
int sxs_properties_fill(struct sxs_properties *out, const char *runtime_dir, const char *app_dir);

/* Frees the values; a zeroed object is allowed. */
void sxs_properties_free(struct sxs_properties *properties);

#endif
