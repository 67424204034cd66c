/* SPDX-License-Identifier: MIT */
/**
 * watch.h - detects changes of the instrumentation file, or of the files in its folder.
 *
 * Files are polled by their path, not watched by inotify. Polling follows symbolic links anywhere
 * in the path (Kubernetes swaps the link ..data of a ConfigMap), works on every file system, and
 * needs no descriptor that a host could close. All functions are called on one thread at a time.
 */
#ifndef SXS_TOOLS_INSTRUMENT_WATCH_H
#define SXS_TOOLS_INSTRUMENT_WATCH_H

/** sxs_watch - start to watch @path, which must live as long as the process. */
void sxs_watch(const char *path);

/** sxs_watch_wait - sleep @ms milliseconds, then look for a change since the last change that was
 *  reported, or since sxs_watch(). Returns 1 when there is one and the files have been the same for
 *  30 ms, or have been changing for 1 s; else 0. */
int sxs_watch_wait(int ms);

/** sxs_watch_is_folder_now - return nonzero when @path is a folder now, and was none when
 *  sxs_watch() was called. */
int sxs_watch_is_folder_now(const char *path);

#endif
