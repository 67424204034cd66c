/* SPDX-License-Identifier: MIT */
/**
 * image.h - assemblies as a module's code would find them, to be read: those its runtime has loaded, by their files or
 * in memory, then files in the folders where these lie.
 *
 * For the time of one method. One thread; where a runtime may be asked for its modules.
 */
#ifndef SXS_REWRITE_IMAGE_H
#define SXS_REWRITE_IMAGE_H

#include "instr/metadata/metadata.h"
#include "instr/metadata/text.h"
#include "manager/runtime.h"
#include "instr/weave/assembly_copy.h"

struct sxs_image {
    struct sxs_image   *next;
    char               *name; /* simple name of the assembly */
    char               *path; /* NULL: it has no file */
    ModuleID            id;   /* 0: not loaded */
    struct sxs_metadata md;
    int                 readable; /* nonzero: `md` can be asked */
    int                 tried;    /* nonzero: it has been read, or cannot be */
    const struct sxs_assembly_copy *copy; /* a reference; NULL: `md` is of memory of the runtime's */
};

struct sxs_images {
    sxs_module        module; /* whose code asks */
    struct sxs_image *all;
    int               listed; /* what the runtime has loaded is in `all` */
};

void sxs_images_begin(struct sxs_images *images, sxs_module module);
void sxs_images_end(struct sxs_images *images);

/** sxs_images_own - the module that asks, as it was loaded. NULL: it cannot be read (changed on disk since, or
 *  made at run time). */
const struct sxs_image *sxs_images_own(struct sxs_images *images);

/** sxs_images_find - the assembly @name. NULL: neither loaded nor in any of the folders. It may be one that is not
 *  `readable`. Borrowed until sxs_images_end(). */
const struct sxs_image *sxs_images_find(struct sxs_images *images, const char *name);

/** sxs_images_put_folders - where files were looked for, at most four of them. */
void sxs_images_put_folders(struct sxs_images *images, struct sxs_il_text *t);

#endif
