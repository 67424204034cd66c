/* SPDX-License-Identifier: MIT */
/**
 * output_file.h - the file that a command writes for the option --output: a new file beside it, which
 * takes its name when it is complete.
 *
 * The folder may be one in which other users can make files, such as /tmp: the new file has a name that
 * nobody can guess, no link is followed to it, and it is removed when the command fails or is ended
 * by SIGINT, SIGTERM, SIGHUP, SIGQUIT or SIGPIPE. One thread at a time.
 */
#ifndef SXS_CMD_OUTPUT_OUTPUT_FILE_H
#define SXS_CMD_OUTPUT_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

/** An open output. */
struct sxs_output {
    const char *path;      /* borrowed; NULL: standard output */
    char       *temporary; /* owned; name of the new file; NULL: written in place */
    FILE       *to;
};

/**
 * sxs_output_open - open the output @path; NULL or "-" is standard output. Devices, pipes and
 * /dev/stdout are written in place; a link to one of them only when it belongs to this user or root.
 * Returns 0, and sxs_output_close() must follow; or an errno value.
 */
int sxs_output_open(struct sxs_output *out, const char *path);

/**
 * sxs_output_close - end the output, and give the new file its name. A regular file of that name is
 * replaced. @failed: true removes the new file instead.
 * Returns 0, or an errno value when something was not written; EIO when @failed.
 */
int sxs_output_close(struct sxs_output *out, bool failed);

#endif
