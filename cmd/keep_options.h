/* SPDX-License-Identifier: MIT */
/** keep_options.h - the options of continuous mode, which run, its shortcuts, env, attach and start
 *  have. */
#ifndef SXS_CMD_KEEP_OPTIONS_H
#define SXS_CMD_KEEP_OPTIONS_H

#include <argp.h>
#include <stdbool.h>

/** Zeroed at first; release with sxs_keep_options_free(). NULL: not given. */
struct sxs_keep_options {
    const char *keep, *every, *budget; /* borrowed */
    char       *on;                    /* owned, separated by ';' */
};

/** Keys of the options. */
enum { SXS_KEEP_KEEP = 6000, SXS_KEEP_EVERY, SXS_KEEP_ON, SXS_KEEP_BUDGET };

/** The rows of the options for a list of argp, each with a comma behind it. */
#define SXS_KEEP_OPTION_ROWS                                                                      \
    {"keep",                                                                                      \
     SXS_KEEP_KEEP,                                                                               \
     "TIME[,BYTES]",                                                                              \
     0,                                                                                           \
     "Record segments, and keep the newest: of so much time, and of so many bytes on disk (1g)",  \
     0},                                                                                          \
        {"every",                                                                                 \
         SXS_KEEP_EVERY,                                                                          \
         "TIME",                                                                                  \
         0,                                                                                       \
         "Record segments that last so long (60s, or a fifth of --keep)",                         \
         0},                                                                                      \
        {"on",                                                                                    \
         SXS_KEEP_ON,                                                                             \
         "CONDITION",                                                                             \
         0,                                                                                       \
         "Keep the minute around this for good: gc>TIME, cpu>NUMBER% (100% is one processor) or " \
         "exception=TYPE; may be given several times",                                            \
         0},                                                                                      \
        {"budget",                                                                                \
         SXS_KEEP_BUDGET,                                                                         \
         "NUMBER%",                                                                               \
         0,                                                                                       \
         "Lower the rates of segments until the profiler uses at most this part of the CPU time", \
         0},

/**
 * sxs_keep_option - take an option.
 * Returns 0, or ARGP_ERR_UNKNOWN if it is none of these; ends the process with a usage error if the
 * value is wrong.
 */
error_t sxs_keep_option(int key, const char *arg, struct argp_state *state,
                        struct sxs_keep_options *o);

/**
 * sxs_keep_complete - check what the options say together, and with @tools (as SXSPROF_TOOLS; NULL:
 * none), when all are read. @inherited: the variables of the environment count for those that are not
 * given. Ends the process with a usage error.
 */
void sxs_keep_complete(struct argp_state *state, const struct sxs_keep_options *o,
                       const char *tools, bool inherited);

/** sxs_keep_is_on - tell whether segments are recorded. @inherited: as above. */
bool sxs_keep_is_on(const struct sxs_keep_options *o, bool inherited);

void sxs_keep_options_free(struct sxs_keep_options *o);

#endif
