/* SPDX-License-Identifier: MIT */
/**
 * assembly_copy.h - copies of assemblies' metadata in memory, shared by the methods that need them.
 *
 * A copy that is no longer used is kept for one to two seconds, because the next method usually
 * needs the same assemblies. Any thread. Takes a lock of its own, under which no file is read and
 * no runtime is called.
 */
#ifndef SXS_INSTR_WEAVE_ASSEMBLY_COPY_H
#define SXS_INSTR_WEAVE_ASSEMBLY_COPY_H

#include "instr/metadata/metadata_file.h"

struct sxs_assembly_copy {
    struct sxs_metadata_file  file; /* never changed */
    struct sxs_assembly_copy *next; /* guarded by the lock, as are refs and idle */
    char                     *path; /* owned */
    unsigned                  refs;
    int                       idle; /* nonzero: not used since the last sxs_assembly_copies_age() */
};

/**
 * sxs_assembly_copy_get - get a copy of the metadata of the file @path, as the file is now.
 * Returns 0 with a reference in *copy, which sxs_assembly_copy_put() gives back, or the error of
 * sxs_metadata_file_read().
 */
int  sxs_assembly_copy_get(const char *path, const struct sxs_assembly_copy **copy);
void sxs_assembly_copy_put(const struct sxs_assembly_copy *copy); /* NULL is fine */

/** sxs_assembly_copies_age - free the copies that were not used since the last call. */
void sxs_assembly_copies_age(void);

/** sxs_assembly_copies_forget - drop all copies in a forked child, without taking the lock. They
 *  are not freed: the fork may have happened while another thread was changing them. */
void sxs_assembly_copies_forget(void);

#endif
