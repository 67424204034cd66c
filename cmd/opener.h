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

#endif
