/* SPDX-License-Identifier: MIT */
/** exits.h - the exit statuses of sxsprof. */
#ifndef SXS_CMD_OUTPUT_EXITS_H
#define SXS_CMD_OUTPUT_EXITS_H

/* Exit statuses. Verbs that start a command return the exit status of that command. When they could not
 * start it, they return SXS_EXIT_USAGE or one of the last three, which are those of env(1). */
enum sxs_exit {
    SXS_EXIT_OK = 0,
    SXS_EXIT_PROBLEM = 1,   /* the verb ran and found a problem */
    SXS_EXIT_USAGE = 2,     /* wrong input; nothing was started or changed */
    SXS_EXIT_CONDITION = 3, /* report --fail-if: a condition is met */
    SXS_EXIT_UNDECIDED = 4, /* report --fail-if: no condition is met, and one cannot be decided */
    SXS_EXIT_FAILED = 125,  /* sxsprof itself failed */
    SXS_EXIT_CANNOT_EXECUTE = 126, /* the command was found, but cannot be executed */
    SXS_EXIT_NOT_FOUND = 127,      /* the command was not found */
};

#endif
