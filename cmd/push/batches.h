/* SPDX-License-Identifier: MIT */
/**
 * batches.h - cuts what a session has recorded into batches: one per process and minute.
 */
#ifndef SXS_CMD_PUSH_BATCHES_H
#define SXS_CMD_PUSH_BATCHES_H

#include "cmd/push/target.h"

/** What to cut. */
struct sxs_push_cut {
    const struct sxs_opened *session;
    const char             *name;     /* its name for labels and ids: without a path */
    struct sxs_symbol_path *symbols;  /* folders to search for names; NULL: none */
    uint64_t                width_ns; /* of a batch, on the wall clock */
    uint32_t                data; /* bit N: of enum sxs_data N; 0: samples, alloc, native, locks, */
    uint32_t                more; /* and these */
    bool                    quiet; /* print no problems of the session: they were printed before */
};

/** What is to be cut of one process. */
struct sxs_push_span {
    uint64_t from_ns, to_ns; /* CLOCK_REALTIME; to_ns 0: to the end, with the last, incomplete
                              * minute */
};

/** Called for each batch in order of time. @next_ns: all data before this time are in this batch or
 *  an earlier one. Returns 0 or a negative errno, which ends the cutting. */
typedef int sxs_push_take(void *arg, const struct sxs_push_batch *b, uint64_t next_ns);

/**
 * sxs_push_cut - call @take for each batch of a process.
 * @process: of cut->session. @settings: whose service it is. Prints problems of the session; @damaged
 * is set to true when there are some.
 * Returns 0, a negative errno, or what @take returned. */
int sxs_push_cut(const struct sxs_push_cut *cut, const struct sxs_push_settings *settings,
                 const struct sxs_session_process *process, const struct sxs_push_span *span,
                 sxs_push_take *take, void *arg, bool *damaged);

/** When a process's file "samples" began, and whether it is still being written. */
struct sxs_push_clock {
    uint64_t began_ns; /* CLOCK_REALTIME; 0: the process has no such file */
    bool     ended;    /* the tools were stopped, or the process is gone */
};

/** sxs_push_clock_of - read the header of a process's samples. */
struct sxs_push_clock sxs_push_clock_of(const char *dir, const struct sxs_session_process *process);

/** sxs_push_service_of - write the name of a program to @buf: of its command line, the assembly that
 *  dotnet runs, or the program's own name, without folders and extension. Never "". Returns @buf. */
const char *sxs_push_service_of(const char *command, char *buf, size_t size);

/** sxs_push_data - the data that can be pushed, in order of models; SXS_DATA_ANY ends the list. */
extern const enum sxs_data sxs_push_data[];

/** The bits of the data that every target takes. */
#define SXS_PUSH_COMMON_DATA \
    (1u << SXS_DATA_SAMPLES | 1u << SXS_DATA_ALLOC | 1u << SXS_DATA_NATIVE | 1u << SXS_DATA_LOCKS)

#endif
