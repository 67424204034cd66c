/* SPDX-License-Identifier: MIT */
/**
 * serve.h - a small web server, for one user, that shows sessions in a browser while they grow.
 *
 * The server is one process with one thread. It reads no session itself: whatever is shown is made
 * by a child process with limits (cmd/serve/content.h), kept, and sent (cmd/serve/store.h). It
 * answers GET and HEAD only, and writes to nothing but temporary files.
 */
#ifndef SXS_CMD_SERVE_SERVE_H
#define SXS_CMD_SERVE_SERVE_H

#include "cmd/serve/request.h"

#include <stdbool.h>

/** The verbs that make reports; a child process calls them as main() and ends with their status. */
struct sxs_serve_verbs {
    int (*report)(int argc, char **argv);
    int (*heap)(int argc, char **argv);
    bool (*open_page)(const char *url); /* shows @url in the user's browser; false: it cannot */
};

struct sxs_serve_options {
    const char *dir;     /* as the user named it: a session, or a folder of sessions */
    const char *only;    /* the session's name when @dir is a session; NULL: a folder of sessions */
    int         root_fd; /* @dir, open for reading; borrowed */
    unsigned    port;    /* to listen on; 0: the system chooses one */
    const char *token;   /* what a client must know; not empty */
    bool        open;    /* show the list, or the session, in the user's browser */
    struct sxs_serve_names names; /* the address to listen on, and what clients may call it */
    const struct sxs_serve_verbs *verbs;
};

/** Result of sxs_serve(). Messages have been printed on standard error. */
enum sxs_serve_result {
    SXS_SERVE_ENDED,      /* by SIGINT or SIGTERM */
    SXS_SERVE_NO_ADDRESS, /* the address or the port cannot be used; nothing was served */
    SXS_SERVE_FAILED,
};

/**
 * sxs_serve - serve sessions until SIGINT or SIGTERM. Prints the address with the token on standard
 * output. Called once, by a process with one thread, whose signal mask and SIGPIPE it changes.
 */
enum sxs_serve_result sxs_serve(const struct sxs_serve_options *o);

#endif
