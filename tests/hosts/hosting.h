/* SPDX-License-Identifier: MIT */
/** hosting.h - what the host programs of tests/hosts/ share: runtimes to call into, and output.
 *
 * A host reads three variables of its environment: HOSTS_RUNTIMES (folders with a libcoreclr.so, separated
 * by colons: one runtime is started for each), HOSTS_GUEST (folder of guest.dll) and HOSTS_TMP (a folder
 * for files of its own). Also built as libhosting.so, for hosts that are not written in C. */
#ifndef SXS_TESTS_HOSTS_HOSTING_H
#define SXS_TESTS_HOSTS_HOSTING_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

enum { HOSTING_MAX = 4 };

/* A running runtime: functions of harness/managed/guest/Exports.cs. Each may be called on any thread. */
struct hosting_guest {
    int (*all)(int rounds);  /* a round of everything; returns how many results were wrong */
    int (*faults)(int n);    /* NullReferenceExceptions; returns how many were caught */
    int (*collect)(int n);   /* collections against a busy thread; returns how many took place */
    int (*compute)(int n);   /* returns the sum of the numbers below n */
    int (*print)(int n);     /* prints "guest: line N"; returns n */
    int (*unhandled)(int n); /* ends the process by an unhandled exception */
    int (*call_back)(int (*callee)(intptr_t),
                     intptr_t argument); /* returns what @callee returned */
};

/* Number of runtimes that HOSTS_RUNTIMES names; ends the process with status 2 when it names none. */
int hosting_len(void);

/* Starts runtime @i (0, 1, ...) and finds its functions. A failure ends the process with status 2 and a
 * line on standard error. One thread at a time. */
void hosting_start_one(int i);

/* Starts all runtimes that have not been started. One thread at a time. */
void hosting_start(void);

/* Functions of runtime @i, which has been started. Static. Any thread. */
const struct hosting_guest *hosting_guest(int i);

/* One round of everything in each started runtime, @rounds times. Returns how many results were wrong. */
int hosting_work(int rounds);

/* Shuts the runtimes down, last first. Returns how many refused. On the thread that started them. */
int hosting_stop(void);

/* Writes one line to standard output, by one write. Any thread; not signal-safe. */
void hosting_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A claim: writes "right: TEXT" or "WRONG: TEXT". Returns @holds. Any thread; not signal-safe. */
bool hosting_claim(bool holds, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* How many claims did not hold so far. Any thread. */
int hosting_n_wrong(void);

/* The value of environment variable @name; ends the process with status 2 when it is not set. Borrowed. */
const char *hosting_env(const char *name);

/* Removes from the environment what starts the profiler, for helper programs. Before an exec. */
void hosting_env_clean(void);

/* Writes "state ..." lines: what this process sees of itself (state.c says which). The calling thread's
 * mask and alternate stack. Not signal-safe. */
void hosting_state(void);

/* The usual end: shows the state, shuts the runtimes down. Returns the exit status: 0, or 1 when a claim
 * did not hold. */
int hosting_end(void);

#endif
