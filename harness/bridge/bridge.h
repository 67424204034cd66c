/* SPDX-License-Identifier: MIT */
/* libsxsbridge.so: native code through which apps of different runtimes call each other. */
#ifndef SXSBRIDGE_H
#define SXSBRIDGE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SXSBRIDGE_API __attribute__((visibility("default")))

enum { SXSBRIDGE_APPS_MAX = 64 };

/* An app's way in: a function pointer from [UnmanagedCallersOnly] or a delegate that is kept alive.
 * Called on whatever thread makes the hop, which its runtime may never have seen. */
typedef void (*sxsbridge_entry)(int depth, int max, long arg);

/* ---- for apps (P/Invoke "sxsbridge") ---- */

/**
 * sxsbridge_join - register the calling app and wait until all apps have done the same.
 * Returns the app's index, which is its place on the host's command line (or the next free one on a
 * thread the host gave none); -1 after 60 seconds, when an app ended without joining, or when this
 * app has joined before. Without a host that opened the bridge it returns 0 at once, and every
 * thread that joins is alone with its own entry. Any thread; not async-signal-safe. */
SXSBRIDGE_API int sxsbridge_join(sxsbridge_entry entry);

/* The index that joining on this thread will return, claimed by asking; 0 without a host that
 * opened the bridge, -1 when all are taken. Any thread. */
SXSBRIDGE_API int sxsbridge_index(void);

/* The number of apps: 1 without a host that opened the bridge. Any thread. */
SXSBRIDGE_API int sxsbridge_apps(void);

/**
 * sxsbridge_hop - call the entry of app @depth % sxsbridge_apps() with @depth + 1, @max and @arg.
 * Two plain native frames, sxsbridge_span_near and sxsbridge_span_far, lie in between. @max and
 * @arg are passed on as they are. Does nothing before all have joined. Any thread, to any depth the
 * thread's stack has room for. */
SXSBRIDGE_API void sxsbridge_hop(int depth, int max, long arg);

/**
 * sxsbridge_leave - wait until all apps have come here, so that none ends while others still call
 * it. Returns 0; -1 after 600 seconds or when an app ended without leaving. Any thread. */
SXSBRIDGE_API int sxsbridge_leave(void);

/**
 * sxsbridge_crash - crash in native code. @kind: "segv" writes to address 0, "abort" calls abort(),
 * "kill-abrt" sends SIGABRT to the process, "exec" becomes /bin/true among busy threads. Returns only when the process has survived a
 * "kill-abrt" for a second (0), or the kind is unknown (-1). */
SXSBRIDGE_API int sxsbridge_crash(const char *kind);

/* Uses @ns nanoseconds of the calling thread's CPU time in native code. */
SXSBRIDGE_API void sxsbridge_burn(long ns);

/**
 * sxsbridge_churn - start @threads short native threads, one every @every_ns nanoseconds on average, each of which
 * uses @burn_ns of CPU time in sxsbridge_short_life, and wait for them. Returns what they used, all of
 * them in this process, in ns. One caller at a time. */
SXSBRIDGE_API long sxsbridge_churn(int threads, long every_ns, long burn_ns);

/* ---- for the host (runsxs) ---- */

/**
 * sxsbridge_churn_start - begin with unrest in this process: words NAME=N in @what, separated by
 * spaces or commas. threads: short native threads a second; loads: a plugin (libsxsplugin.so beside
 * this library) loaded, called and unloaded; forks, execs, spawns: children a second; waiters:
 * threads of each kind (nanosleep, poll, read, semaphore) that wait all the time and count EINTR;
 * loader=1: forked children use the loader, which they may only if no app throws exceptions;
 * exits=1: half of the forked children end by exit(), which runs all exit handlers of the process; forks begin when
 * the runtimes have started: what such children do that were forked before has not been measured.
 * Returns 0, or -1 for words it does not know. Once in a process; not async-signal-safe. */
SXSBRIDGE_API int sxsbridge_churn_start(const char *what);

/* Ends it and writes a line of what was done into @line. Returns 0, -1 when something failed. */
SXSBRIDGE_API int sxsbridge_churn_end(char *line, size_t size);

/* Tells how many apps will join; before any of them starts. Returns 0, or -1 for a number outside
 * 1..SXSBRIDGE_APPS_MAX or when it was told before. */
SXSBRIDGE_API int sxsbridge_open(int n_apps);

/* The calling thread will run the Main of app @index. */
SXSBRIDGE_API void sxsbridge_seat(int index);

/* The app of the calling thread has ended: nobody need wait for it any more. */
SXSBRIDGE_API void sxsbridge_end(void);

/* The native frames of every hop. They are exported only so that a stack names them. */
SXSBRIDGE_API void sxsbridge_span_near(sxsbridge_entry entry, int depth, int max, long arg);
SXSBRIDGE_API void sxsbridge_span_far(sxsbridge_entry entry, int depth, int max, long arg);

/* ---- for instrumentation files (called.c): each counts; the sums are printed when the process ends ---- */

struct sxsprof_method;

SXSBRIDGE_API void  sxsbridge_before(const struct sxsprof_method *method, int n);
SXSBRIDGE_API void  sxsbridge_after(const struct sxsprof_method *method, int result, intptr_t thrown);
SXSBRIDGE_API void *sxsbridge_start(const struct sxsprof_method *method, int n);
SXSBRIDGE_API void  sxsbridge_finish(const struct sxsprof_method *method, void *state, int result,
                                     intptr_t thrown);
SXSBRIDGE_API const void *sxsbridge_entered(const struct sxsprof_method *method);
SXSBRIDGE_API void  sxsbridge_left(const struct sxsprof_method *method, const void *state,
                                   intptr_t thrown);
SXSBRIDGE_API int   sxsbridge_replaced(const struct sxsprof_method *method);
SXSBRIDGE_API void  sxsbridge_text(const struct sxsprof_method *method, const uint16_t *text);

#ifdef __cplusplus
}
#endif

#endif
