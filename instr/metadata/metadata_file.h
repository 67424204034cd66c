/* SPDX-License-Identifier: MIT */
/**
 * metadata_file.h - an assembly's file, copied into memory of our own.
 *
 * Files are not mapped: a compiler that writes an assembly anew cuts it short first, and a mapping of it then raises
 * SIGBUS at the next access.
 */
#ifndef SXS_INSTR_METADATA_FILE_H
#define SXS_INSTR_METADATA_FILE_H

#include <sys/stat.h>

#include "instr/metadata/metadata.h"

/** What is copied. The bytes that are not copied are zero. */
enum sxs_metadata_copy {
    SXS_COPY_METADATA, /* headers and metadata: method bodies and compiled code are left out */
    SXS_COPY_ALL,
};

struct sxs_metadata_file {
    struct sxs_metadata md;
    struct stat         st;    /* of the file when it was copied */
    uint8_t            *bytes; /* owned: sxs_metadata_file_free() */
    size_t              size;
};

/**
 * sxs_metadata_file_read - copy the assembly @path into *f, which need not be initialized.
 * Returns 0, or an errno value with nothing to free: what open() or read() failed with, ENOMEM, EINVAL (it is no
 * assembly, or no regular file), EBUSY (somebody else writes to it), EFBIG (more than 1 GiB). Any thread. Waits for the
 * disk; not for pipes.
 */
int  sxs_metadata_file_read(struct sxs_metadata_file *f, const char *path,
                            enum sxs_metadata_copy copy);
void sxs_metadata_file_free(struct sxs_metadata_file *f);

/** sxs_metadata_file_is - nonzero when @path still names the file that was copied, unchanged since. */
int sxs_metadata_file_is(const struct sxs_metadata_file *f, const char *path);

#endif
