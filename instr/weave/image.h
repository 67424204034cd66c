/* SPDX-License-Identifier: MIT */
/**
 * image.h - finds and reads the assemblies that a module's code can refer to.
 *
 * These are the assemblies that the runtime has loaded, read from their files or from memory, then
 * the files in the folders of loaded assemblies. Images are used while one method is instrumented,
 * by one thread, which must be allowed to ask the runtime for its modules.
 */
#ifndef SXS_INSTR_WEAVE_IMAGE_H
#define SXS_INSTR_WEAVE_IMAGE_H

#include "instr/metadata/metadata.h"
#include "instr/metadata/text.h"
#include "manager/runtime.h"
#include "instr/weave/assembly_copy.h"

struct sxs_image {
    struct sxs_image               *next;
    char                           *name; /* simple name of the assembly; owned */
    char                           *path; /* owned; NULL: the assembly has no file */
    ModuleID                        id;   /* 0: the runtime has not loaded it */
    struct sxs_metadata             md;
    int                             readable; /* nonzero: `md` is valid */
    int                             tried;    /* nonzero: reading was tried */
    const struct sxs_assembly_copy *copy; /* a reference; NULL: `md` is in the runtime's memory */
};

struct sxs_images {
    sxs_module        module; /* the module whose code refers to the assemblies */
    struct sxs_image *all;    /* owned */
    int               listed; /* nonzero: `all` has the assemblies that the runtime has loaded */
};

void sxs_images_begin(struct sxs_images *images, sxs_module module);
void sxs_images_end(struct sxs_images *images);

/** sxs_images_own - return the image of images->module itself, as it was loaded. NULL: it cannot be
 *  read, because its file has changed since or because it was made at run time. Borrowed. */
const struct sxs_image *sxs_images_own(struct sxs_images *images);

/** sxs_images_find - return the image of the assembly @name, which may not be `readable`. NULL: it
 *  is neither loaded nor in any of the folders. Borrowed until sxs_images_end(). */
const struct sxs_image *sxs_images_find(struct sxs_images *images, const char *name);

/** sxs_images_put_folders - write the folders in which files are looked for, at most four of
 *  them. */
void sxs_images_put_folders(struct sxs_images *images, struct sxs_text *t);

#endif
