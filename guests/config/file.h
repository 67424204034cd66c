/* SPDX-License-Identifier: MIT */
/**
 * file.h - XML files that declare guests.
 *
 * <guests xmlns="urn:sxsprof:guests:1">
 *   <guest clsid="{...}" path="..." pick="all" priority="0"><env name="..." value="..."/></guest>
 * </guests>
 *
 * A relative path is relative to the folder of the file. The schema is guests.xsd.
 */
#ifndef SXS_GUESTS_CONFIG_FILE_H
#define SXS_GUESTS_CONFIG_FILE_H

#include "guests/config/declaration.h"
#include "instr/config/config.h"

#define GUEST_FILE_NAMESPACE "urn:sxsprof:guests:1"

/** The guests of a file. */
struct guest_file {
    struct guest_declaration guests[GUEST_MAX]; /* owned */
    uint32_t                 line[GUEST_MAX];   /* of each <guest>, from 1 */
    unsigned                 n;
    struct sxs_config       *problems; /* owned; has no rules: only what is wrong with the file */
    int                      is_ours;  /* the root element is <guests> */
};

/**
 * guest_file_read - read the file @path. A file with errors has no guests.
 * @out: overwritten; free it with guest_file_free().
 * Returns 0 when the file was read, also with errors, which are in out->problems; -1 without
 * memory. Allocates, and holds a lock of instr/config: not in a signal handler. Any thread.
 */
int  guest_file_read(const char *path, struct guest_file *out);
void guest_file_free(struct guest_file *file);

#endif
