/* SPDX-License-Identifier: MIT */
/*
 * bridge.h - the interface of libsxsbridge.so: native code through which apps of different runtimes
 * call each other. It also has native work, crashes, stress, and functions for instrumentation
 * files.
 */
#ifndef SXSBRIDGE_H
#define SXSBRIDGE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SXSBRIDGE_API __attribute__((visibility("default")))

enum { SXSBRIDGE_APPS_MAX = 64 };

/* The function of an app that the other apps call: a function pointer from [UnmanagedCallersOnly],
 * or of a delegate that is kept alive. Called on the thread that makes the hop; that thread may be
 * unknown to the app's runtime. */
typedef void (*sxsbridge_entry)(int depth, int max, long arg);

/* ---- for apps (P/Invoke "sxsbridge") ---- */

/**
 * sxsbridge_join - register the calling app and wait until all apps have done the same.
 * Returns the app's index, which is its position on the host's command line, or the next free index
 * on a thread that has none from the host. Returns -1 after 60 seconds, when an app has ended
 * without joining, or when this app has joined before. If no host opened the bridge, returns 0 at
 * once, and each thread that joins calls only its own @entry. Any thread; not async-signal-safe. */
SXSBRIDGE_API int sxsbridge_join(sxsbridge_entry entry);

/* Reserves an index for the calling thread and returns it; sxsbridge_join() will return the same
 * one. Returns 0 if no host opened the bridge, -1 when all indexes are taken. Any thread. */
SXSBRIDGE_API int sxsbridge_index(void);

/* Returns the number of apps; 1 if no host opened the bridge. Any thread. */
SXSBRIDGE_API int sxsbridge_apps(void);

/**
 * sxsbridge_hop - call the entry of app @depth % sxsbridge_apps() with @depth + 1, @max and @arg.
 * The call goes through two plain native frames, sxsbridge_span_near and sxsbridge_span_far. Does
 * nothing before all apps have joined. Any thread; the depth is limited by the thread's stack
 * only. */
SXSBRIDGE_API void sxsbridge_hop(int depth, int max, long arg);

/**
 * sxsbridge_leave - wait until all apps have called this function, so that no app ends while others
 * still call it.
 * Returns 0, or -1 after 600 seconds or when an app has ended without leaving. Any thread. */
SXSBRIDGE_API int sxsbridge_leave(void);

/**
 * sxsbridge_crash - crash in native code.
 * @kind: "segv" writes to address 0, "abort" calls abort(), "kill-abrt" sends SIGABRT to the
 *        process, "exec" replaces the program by /bin/true while other threads are busy.
 * Returns 0 when the process is still alive a second after "kill-abrt", -1 for an unknown kind or
 * when exec failed; else does not return. */
SXSBRIDGE_API int sxsbridge_crash(const char *kind);

/* Uses @ns nanoseconds of the calling thread's CPU time in native code. */
SXSBRIDGE_API void sxsbridge_burn(long ns);

/**
 * sxsbridge_churn - start short native threads and wait for them.
 * @threads:  number of threads.
 * @every_ns: average time between two starts.
 * @burn_ns:  CPU time that each thread uses, in the function sxsbridge_short_life.
 * Returns the CPU time, in ns, of all threads of all calls in this process so far. One caller at a
 * time. */
SXSBRIDGE_API long sxsbridge_churn(int threads, long every_ns, long burn_ns);

/**
 * sxsbridge_allocate - allocate @n blocks of @bytes.
 * @function: by which function of the C library, such as "malloc"; see allocate.c.
 * @keep: 0: each block is freed at once; else it is never freed.
 * Returns 0, or -1 for an unknown function or when out of memory. Any thread. */
SXSBRIDGE_API int sxsbridge_allocate(const char *function, long bytes, int n, int keep);

/* Does work that allocates: "pairs" or "trees" of @n blocks, or "xml", documents with @n elements, by
 * libxml2. Returns the CPU time for each, in ns, or -1 for unknown work and without libxml2. Any
 * thread. */
SXSBRIDGE_API double sxsbridge_allocation_ns(const char *work, int n);

/* ---- for the host (runsxs) ---- */

/**
 * sxsbridge_churn_start - start stress in this process.
 * @what: words NAME=N, separated by spaces or commas:
 *   threads=N  short native threads a second
 *   loads=N    times a second a plugin (libsxsplugin.so beside this library) is loaded, called and
 *              unloaded
 *   forks=N, execs=N, spawns=N  children a second
 *   waiters=N  threads of each kind (nanosleep, poll, read, semaphore) that wait all the time and
 *              count EINTR
 *   loader=1   forked children use the dynamic loader; allowed only if no app throws exceptions
 *   exits=1    half of the forked children end by exit(), which runs all exit handlers of the
 *              process
 * With loader or exits, children are started only after the runtimes have started: children forked
 * earlier have not been measured.
 * Returns 0, or -1 for a word it does not know. Once in a process; not async-signal-safe. */
SXSBRIDGE_API int sxsbridge_churn_start(const char *what);

/* Ends the stress and writes a line with its counts to @line (@size bytes). Returns 0, or -1 when
 * something failed. */
SXSBRIDGE_API int sxsbridge_churn_end(char *line, size_t size);

/* Opens the bridge for @n_apps apps. Call it before any of them starts. Returns 0, or -1 for a
 * number outside 1..SXSBRIDGE_APPS_MAX or when the bridge is already open. */
SXSBRIDGE_API int sxsbridge_open(int n_apps);

/* Gives the calling thread the index of the app whose Main it will run. */
SXSBRIDGE_API void sxsbridge_seat(int index);

/* Reports that the app of the calling thread has ended. If it has not called sxsbridge_leave(), all
 * apps that wait for it stop waiting. */
SXSBRIDGE_API void sxsbridge_end(void);

/* The native frames of every hop. They are exported only so that stacks show their names. */
SXSBRIDGE_API void sxsbridge_span_near(sxsbridge_entry entry, int depth, int max, long arg);
SXSBRIDGE_API void sxsbridge_span_far(sxsbridge_entry entry, int depth, int max, long arg);

/* ---- for instrumentation files (harness/bridge/called.c) ----
 * Each function counts its calls. The sums are printed when the process ends. */

struct sxsprof_method;

SXSBRIDGE_API void  sxsbridge_before(const struct sxsprof_method *method, int n);
SXSBRIDGE_API void  sxsbridge_after(const struct sxsprof_method *method, int result,
                                    intptr_t thrown);
SXSBRIDGE_API void *sxsbridge_start(const struct sxsprof_method *method, int n);
SXSBRIDGE_API void  sxsbridge_finish(const struct sxsprof_method *method, void *state, int result,
                                     intptr_t thrown);
SXSBRIDGE_API const void *sxsbridge_entered(const struct sxsprof_method *method);
SXSBRIDGE_API void        sxsbridge_left(const struct sxsprof_method *method, const void *state,
                                         intptr_t thrown);
SXSBRIDGE_API int         sxsbridge_replaced(const struct sxsprof_method *method);
SXSBRIDGE_API void        sxsbridge_text(const struct sxsprof_method *method, const uint16_t *text);

#ifdef __cplusplus
}
#endif

#endif
