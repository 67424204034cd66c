/* SPDX-License-Identifier: MIT */
/**
 * microhttpd.h - libmicrohttpd, which is opened when the verb needs it, so that the command starts
 * without it and without the libraries that it needs itself.
 */
#ifndef SXS_CMD_SERVE_MICROHTTPD_H
#define SXS_CMD_SERVE_MICROHTTPD_H

#include <microhttpd.h>

/* The functions of the library that are used. */
#define SXS_MICROHTTPD_FUNCTIONS(X) \
    X(start_daemon)                 \
    X(stop_daemon)                  \
    X(run)                          \
    X(get_timeout)                  \
    X(get_daemon_info)              \
    X(get_connection_info)          \
    X(suspend_connection)           \
    X(resume_connection)            \
    X(lookup_connection_value)      \
    X(create_response_from_buffer)  \
    X(create_response_from_fd64)    \
    X(destroy_response)             \
    X(add_response_header)          \
    X(queue_response)

struct sxs_microhttpd {
#define X(name) __typeof__(MHD_##name) *name;
    SXS_MICROHTTPD_FUNCTIONS(X)
#undef X
};

/** sxs_microhttpd_open - open the library. Returns its functions, static; NULL after a message on
 *  standard error when it is missing. */
const struct sxs_microhttpd *sxs_microhttpd_open(void);

#endif
