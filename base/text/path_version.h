/* SPDX-License-Identifier: MIT */
/** path_version.h - the version of a runtime in the path of its library. */
#ifndef SXS_BASE_TEXT_PATH_VERSION_H
#define SXS_BASE_TEXT_PATH_VERSION_H

#include <stddef.h>

/** sxs_version_in_path - write the last folder of @path that looks like a version to @out, such as
 *  3.1.3 of "/usr/share/dotnet/shared/Microsoft.NETCore.App/3.1.3/libcoreclr.so"; "" if there is
 *  none. @size: bytes of @out. Pure. */
void sxs_version_in_path(const char *path, char *out, size_t size);

#endif
