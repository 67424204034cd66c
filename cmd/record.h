/* SPDX-License-Identifier: MIT */
/** record.h - record in a command or a process, when the options are parsed. */
#ifndef SXS_CMD_RECORD_H
#define SXS_CMD_RECORD_H

#include "cmd/out_dir.h"
#include "cmd/record_options.h"

/**
 * sxs_record_command - check everything, then run the command.
 * Returns an exit status when the command was not started; otherwise ends this process as the
 * command ended.
 */
int sxs_record_command(const struct sxs_record_options *o);

/** sxs_record_process - record in the processes of -p until the time is over, or a signal. Returns an exit
 *  status. */
int sxs_record_process(const struct sxs_record_options *o);

/** sxs_record_background - begin a session in the process of -p that goes on when this command has ended.
 *  Returns an exit status. */
int sxs_record_background(const struct sxs_record_options *o);

/**
 * sxs_record_finish - print what was recorded, unless --quiet, and where the session is; then write the
 * files of -o. Marks a folder that nobody named as temporary when no runtime was recorded in it.
 * Returns an exit status: SXS_EXIT_OK, or of a file that was not written.
 */
int sxs_record_finish(const struct sxs_record_options *o, struct sxs_out_dir *out);

#endif
