/* SPDX-License-Identifier: MIT */
/**
 * output_file.h - the file that a command writes for the option --output: a new file beside it, which
 * takes its name when it is complete.
 *
 * The folder may be one in which other users can make files, such as /tmp: the new file has a name that
 * nobody can guess, no link is followed to it, and it is removed when the command fails or is ended
 * by SIGINT, SIGTERM, SIGHUP, SIGQUIT or SIGPIPE. Links of other users on the path of the folder are
 * refused (base/folder_path.h). One thread at a time.
 */
#ifndef SXS_CMD_OUTPUT_OUTPUT_FILE_H
#define SXS_CMD_OUTPUT_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct sxs_output_opened;

/** An open output. */
struct sxs_output {
    const char               *path; /* borrowed; NULL: standard output */
    FILE                     *to;
    struct sxs_output_opened *opened;   /* private; owned; NULL: standard output, or prepared */
    bool                      prepared; /* private: sxs_output_prepare() has opened it */
};

/**
 * sxs_output_open - open the output @path; NULL or "-" is standard output. Devices, pipes and
 * /dev/stdout are written in place; a link to one of them only when it and its folder belong to this user
 * or root.
 * Returns 0, and sxs_output_close() must follow; or an errno value, about which sxs_output_error() says more.
 */
int sxs_output_open(struct sxs_output *out, const char *path);

/**
 * sxs_output_close - end the output, and give the new file its name. A regular file of that name is
 * replaced. @failed: true removes the new file instead.
 * Returns 0, or an errno value when something was not written; EIO when @failed.
 */
int sxs_output_close(struct sxs_output *out, bool failed);

/** sxs_output_error - return a text about the last failure of sxs_output_open(). @err: what it returned.
 *  Static. */
const char *sxs_output_error(int err);

/**
 * sxs_output_prepare - open the output @path for a child process that may open no file for writing, before
 * it is forked: sxs_output_open() of this path in the child takes it, also the reason why it cannot be
 * opened. Nothing is emptied before that. One output at a time.
 * @path: borrowed until sxs_output_finish(); NULL or "-": nothing is prepared. @mode: of a new file, before
 * the umask.
 * Returns 0 or an errno value; nothing is prepared then.
 */
int sxs_output_prepare(const char *path, mode_t mode);

/** sxs_output_place - return the path of what sxs_output_open() opens in the child itself, because opening it
 *  can wait for another process: a pipe or a device; NULL: nothing. Static. */
const char *sxs_output_place(void);

/**
 * sxs_output_finish - in the parent, when the child has ended: give the new file its name if the child has
 * completed it, else remove it. Returns 0 or an errno value when it could not be renamed.
 */
int sxs_output_finish(void);

#endif
