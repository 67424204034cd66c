/* SPDX-License-Identifier: MIT */
/** hosting.h - functions for the host programs in tests/hosts/programs/: start runtimes, call their
 * app, print claims and the state of the process.
 *
 * A host reads three environment variables: HOSTS_RUNTIMES (folders with a libcoreclr.so, separated
 * by colons; one runtime is started for each), HOSTS_GUEST (the folder of guest.dll) and HOSTS_TMP
 * (a folder for the host's own files). Also built as libhosting.so, for hosts that are not written
 * in C. */
#ifndef SXS_TESTS_HOSTS_HOSTING_H
#define SXS_TESTS_HOSTS_HOSTING_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

enum { HOSTING_MAX = 4 };

/* Functions of the app in a running runtime (harness/managed/guest/Exports.cs). Any thread. */
struct hosting_guest {
    int (*all)(int rounds);  /* does all kinds of work; returns the number of wrong results */
    int (*faults)(int n);    /* NullReferenceExceptions; returns how many were caught */
    int (*collect)(int n);   /* collections against a busy thread; returns how many took place */
    int (*compute)(int n);   /* returns the sum of the numbers below n */
    int (*print)(int n);     /* prints "guest: line N"; returns n */
    int (*unhandled)(int n); /* ends the process by an unhandled exception */
    int (*call_back)(int (*callee)(intptr_t),
                     intptr_t argument); /* calls @callee; returns its result */
    int (*notes_exit)(int n); /* prints "guest: exit N" when the runtime raises ProcessExit */
    int (*notes_signal)(int signal); /* prints "guest: signal NAME" at that signal, a positive number of
                                      * the system, by a PosixSignalRegistration that stays; the
                                      * default action follows. Returns the signal */
};

/* Returns the number of runtimes in HOSTS_RUNTIMES; ends the process with status 2 when it is 0. */
int hosting_len(void);

/* Starts runtime @i (0, 1, ...) and finds its functions. A failure ends the process with status 2
 * and a line on standard error. One thread at a time. */
void hosting_start_one(int i);

/* Starts all runtimes that have not been started. One thread at a time. */
void hosting_start(void);

/* Returns the functions of runtime @i. They are null before the runtime is started. Static. Any
 * thread. */
const struct hosting_guest *hosting_guest(int i);

/* Does all kinds of work in each started runtime, @rounds times. Returns the number of wrong
 * results. */
int hosting_work(int rounds);

/* Shuts runtime @i down. Returns 0, or 1 for a failure, with a line on standard error. Call it on the
 * thread that started the runtime. */
int hosting_stop_one(int i);

/* Shuts the runtimes down that run, the last one first. Returns the number of failures. Call it on
 * the thread that started the runtimes. */
int hosting_stop(void);

/* Writes one line to standard output, by one write. Any thread; not signal-safe. */
void hosting_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Reports a claim: writes "right: TEXT" or "WRONG: TEXT". Returns @holds. Any thread; not
 * signal-safe. */
bool hosting_claim(bool holds, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Returns the number of wrong claims so far. Any thread. */
int hosting_n_wrong(void);

/* Returns the value of the environment variable @name, borrowed; ends the process with status 2
 * when it is not set. */
const char *hosting_env(const char *name);

/* Removes the variables that start the profiler from the environment. Call it before the exec of a
 * helper program. */
void hosting_env_clean(void);

/* Writes "state ..." lines about the process (tests/hosts/state.c says which), with the mask and
 * the alternate stack of the calling thread. Not signal-safe. */
void hosting_state(void);

/* Ends a host: writes the state, shuts the runtimes down. Returns the exit status: 0, or 1 when a
 * claim was wrong. */
int hosting_end(void);

#endif
