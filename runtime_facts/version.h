/* SPDX-License-Identifier: MIT */
/** version.h - the version of a runtime as text, such as "10.0.11": where it stands, and its numbers. */
#ifndef SXS_RUNTIME_FACTS_VERSION_H
#define SXS_RUNTIME_FACTS_VERSION_H

#include <stdbool.h>
#include <stddef.h>

/** The numbers of a version. */
struct sxs_release {
    unsigned major, minor, patch;
    bool     is_preview; /* it has a suffix, such as "-rc.1.25451.107" */
};

/** sxs_release_parse - read the numbers of the version @text. Numbers that are missing are 0.
 *  Returns true, or false when @text does not begin with a number of at most nine digits; then *out
 *  is all 0. Pure. This is the only function that reads a runtime's version. */
bool sxs_release_parse(const char *text, struct sxs_release *out);

/** sxs_version_in_path - write the last folder of @path that looks like a version to @out, such as
 *  3.1.3 of "/usr/share/dotnet/shared/Microsoft.NETCore.App/3.1.3/libcoreclr.so"; "" if there is
 *  none. @size: bytes of @out. Pure. */
void sxs_version_in_path(const char *path, char *out, size_t size);

/** sxs_version_of_core - correct the version that a runtime says of itself. .NET Core up to 3.1 says
 *  4.0.30319, as .NET Framework does; then @version (@size bytes) becomes the version in the runtime's
 *  @path, if there is one up to 3. */
void sxs_version_of_core(char *version, size_t size, const char *path);

/** sxs_version_of_build - convert the beginning of @text, as in "10.0.1126.37416", the version of
 *  the file, to the version of the product: "10.0.11". Writes "" when @text is not like that. */
void sxs_version_of_build(const char *text, size_t len, char *out, size_t size);

#endif
