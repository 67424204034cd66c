/* SPDX-License-Identifier: MIT */
/** record_verbs.h - the recording verbs: sample, calls, trace, alloc... and record, which takes several
 *  tools. */
#ifndef SXS_CMD_RECORD_VERBS_H
#define SXS_CMD_RECORD_VERBS_H

#include <argp.h>

/** sxs_cmd_record - run a recording verb. @argv[0]: "sxsprof sample". Returns an exit status. */
int sxs_cmd_record(int argc, char **argv);

/**
 * sxs_record_verb_argp - return the options of the recording verb @verb, or NULL when there is none.
 * Static; overwritten by the next call.
 */
const struct argp *sxs_record_verb_argp(const char *verb);

/** sxs_record_verb_values - return the values that an option of the verb's tool takes, as in
 *  "count|time|tree|trace"; NULL when @verb is no recording verb or its tools have no such option.
 *  Static. */
const char *sxs_record_verb_values(const char *verb, const char *option);

#endif
