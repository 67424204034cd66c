/* SPDX-License-Identifier: MIT */
/**
 * instr/metadata/metadata_file.h - copy the file of an assembly into memory, and read its metadata.
 *
 * Files are not mapped, because a compiler truncates an assembly before it writes it again, and an
 * access to a mapping of a truncated file raises SIGBUS.
 */
#ifndef SXS_INSTR_METADATA_METADATA_FILE_H
#define SXS_INSTR_METADATA_METADATA_FILE_H

#include <sys/stat.h>

#include "instr/metadata/metadata.h"

/** The parts of a file that are copied. The other bytes of the copy are zero. */
enum sxs_metadata_copy {
    SXS_COPY_METADATA, /* headers and metadata, without method bodies and compiled code */
    SXS_COPY_ALL,
};

struct sxs_metadata_file {
    struct sxs_metadata md;
    struct stat         st;    /* state of the file when it was copied */
    uint8_t            *bytes; /* owned: sxs_metadata_file_free() */
    size_t              size;
};

/**
 * sxs_metadata_file_read - copy the assembly @path and find its metadata.
 * @f: receives the copy; need not be initialized. Free it with sxs_metadata_file_free().
 * Returns 0, or an errno value, and then there is nothing to free: an error of open(), fstat() or
 * pread(), ENOMEM, EINVAL (not an assembly, or not a regular file), EBUSY (another process writes
 * to the file), EFBIG (more than 1 GiB). Any thread may call it. Waits for the disk, but not for
 * the writer of a pipe.
 */
int  sxs_metadata_file_read(struct sxs_metadata_file *f, const char *path,
                            enum sxs_metadata_copy copy);
void sxs_metadata_file_free(struct sxs_metadata_file *f);

/** sxs_metadata_file_is - is @path still the file that was copied, and the file unchanged since? */
int sxs_metadata_file_is(const struct sxs_metadata_file *f, const char *path);

#endif
