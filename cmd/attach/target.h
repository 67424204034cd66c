/* SPDX-License-Identifier: MIT */
/**
 * target.h - attaches to one process, holds its session, and detaches.
 *
 * The functions are called in this order: sxs_target_read(), which only reads /proc; sxs_target_check(),
 * which asks the diagnostics ports which runtimes answer, and changes nothing; sxs_target_attach();
 * sxs_target_poll(), again and again; sxs_target_detach(); sxs_target_close().
 */
#ifndef SXS_CMD_ATTACH_TARGET_H
#define SXS_CMD_ATTACH_TARGET_H

#include "cmd/processes/control_client.h"
#include "cmd/processes/ports.h"
#include "cmd/processes/process.h"
#include "cmd/processes/staging.h"

#include <stdio.h>

#define SXS_TARGET_WHY 2048 /* bytes that are enough for a reason */

/* The time for all steps together, all answers of the process included; the first step has
 * SXS_TARGET_READ_MS of it at most, and the last one SXS_TARGET_LEAST_MS at least. The caller begins the deadline
 * (deadline.h) before it calls sxs_target_read(), sxs_target_check() and sxs_target_attach(). */
#define SXS_TARGET_MS       8000u
#define SXS_TARGET_READ_MS  3000u
#define SXS_TARGET_LEAST_MS 2500u

/**
 * sxs_target_wait_ended - wait while the process ends a session, or has a session that will end because the
 * command that held it has ended.
 * @answer: receives the latest answer to "status".
 * @wait_ms: limit of the wait in milliseconds; the deadline (deadline.h) limits it, too.
 * Returns 0, or an errno value of asking, with a sentence in @why: ECONNREFUSED when it has no control socket.
 */
int sxs_target_wait_ended(const struct sxs_process *p, struct sxs_control_answer *answer,
                          unsigned wait_ms, char why[SXS_CONTROL_WHY]);

/** A request: what is to be recorded. The strings are borrowed. */
struct sxs_target_request {
    const char *tools;                      /* "NAME:OPTIONS;NAME..." */
    const char *pick;                       /* all, first or one:WHAT; NULL: all */
    const char *mask;                       /* as SXSPROF_MASK; NULL: as the process has it */
    const char *library;                    /* path of libsxsprof.so for this command */
    const char *out;                        /* session folder of this command, absolute; exists */
    uint64_t    duration_ms;                /* 0: no limit */
    /* Adds the settings of the recording to a message: tools, pick, mask and all others that are given. */
    void (*add_settings)(const void *arg, struct sxs_message_writer *w);
    const void *arg; /* passed to add_settings(); borrowed */
};

/** A runtime of the process, as this attach sees it. */
struct sxs_target_runtime {
    char version[64];
    int  reached; /* index in ports.runtimes; -1: no port answers for it */
    bool live;    /* the library is loaded by it already */
    bool picked;
};

struct sxs_target {
    struct sxs_process        p;
    struct sxs_ports          ports;
    struct sxs_staging        staging;
    struct sxs_target_runtime runtimes[SXS_MAX_REACHED];
    size_t                    n_runtimes;
    const char               *out;    /* borrowed: the session folder of this command */
    const char               *off;    /* setting that switches its ports off; static; NULL */
    char                      id[33]; /* of the session */
    char                      inside[PATH_MAX]; /* the session folder, as the process sees it */
    char library[PATH_MAX]; /* by which the loader of the process knows the library in it; "": not
                                                  * known, or none is in it */
    bool                      has_library; /* the library was in the process, with runtimes live */
    bool                      attached;    /* a session of ours is on */
    bool                      pending; /* a runtime has not answered: it may load the library yet */
    bool                      stays;       /* with instrument, no runtime can be detached */
    int                       mark; /* of the session folder: that this command lives (base/held.h);
                                            * -1: none */
    int                       hold;        /* connection that holds the session; -1: none */
    int                       pidfd;       /* readable when the process has ended; -1: none */
    unsigned spent_ms; /* of SXS_TARGET_MS - SXS_TARGET_LEAST_MS; the caller counts it */
};

/**
 * sxs_target_read - read what is known of process @pid. A process can keep a reader of /proc waiting in
 * the kernel, so signals should have their default action: a handler would not be called then.
 * @t: release with sxs_target_close(), also after a failure.
 * @why: receives a sentence about a failure, SXS_TARGET_WHY bytes.
 * Returns an exit status: SXS_EXIT_OK, SXS_EXIT_USAGE (2): refused, or SXS_EXIT_FAILED (125).
 */
int sxs_target_read(struct sxs_target *t, pid_t pid, char why[SXS_TARGET_WHY]);

/**
 * sxs_target_check - look at the process that was read, and refuse what cannot work. All its answers
 * together have a few seconds (deadline.h).
 * @why: receives a sentence about a failure, SXS_TARGET_WHY bytes.
 * Returns an exit status: SXS_EXIT_OK, or SXS_EXIT_USAGE (2): refused.
 */
int sxs_target_check(struct sxs_target *t, const struct sxs_target_request *request,
                     char why[SXS_TARGET_WHY]);

/** sxs_target_explain - print which runtimes are not reached, and what each tool does not record on
 *  those that are; @to: NULL prints nothing. Returns the number of tools that record something on at
 *  least one runtime. */
unsigned sxs_target_explain(const struct sxs_target *t, const struct sxs_target_request *request,
                            FILE *to);

/**
 * sxs_target_attach - load the library into the picked runtimes, and begin the session. A runtime that still
 * lets the library of an earlier attach go is asked again, up to the deadline.
 * @why: receives a sentence: after a failure the reason, after a success what is left out, or "".
 * Returns an exit status. After a failure the process has no session, and no runtime has the library;
 * if something could not be undone, @why says so.
 */
int sxs_target_attach(struct sxs_target *t, const struct sxs_target_request *request,
                      char why[SXS_TARGET_WHY]);

enum sxs_target_state {
    SXS_TARGET_ON,
    SXS_TARGET_ENDED, /* the session was ended by another request, or by the library */
    SXS_TARGET_GONE,  /* the process has ended */
};

/** sxs_target_poll - tell how the process is. Waits for nothing. */
enum sxs_target_state sxs_target_poll(struct sxs_target *t);

/**
 * sxs_target_detach - end the session, and detach the library, unless the runtimes had it before.
 * When it returns, the session is in the folder `out` of the request, also when the process has ended.
 * @why: receives a sentence about what failed, or "".
 * Returns an exit status: SXS_EXIT_OK or SXS_EXIT_PROBLEM.
 */
int sxs_target_detach(struct sxs_target *t, char why[SXS_TARGET_WHY]);

/** sxs_target_close - release everything; removes the staging folder. */
void sxs_target_close(struct sxs_target *t);

/**
 * sxs_target_release - "detach": ask the library in process @p to end its session and to leave its
 * runtimes, and wait until it has.
 * @wait_ms: how long. Returns an exit status with a sentence in @why, as above.
 */
int sxs_target_release(const struct sxs_process *p, unsigned wait_ms, char why[SXS_TARGET_WHY]);

#endif
