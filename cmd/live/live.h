/* SPDX-License-Identifier: MIT */
/**
 * live.h - follows one recorded process of a session while its files grow.
 *
 * sxs_live_open() opens the session; each sxs_live_look() reads what was recorded since the look
 * before, and adds it to sums: since the beginning, and over the last seconds (the window). So the
 * time of a look depends on the amount of new data, not on the length of the session. A session that has ended can be
 * read the same way.
 *
 * Samples are added one second after they were taken, because the names of new code, and the end of
 * a collection, are recorded after the samples. If an address of a
 * sample still has no name then, the sample waits for two more seconds. The last samples of a session that
 * has ended are added at once, and then the sums are the ones that `sxsprof report` prints.
 *
 * Files are untrusted, as everywhere (session/read/chunks_read.h): damage is skipped and counted.
 * Texts are clean UTF-8 without control characters, and never NULL. Lists that functions return are
 * borrowed until the next call on the same object. One thread at a time; not signal-safe. When
 * memory runs out, the command ends (cmd/output/must.h).
 */
#ifndef SXS_CMD_LIVE_LIVE_H
#define SXS_CMD_LIVE_LIVE_H

#include "cmd/report/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct sxs_live;

/** What to follow. A zeroed object selects the defaults. Strings are borrowed for sxs_live_open(). */
struct sxs_live_options {
    const char *process;   /* a process's folder or pid; NULL: the newest that still runs, or
                                      * else the newest */
    double      window_s;  /* length of the window; 0: 5 s */
    uint64_t    max_bytes; /* that one look reads of each file; 0: 16 MiB. What is left
                                        * is read by the next looks */
    struct sxs_symbol_path
        *symbols;             /* as for a report; borrowed until sxs_live_close(); NULL: none */
    uint64_t (*now_ns)(void); /* CLOCK_MONOTONIC, for tests; NULL: the system's */
};

/** What a look found. */
enum sxs_live_change {
    SXS_LIVE_SAMPLES = 1, /* samples were added to the sums, or left the window */
    SXS_LIVE_COUNTS = 2,  /* counts of runtimes changed (struct sxs_live_runtime) */
    SXS_LIVE_THREADS = 4, /* threads began, ended or got a name */
    SXS_LIVE_COLLECTIONS = 8,
    SXS_LIVE_EXCEPTIONS = 16,
    SXS_LIVE_COMPILATIONS = 32,
    SXS_LIVE_ALLOCATIONS = 64, /* also of native memory */
    SXS_LIVE_LOCKS = 128,
    SXS_LIVE_BEHIND = 256, /* more is there to read: look again without waiting */
    SXS_LIVE_ENDED = 512,  /* the process or its session has ended, and all of it was read */
};

/**
 * sxs_live_open - open the session folder @dir, or one process's folder in it.
 * @out: receives the object, owned; release it by sxs_live_close(). NULL after a failure.
 * @why: receives a sentence about a failure; @why_size bytes.
 * Returns 0, ENOENT when there is no such session or process, or another errno value. Reads nothing
 * but the file "census"; call sxs_live_look() for the rest.
 */
int sxs_live_open(const char *dir, const struct sxs_live_options *options, struct sxs_live **out,
                  char *why, size_t why_size);

/** sxs_live_look - read what is new. Returns bits of enum sxs_live_change. Does not block. */
unsigned sxs_live_look(struct sxs_live *live);

void sxs_live_close(struct sxs_live *live); /* NULL is allowed */

/* ---- the process
 * -------------------------------------------------------------------------------- */

/** Two sums of the same: since the beginning, and in the window. */
struct sxs_live_sum {
    double all, window;
};

/** What the session records. Bits; a view of anything else says "not recorded". */
enum sxs_live_recorded {
    SXS_LIVE_HAS_SAMPLES = 1,       /* tool sample */
    SXS_LIVE_HAS_PAUSES = 2,        /* sample, events or gc */
    SXS_LIVE_HAS_COLLECTIONS = 4,   /* gc: generations, reasons, sizes; events: generations only */
    SXS_LIVE_HAS_HEAP = 8,          /* gc: sizes of the heap */
    SXS_LIVE_HAS_EXCEPTIONS = 16,   /* exceptions: by type and place; the counts are always there */
    SXS_LIVE_HAS_COMPILATIONS = 32, /* events: each of them; the counts are always there */
    SXS_LIVE_HAS_ALLOCATIONS = 64,
    SXS_LIVE_HAS_NATIVE = 128,
    SXS_LIVE_HAS_LOCKS = 256,
};

/** The process as it was at the last look. */
struct sxs_live_process {
    const char *dir;       /* the session's folder */
    const char *folder;    /* the process's folder in it */
    const char *command;   /* its command line */
    uint32_t    pid;       /* as the process sees it */
    unsigned    recorded;  /* bits of enum sxs_live_recorded */
    bool        running;   /* false: the process or its session has ended */
    bool        wall;      /* samples are of wall time, not of CPU time */
    unsigned    hz;        /* asked rate of samples; 0: none */
    double      window_s;  /* length of the window */
    double      covered_s; /* seconds that the window covers: window_s to a tenth more, and less at
                            * first */
    double      counted_s; /* likewise for counts: none are known from before the first look */
    double      seconds;   /* since the session began */
    uint64_t    bytes_read, bytes_left; /* of all files; left: not read yet */
    uint64_t    lost;          /* samples and events dropped for lack of room, and damaged places */
    uint64_t n_unsampled; /* wall: threads that have ended, with time that no sample stands for */
    double   unsampled_s; /* that time */
    size_t      n_waiting;     /* samples that are not in the sums yet */
    struct sxs_live_sum cpu_s; /* CPU time of the samples, in seconds */
    struct sxs_live_sum pause_s;                  /* threads of any runtime suspended */
    struct sxs_live_sum gcs, exceptions, methods; /* counts of all runtimes */
    struct sxs_live_sum allocated;  /* bytes: from tool alloc, or else between collections (gc) */
    uint64_t            heap_bytes; /* of all runtimes after their last collection; 0: not known */
};
const struct sxs_live_process *sxs_live_process(const struct sxs_live *live);

/** sxs_live_is_of - return true when process @pid of this PID namespace writes the session. Reads its memory maps. */
bool sxs_live_is_of(const struct sxs_live *live, pid_t pid);

/** One runtime. */
struct sxs_live_runtime {
    uint32_t            number;
    const char         *version;
    enum sxs_state      state;
    bool                ended;
    uint64_t            threads, modules;         /* managed threads created, modules loaded */
    struct sxs_live_sum gcs, exceptions, methods; /* counts; methods: compiled, every tier */
    struct sxs_live_sum pause_s, cpu_s; /* cpu_s: samples whose youngest frame is its code */
    struct sxs_live_sum allocated;      /* bytes */
    uint64_t            heap_bytes;     /* after its last collection; 0: not known */
};
const struct sxs_live_runtime *sxs_live_runtimes(const struct sxs_live *live, size_t *n);

/* ---- lists
 * -------------------------------------------------------------------------------------- */

/** How a list is sorted: falling, then by the first value since the beginning, then by text. */
enum sxs_live_order {
    SXS_LIVE_BY_WINDOW,  /* the first value of the window: self time, CPU time, count */
    SXS_LIVE_BY_ALL,     /* likewise since the beginning */
    SXS_LIVE_BY_WINDOW2, /* the second value of the window: total time, bytes, ns */
    SXS_LIVE_BY_ALL2,
    SXS_LIVE_BY_TEXT,
};

/** Which rows of a list, and how many. A zeroed object selects the first 100 rows of all. */
struct sxs_live_wanted {
    enum sxs_live_order order;
    uint32_t            runtime;  /* number of a runtime; 0: all */
    const char         *filter;   /* only texts that contain this, in any case; NULL: all */
    bool                recent;   /* only rows with something in the window */
    size_t              first, n; /* n 0: 100 */
};

/**
 * A row of a list. What `first` and `second` are:
 *   functions     self time, total time (s; recursion counted once)
 *   threads       CPU time by samples (s), share of these that the thread waited (s)
 *   allocations   bytes, objects        (by type and runtime; estimates unless `exact`)
 *   native        bytes, blocks
 *   exceptions    exceptions, time from throw to handler (s)   (by type, place and fate)
 *   locks         time waited (s), waits                       (by type of the object)
 *   compilations  time (s), methods                            (by tier)
 */
struct sxs_live_row {
    struct sxs_live_sum first, second;
    const char         *text;    /* function, thread's name, type */
    const char         *detail;  /* exceptions: thrower and catcher; functions: tier; else "" */
    uint32_t            runtime; /* number of the runtime; 0: none, native */
    uint32_t            id;      /* functions: frame of the model; threads: tid; else 0 */
    bool                exact;   /* a count, not an estimate */
    bool                ended;   /* threads: has ended */
};

/** Lists of rows. */
enum sxs_live_list {
    SXS_LIVE_FUNCTIONS,
    SXS_LIVE_THREAD_LIST,
    SXS_LIVE_ALLOCATION_LIST,
    SXS_LIVE_NATIVE_LIST,
    SXS_LIVE_EXCEPTION_LIST,
    SXS_LIVE_LOCK_LIST,
    SXS_LIVE_COMPILATION_LIST,
    SXS_LIVE_N_LISTS
};

/**
 * sxs_live_rows - return the rows of a list that @wanted selects.
 * @n: receives their number. @of: receives the number of rows there would be without first and n;
 * NULL is allowed. Borrowed until the next call on @live.
 */
const struct sxs_live_row *sxs_live_rows(struct sxs_live *live, enum sxs_live_list list,
                                         const struct sxs_live_wanted *wanted, size_t *n,
                                         size_t *of);

/** A collection, newest first. */
struct sxs_live_collection {
    double      at_s;                    /* when it began, in seconds since the session began */
    double      pause_s, duration_s;     /* duration 0: in progress or not known */
    uint32_t    runtime, number, tid;    /* number: 0 when not known */
    uint8_t     generation;              /* SXS_GC_UNKNOWN: not known */
    const char *reason, *type;           /* "" when not known */
    uint64_t    heap_before, heap_after; /* bytes; 0: not known */
};
/** sxs_live_collections - return the newest collections, at most 1000, of @runtime or of all (0). */
const struct sxs_live_collection *sxs_live_collections(struct sxs_live *live, uint32_t runtime,
                                                       size_t *n);

/** A compilation, newest first. */
struct sxs_live_compilation {
    double      at_s, duration_s;
    uint32_t    runtime, tid, bytes;
    uint8_t     tier; /* enum sxs_code_tier */
    bool        failed;
    const char *method;
};
/** sxs_live_compilations - return the newest compilations, at most 1000, of @runtime or of all
 * (0). */
const struct sxs_live_compilation *sxs_live_compilations(struct sxs_live *live, uint32_t runtime,
                                                         size_t *n);

/* ---- the whole
 * ---------------------------------------------------------------------------------- */

/**
 * sxs_live_model - return the samples as the model of a report, for its formats: frames with sums,
 * tree, threads, runtimes, pauses. Without single samples and source lines. Valid until the next
 * sxs_live_look(); borrowed. Do not call sxs_model_sum() on it: its sums are complete.
 */
const struct sxs_model *sxs_live_model(const struct sxs_live *live);

/** sxs_live_problem - return a line about damage of the files: count @index up from 0 until NULL is
 *  returned. Borrowed until the next call. */
const char *sxs_live_problem(struct sxs_live *live, size_t index);

#endif
