/* SPDX-License-Identifier: MIT */
/** url.h - checks and splits addresses of servers. Any thread. */
#ifndef SXS_CMD_HTTP_URL_H
#define SXS_CMD_HTTP_URL_H

#include <stdbool.h>
#include <stddef.h>

/**
 * sxs_url_check - say why @url cannot be the address of a server: SCHEME://HOST[:PORT][/PATH], with
 * neither user, password, query nor fragment.
 * @schemes: those expected, separated by commas. @buf: room for the line.
 * Returns NULL when it can be one, else @buf. */
const char *sxs_url_check(const char *url, const char *schemes, char *buf, size_t size);

/** sxs_url_has_scheme - return true when the scheme of @url is one of @schemes. */
bool sxs_url_has_scheme(const char *url, const char *schemes);

/** sxs_url_is_local - return true for servers on this machine: localhost, 127.x, [::1]. */
bool sxs_url_is_local(const char *url);

/** sxs_url_may_redirect - return true when a request to @from, with its headers, may be sent to @to:
 *  the same host, by the same scheme and port, or by https on its own port in place of http. */
bool sxs_url_may_redirect(const char *from, const char *to);

/** sxs_url_has_path - return true when the path of @url ends with @path: "/ingest". */
bool sxs_url_has_path(const char *url, const char *path);

#endif
