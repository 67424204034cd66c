/* SPDX-License-Identifier: MIT */
/** run.h - run a command with its runtimes profiled, after the options are parsed. */
#ifndef SXS_CMD_RUN_H
#define SXS_CMD_RUN_H

#include "cmd/out_dir.h"
#include "cmd/run_options.h"

#define SXS_RUN_ARGUMENTS "[--] COMMAND [ARGUMENT...]"

/**
 * sxs_run - check everything, then run the command.
 * Returns an exit status when the command was not started; otherwise ends this process as the
 * command ended.
 */
int sxs_run(const struct sxs_run_options *o);

/**
 * sxs_run_finish - print what the command's runtimes did, unless --quiet, and where the session is.
 * Marks a folder that nobody named as temporary when no runtime was recorded in it.
 */
void sxs_run_finish(const struct sxs_run_options *o, struct sxs_out_dir *out);

#endif
