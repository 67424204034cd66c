/* SPDX-License-Identifier: MIT */
/** calls.h - the filters of system calls, by libseccomp. */
#ifndef SXS_CMD_CONFINED_CALLS_H
#define SXS_CMD_CONFINED_CALLS_H

/** Which system calls are permitted. The others fail with EPERM; those of another architecture end the
 *  process. */
enum sxs_confined_calls {
    SXS_CONFINED_ANY,    /* no filter */
    SXS_CONFINED_PARSE,  /* memory, and reading and writing descriptors that are open already */
    SXS_CONFINED_LOOK,   /* the same, and opening for reading, sending and receiving descriptors */
    SXS_CONFINED_READ,   /* the same, and reading as another user; files are opened with O_PATH,
                          * O_DIRECTORY or O_NONBLOCK only, so that opening neither acts nor waits */
    SXS_CONFINED_REPORT, /* all but those that run programs, make processes and threads, reach other
                          * processes or the network, mount, load code into the kernel or change
                          * users */
    SXS_CONFINED_NETWORK, /* the same, and connecting to servers, and threads */
};

/**
 * sxs_confined_filter - install the filter for @calls in the calling thread. Needs no_new_privs.
 * Returns 0, or an errno value when the system has no filters.
 */
int sxs_confined_filter(enum sxs_confined_calls calls);

#endif
