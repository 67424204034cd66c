/* SPDX-License-Identifier: MIT */
/** watch.h - has the file, or a file of the folder, changed? One thread. */
#ifndef SXS_REWRITE_WATCH_H
#define SXS_REWRITE_WATCH_H

/** sxs_watch - begin with @path, which lives as long as the process. When it cannot be watched a line says so. */
void sxs_watch(const char *path);

/** sxs_watch_wait - at most @ms milliseconds. Returns 1: something changed, and nothing has since a moment. */
int sxs_watch_wait(int ms);

/** sxs_watch_is_folder_now - nonzero: @path was a file when it began to be watched. */
int sxs_watch_is_folder_now(const char *path);

#endif
