/* SPDX-License-Identifier: MIT */
/** opener.h - show a page in the user's browser. */
#ifndef SXS_CMD_OPENER_H
#define SXS_CMD_OPENER_H

#include <stdbool.h>

/**
 * sxs_open_page - start xdg-open with @path. The opener runs on its own, without this command's
 * input and output; nothing waits for it.
 * Returns false when there is no opener or it cannot be started.
 */
bool sxs_open_page(const char *path);

/**
 * sxs_open_written_page - open the page that a verb has written, or print its path where no browser
 * can be started.
 * @status: the exit status of the verb so far; when it is SXS_EXIT_USAGE, or the page is not there,
 * nothing is opened. Returns @status, or SXS_EXIT_PROBLEM when standard output cannot be written.
 */
int sxs_open_written_page(const char *path, int status);

#endif
