/* SPDX-License-Identifier: MIT */
/**
 * assembly_copy.h - copies of assemblies' metadata, shared by the methods that need them.
 *
 * A copy that nobody uses is kept for a moment, for the next method usually needs the same assemblies.
 * Any thread; a lock inside, under which no file is read and no runtime is called.
 */
#ifndef SXS_REWRITE_ASSEMBLY_COPY_H
#define SXS_REWRITE_ASSEMBLY_COPY_H

#include "instr/metadata/metadata_file.h"

struct sxs_assembly_copy {
    struct sxs_metadata_file  file; /* read only */
    struct sxs_assembly_copy *next;
    char                     *path;
    unsigned                  refs;
    int idle; /* nonzero: nobody has used it since the last sxs_assembly_copies_age() */
};

/** sxs_assembly_copy_get - the assembly @path as it is now. Returns 0 with a reference in *copy, which
 *  sxs_assembly_copy_put() gives back, or what sxs_metadata_file_read() failed with. */
int  sxs_assembly_copy_get(const char *path, const struct sxs_assembly_copy **copy);
void sxs_assembly_copy_put(const struct sxs_assembly_copy *copy); /* NULL is fine */

/** sxs_assembly_copies_age - frees the copies that nobody has used since the last call. */
void sxs_assembly_copies_age(void);

/** In a forked child: the lock may be held by a thread that the child does not have. */
void sxs_assembly_copies_forget(void);

#endif
