/* SPDX-License-Identifier: MIT */
/** record_outputs.h - the outputs that the options -o of a recording verb name: the session folder, and files that are
 *  written from the session when the recording has ended. */
#ifndef SXS_CMD_RECORD_OUTPUTS_H
#define SXS_CMD_RECORD_OUTPUTS_H

#include <stdbool.h>
#include <stddef.h>

#define SXS_RECORD_MAX_FILES 16u

struct sxs_record_outputs {
    const char *names[SXS_RECORD_MAX_FILES]; /* of -o, as they were given */
    size_t      n_names;
    const char *folder; /* of the session; NULL: none is named */
    struct {
        const char *path, *format; /* "-": standard output */
    } files[SXS_RECORD_MAX_FILES];
    size_t n;
};

/** sxs_record_outputs_add - take the argument of one -o; borrowed. Returns 0, or -1 after writing what is
 *  wrong and was expected to @why of @size bytes. */
int sxs_record_outputs_add(struct sxs_record_outputs *o, const char *name, char *why, size_t size);

/**
 * sxs_record_outputs_complete - sort what all -o name, when the options are complete.
 * @format: of --format, which holds for all of them; NULL: the endings decide. @may: files can be written.
 * Returns 0 or -1, as above.
 */
int sxs_record_outputs_complete(struct sxs_record_outputs *o, const char *format, bool may,
                                char *why, size_t size);

/** sxs_record_outputs_only - return true when there are files and no folder is named: the session is not
 *  kept. */
bool sxs_record_outputs_only(const struct sxs_record_outputs *o);

/** sxs_record_outputs_check - check that each file can be written, before anything is recorded. Returns an
 *  exit status: SXS_EXIT_OK, or SXS_EXIT_USAGE after a message. */
int sxs_record_outputs_check(const struct sxs_record_outputs *o);

/**
 * sxs_record_outputs_write - write each file from the session in @dir.
 * @heap: the session has heap snapshots and nothing else. @quiet: do not say which files were written.
 * Returns an exit status, the worst one; messages have been printed.
 */
int sxs_record_outputs_write(const struct sxs_record_outputs *o, const char *dir, bool heap,
                             bool quiet);

#endif
