/* SPDX-License-Identifier: MIT */
/** exits.h - exit statuses of the command. */
#ifndef SXS_CMD_OUTPUT_EXITS_H
#define SXS_CMD_OUTPUT_EXITS_H

/* Exit statuses. Verbs that record a command return the exit status of their command; when they did not
 * start it, they return SXS_EXIT_USAGE or one of the last three, which env(1) has, too. */
enum sxs_exit {
    SXS_EXIT_OK = 0,
    SXS_EXIT_PROBLEM = 1,          /* the verb ran and found a problem */
    SXS_EXIT_USAGE = 2,            /* wrong input; nothing was started or changed */
    SXS_EXIT_FAILED = 125,         /* sxsprof itself failed */
    SXS_EXIT_CANNOT_EXECUTE = 126, /* the command was found, but cannot be executed */
    SXS_EXIT_NOT_FOUND = 127,      /* the command was not found */
};

#endif
