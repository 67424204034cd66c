/* SPDX-License-Identifier: MIT */
/**
 * watch.h - tells when the instrumentation file, or a file of the folder, is another or has other content.
 *
 * Files are looked at by their path, not watched by inotify: this sees what is behind symbolic links at any place of the
 * path (Kubernetes swaps the link ..data of a ConfigMap), works on every file system, and needs no descriptor that a
 * host could close. One thread.
 */
#ifndef SXS_REWRITE_WATCH_H
#define SXS_REWRITE_WATCH_H

/** sxs_watch - begin with @path, which lives as long as the process. */
void sxs_watch(const char *path);

/** sxs_watch_wait - sleeps @ms milliseconds. Returns 1 when there was a change since the last 1, or since sxs_watch(),
 *  and the files have been the same for a moment. */
int sxs_watch_wait(int ms);

/** sxs_watch_is_folder_now - nonzero: @path was a file when it began to be watched. */
int sxs_watch_is_folder_now(const char *path);

#endif
