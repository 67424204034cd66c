/* SPDX-License-Identifier: MIT */
#include "cmd/assembly_file.h"

#include "cmd/command.h"

#include <errno.h>
#include <string.h>

#include "instr/metadata/metadata_file.h"

int sxs_assembly_open(const char *path, struct sxs_metadata *md)
{
    struct sxs_metadata_file f;
    int                      err = sxs_metadata_file_read(&f, path, SXS_COPY_ALL);
    if (err)
        return sxs_wrong_input("%s: %s", path,
                               err == EINVAL  ? "not a .NET assembly"
                               : err == EBUSY ? "it is being written to"
                                              : strerror(err));
    *md = f.md;
    return SXS_EXIT_OK;
}
