/* SPDX-License-Identifier: MIT */
#include "cmd/processes/examine.h"

#include "cmd/symbols/elf_exports.h"
#include "cmd/symbols/file_search.h"
#include "runtime_facts/version.h"

#include <stdint.h>

#define MAX_SEARCHED (UINT64_C(128) << 20) /* bytes of a file that are searched for a version */

static const char *const symbols[] = {"DllGetClassObject", "sxsprof_print_stack",
                                      "DotNetRuntimeDebugHeader", "DotNetRuntimeInfo", NULL};

/* @has: a bit for each of the symbols. */
static enum sxs_file_kind kind_of(unsigned has)
{
    if (has & 1u)
        return has & 2u ? SXS_FILE_OWN_PROFILER : SXS_FILE_PROFILER;
    return has & 8u ? SXS_FILE_SINGLE_FILE : has & 4u ? SXS_FILE_NATIVE_AOT : SXS_FILE_OTHER;
}

enum sxs_file_kind sxs_examine_kind(int fd)
{
    return kind_of(sxs_elf_exports_in(fd, symbols));
}

enum sxs_file_kind sxs_examine_memory(int fd, uint64_t base)
{
    return kind_of(sxs_elf_exports_in_memory(fd, base, symbols));
}

void sxs_examine_version(int fd, char *out, size_t size)
{
    static const char *const mark[] = {"@(#)Version ", NULL};
    char                     text[64];
    size_t                   len;
    out[0] = '\0';
    if (sxs_file_search(fd, mark, MAX_SEARCHED, text, sizeof(text), &len) == 0)
        sxs_version_of_build(text, len, out, size);
}
