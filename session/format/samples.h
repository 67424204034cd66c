/* SPDX-License-Identifier: MIT */
/**
 * samples.h - the format of the file "samples" in a process's session folder.
 *
 * The file is a header of one page, then chunks of records (session/format/chunks.h). Signal
 * handlers and threads write it concurrently. docs/internals/session.md describes the same bytes.
 */
#ifndef SXS_SESSION_FORMAT_SAMPLES_H
#define SXS_SESSION_FORMAT_SAMPLES_H

#include <stddef.h>

#include "session/format/chunks.h"

#define SXS_SAMPLES_MAGIC   "SXSSAMP" /* 8 bytes with its zero */
#define SXS_SAMPLES_VERSION 1u
#define SXS_SAMPLES_FILE    "samples"
#define SXS_MAX_STACK       512u /* IPs of one sample; a longer stack loses its oldest frames */

/** How a stack walk ended. Reports print the texts. */
#define SXS_SAMPLE_ENDS(X)                              \
    X(BOTTOM, "bottom of the stack")                    \
    X(CUT, "longer than can be recorded")               \
    X(TIMEOUT, "time limit")                            \
    X(BAD_FRAME, "frame pointer leads nowhere")         \
    X(OFF_STACK, "frame outside the thread's stack")    \
    X(NO_TABLE, "no unwind table for this code")        \
    X(ON_ALTSTACK, "inside a runtime's fault handling") \
    X(FAILED, "the walker failed")                      \
    X(NOT_INTERRUPTED, "waits in a call that a signal would prolong")
enum sxs_sample_end {
#define X(name, text) SXS_SAMPLE_END_##name,
    SXS_SAMPLE_ENDS(X)
#undef X
        SXS_N_SAMPLE_ENDS
};

enum sxs_sample_mode { SXS_MODE_CPU = 1, SXS_MODE_WALL = 2 };
enum sxs_sample_walker { SXS_WALKER_FAST = 1, SXS_WALKER_UNWIND = 2, SXS_WALKER_SNAPSHOT = 3 };
enum sxs_sample_clock { SXS_CLOCK_CPU_TIMER = 1, SXS_CLOCK_PERF = 2, SXS_CLOCK_MONOTONIC = 3,
                        SXS_CLOCK_ROUNDS = 4 /* one thread asks the others for samples */ };

/**
 * Counts of the walker "snapshot", which compares the fast walk of a stopped stack with the frames
 * that the runtimes report. First counts of stacks: those compared; of these, those that are alike
 * and those that differ in one of three ways. Then counts of frames: those reported, and managed
 * frames that no runtime ever reports. Then stacks that were not compared, by reason. Reports print
 * the texts.
 */
#define SXS_COMPARED(X)                                                                   \
    X(STACKS, "stacks compared")                                                          \
    X(ALIKE, "with the same managed frames")                                              \
    X(LACKING, "where the fast walk lacks frames")                                        \
    X(EXCESS, "where the fast walk has frames that are not there")                        \
    X(OTHER, "where both is the case")                                                    \
    X(FRAMES, "frames reported in them")                                                  \
    X(NO_METADATA, "frames of dynamic methods and stubs, which no runtime reports")       \
    X(FUNCLETS, "frames of catch and finally blocks, which no runtime reports")           \
    X(UNWOUND, "frames that an exception has left behind, which no runtime reports")      \
    X(DISPATCH, "frames of a runtime's own exception handling, which it does not report") \
    X(ENTERING, "frames that were just entering or leaving their runtime")                \
    X(PINVOKES, "frames reported where a P/Invoke began, not where it was called")        \
    X(MOVED, "stacks that changed while they were looked at")                             \
    X(REFUSED, "stacks that a runtime refused to tell")                                   \
    X(UNWALKED, "stacks whose thread did not answer in time")                             \
    X(BROKEN_OFF, "stacks longer than the fast walk goes, or on a signal's own stack")    \
    X(BUSY, "times that a runtime could not be suspended")
enum sxs_compared {
#define X(name, text) SXS_COMPARED_##name,
    SXS_COMPARED(X)
#undef X
        SXS_N_COMPARED
};

/** The first SXS_HEADER_SIZE bytes. */
struct sxs_samples_header {
    char             magic[8];
    uint32_t         version;
    uint32_t         chunk_size;
    uint32_t         pid;
    uint16_t         mode, walker; /* enum sxs_sample_mode, enum sxs_sample_walker */
    uint32_t         asked_hz;
    uint32_t         clock; /* enum sxs_sample_clock: the clock that triggers samples */
    uint64_t         started_realtime_ns;
    uint64_t         started_ns; /* CLOCK_MONOTONIC, as all times in records */
    _Atomic uint64_t ended_ns;   /* 0: still running, or ended without a shutdown of the tool */
    _Atomic uint32_t n_chunks;   /* chunks in the file */
    uint32_t         max_chunks; /* limit of n_chunks */
    _Atomic uint64_t n_samples;
    _Atomic uint64_t n_dropped;       /* samples dropped because the file had no room */
    _Atomic uint64_t n_ends[16];      /* number of walks by enum sxs_sample_end */
    _Atomic uint64_t handler_ns;      /* time spent in the signal handler, sum over all samples */
    char             command[1024];   /* command line of the process, zero-terminated */
    _Atomic uint64_t n_unlisted;      /* threads not sampled for lack of room: a lower bound */
    _Atomic uint64_t n_short_threads; /* threads that lived < 50 ms, without a sample or a record */
    _Atomic uint64_t short_cpu_ns;    /* CPU time of those threads */
    _Atomic uint64_t n_compared[SXS_N_COMPARED]; /* by enum sxs_compared; walker snapshot only */
    /* By enum sxs_cost_kind: */
    _Atomic uint64_t n_costs[8];         /* COST records */
    _Atomic uint64_t n_costs_dropped[8]; /* not recorded because the file had no room */
    uint64_t cost_interval[8];      /* bytes from one recorded cost to the next, on average; 0: the
                                     * tool was not on; 1: every one was recorded */
    uint64_t         cost_live[8];  /* 1: RELEASED records say which are gone */
    /* RELEASED, LIVE and TOTAL records not written because the file had no room */
    _Atomic uint64_t n_notes_dropped;
    /* Contexts of samples (struct sxs_sample_context): */
    uint64_t         has_contexts;      /* 1: they were asked for */
    _Atomic uint64_t n_contexts;        /* recorded */
    _Atomic uint64_t n_contexts_missed; /* could not be read: the runtime was about to collect... */
    /* Bit N: which objects of runtime N were recorded was not chosen at random, but by amounts. The sums
     * of its allocations have an error that is not known. */
    _Atomic uint64_t biased_runtimes;
    /* By number of the runtime: all its objects were collected that were garbage then. Objects allocated
     * before this time, whose cost has no RELEASED record, were alive; later ones may be garbage. 0: no
     * collection of all objects is known. */
    _Atomic uint64_t live_checked_ns[64];
    /* Wall: threads with time that no sample stands for, and that time; CPU time: threads most of whose
     * CPU time no sample stands for, or to which signals were refused, and that time. 0 in earlier sessions. */
    _Atomic uint64_t n_unsampled, unsampled_ns;
    /* By enum sxs_cost_kind: what the costs stood for that n_costs_dropped counts, n and n times value,
     * each rounded down; 0 in earlier sessions. */
    _Atomic uint64_t costs_dropped_n[8], costs_dropped_value[8];
    /* Threads that were sampled in rounds, because the system refused them a clock, and the first errno;
     * signals to threads that it refused, likewise. 0 in earlier sessions. */
    _Atomic uint64_t n_without_clock, without_clock_errno;
    _Atomic uint64_t n_signals_refused, signals_refused_errno;
};

enum sxs_record_type {
    SXS_RECORD_NONE = 0,
    SXS_RECORD_SAMPLE = 1,
    SXS_RECORD_THREAD = 2,
    SXS_RECORD_MODULE = 3,
    SXS_RECORD_CODE = 4,
    SXS_RECORD_RUNTIME = 5,
    SXS_RECORD_PAUSE = 6,
    SXS_RECORD_DIFFERENCE = 7,
    SXS_RECORD_COST = 8,
    SXS_RECORD_NAME = 9,
    SXS_RECORD_RELEASED = 10,
    SXS_RECORD_LIVE = 11,
    SXS_RECORD_TOTAL = 12,
    SXS_RECORD_POOL = 13,
};

/** Whether a thread was running, and, if reasons were asked for, what the kernel says it waited in. */
enum sxs_waiting {
    SXS_RUNNING = 0,
    SXS_WAITS = 1,           /* the reason is not known */
    SXS_WAITS_LOCK = 2,      /* futex: a lock, an event, a condition */
    SXS_WAITS_SLEEP = 3,     /* for a time */
    SXS_WAITS_POLL = 4,      /* for one of several files or sockets: poll, select, epoll */
    SXS_WAITS_IO = 5,        /* for a file or socket: read, write, accept... */
    SXS_WAITS_PROCESS = 6,   /* for the end of another process */
    SXS_WAITS_SIGNAL = 7,    /* for a signal */
    SXS_WAITS_DISK = 8,      /* uninterruptible: usually for a disk, or for a page of memory */
    SXS_WAITS_PROCESSOR = 9, /* it could run, but others do */
    SXS_WAITS_STOPPED = 10,  /* by a debugger or a signal */
    SXS_WAITS_OTHER = 11,    /* in another system call */
    SXS_N_WAITING
};

struct sxs_record_sample {
    struct sxs_record head;
    uint64_t          time_ns;
    uint64_t          weight_ns; /* CPU or wall time that this sample represents */
    uint32_t          tid;
    uint8_t           end;     /* enum sxs_sample_end */
    uint8_t           waiting; /* enum sxs_waiting; wall only */
    uint16_t          n;       /* number of IPs that follow */
    uint64_t          ips[];   /* youngest first; all but the first are return addresses */
    /* After the IPs: struct sxs_sample_context, as many as the record's size has room for. */
};

/** Where the name of an endpoint comes from. A greater one is the better name. */
enum sxs_endpoint_source {
    SXS_ENDPOINT_NAME,  /* the name of an Activity */
    SXS_ENDPOINT_PATH,  /* the path of the request, with numbers and GUIDs replaced */
    SXS_ENDPOINT_ROUTE, /* the route of the endpoint */
};

/** The Activity (System.Diagnostics) that was current on the thread of a sample. A thread has a
 *  current Activity, or none, in each runtime to which it belongs. */
struct sxs_sample_context {
    uint8_t  trace[16]; /* id of the trace and of the span: W3C Trace Context */
    uint8_t  span[8];
    uint32_t endpoint; /* what the request is called: number of a NAME record; 0: not known */
    uint16_t runtime;  /* number of the runtime */
    uint16_t source;   /* enum sxs_endpoint_source; 0 in earlier sessions */
};

/** A thread. The same tid can have several records: another one when the thread gets a name, and
 *  one with ended_ns when it ends. Whole names are in the file "threads". Records of earlier sessions
 *  end before name_ns, or before born_ns. */
struct sxs_record_thread {
    struct sxs_record head;
    uint32_t          tid;
    uint32_t          zero;
    uint64_t          runtimes;             /* bit N: the thread belongs to runtime number N */
    uint64_t          started_ns, ended_ns; /* when it was found, and when it ended; 0: not known */
    char              name[16];             /* in the kernel, zero-terminated */
    uint64_t          cpu_ns;               /* the thread's CPU time at its end; 0: not known */
    uint64_t          name_ns;              /* when the name was read */
    /* Wall: time of its life that no sample stands for; CPU time: the same of its CPU time, if that is most of it,
     * or signals to it were refused. Known at its end, or that of the session. */
    uint64_t unsampled_ns;
    /* When the kernel started a thread that was found later: a clock tick too early at most, or by how long the
     * machine has slept since. 0: not known. */
    uint64_t born_ns;
};

/** An ELF file mapped into the process. */
struct sxs_record_module {
    struct sxs_record head;
    uint64_t          time_ns;
    uint64_t          base;   /* load bias: address = base + ELF virtual address */
    uint64_t          lo, hi; /* range of its executable addresses */
    uint8_t           build_id[20];
    uint8_t           build_id_size;
    uint8_t           unloaded;  /* 1: unloaded at time_ns */
    uint16_t          path_size; /* bytes of path, without a terminating zero */
    char              path[];
};

enum sxs_code_tier {
    SXS_TIER_UNKNOWN, SXS_TIER_0, SXS_TIER_1, SXS_TIER_OSR, SXS_TIER_R2R, SXS_TIER_STUB,
    SXS_TIER_DYNAMIC, SXS_TIER_OPTIMIZED, /* compiled once, without tiers */
};

/** A range of machine code of a runtime, valid from time_ns until another record covers the same
 *  addresses. After the struct's fixed part follow the name, the path, and then, aligned to 8
 *  bytes, the lines. */
struct sxs_record_code {
    struct sxs_record head;
    uint64_t          time_ns;
    uint64_t          lo, hi;
    uint64_t          function; /* the runtime's FunctionID, equal for all versions of a method */
    uint32_t          rejit;    /* ReJIT version, 0 for the original */
    uint32_t          token;    /* mdMethodDef, 0 if none */
    uint16_t          runtime;  /* number of the runtime; 0: code of another JIT compiler */
    uint8_t           tier;     /* enum sxs_code_tier */
    uint8_t           zero;
    uint16_t          name_size; /* bytes of the name: Namespace.Type.Method(parameters) */
    uint16_t          file_size; /* bytes of the assembly's path; 0 if none */
    uint32_t          n_lines;   /* number of struct sxs_code_line */
    char              text[];
};
/** The IL offset of the code that begins at a native offset. Sorted by native offset. */
struct sxs_code_line {
    uint32_t native_offset, il_offset;
};

struct sxs_record_runtime {
    struct sxs_record head;
    uint32_t          number;
    uint16_t          version_size, path_size; /* bytes of version and path in text */
    char              text[];                  /* version, then path of libcoreclr.so */
};

/** A suspension of a runtime, from the request to suspend its threads to their resumption. */
struct sxs_record_pause {
    struct sxs_record head;
    uint64_t          time_ns, duration_ns;
    uint16_t          runtime; /* number of the runtime */
    uint16_t          reason;  /* COR_PRF_SUSPEND_REASON */
    uint32_t          tid;     /* thread that suspended the others; usually it also runs the
                               * collection */
};

/** Result for one frame when the fast walk of a stack ("walked") is compared with the frames that
 *  the runtimes report ("reported"). */
enum sxs_frame_verdict {
    SXS_VERDICT_NATIVE,      /* native frame: not compared */
    SXS_VERDICT_SAME,        /* walked and reported */
    SXS_VERDICT_LACKING,     /* reported, but not walked */
    SXS_VERDICT_EXCESS,      /* walked, not reported, though the runtime reports such frames */
    SXS_VERDICT_NO_METADATA, /* walked; code of a kind that runtimes never report */
    SXS_VERDICT_FUNCLET,     /* walked; a catch or finally block of a function that is reported */
    SXS_VERDICT_UNWOUND,     /* walked; between such a block and its function */
    SXS_VERDICT_DISPATCH,    /* walked; the runtime's own managed code that handles exceptions */
    SXS_VERDICT_ENTERING,    /* walked; called from native code: enters or leaves its runtime */
};

/** A stack for which the fast walk and the runtimes' reports differ. The frames of both are merged
 *  into one list by rising SP, with one entry for each pair of SP and IP. */
struct sxs_record_difference {
    struct sxs_record head;
    uint64_t          time_ns;
    uint32_t          tid;
    uint8_t           kind; /* enum sxs_compared: LACKING, EXCESS or OTHER */
    uint8_t           end;  /* enum sxs_sample_end: of the fast walk */
    uint16_t          n;    /* number of frames that follow */
    struct sxs_compared_frame {
        uint64_t sp, ip;
        uint64_t function; /* the runtime's FunctionID, 0 if none */
        uint16_t runtime;  /* number of the runtime, 0 for native code */
        uint16_t verdict;  /* enum sxs_frame_verdict */
        uint32_t zero;
    } frames[];
};

/** What a cost is: something that took memory or time. */
enum sxs_cost_kind {
    SXS_COST_ALLOCATION = 1, /* an object was allocated; value: its bytes */
    SXS_COST_NATIVE = 2,     /* memory outside of the runtimes' heaps was allocated; value: bytes */
    SXS_COST_LOCK = 3,       /* a thread waited for a monitor; value: how long, in ns */
    SXS_COST_LOCK_OWNER = 4, /* the stack of the thread that held it, at the beginning of the wait */
    SXS_N_COST_KINDS
};

enum sxs_cost_flag {
    SXS_COST_LARGE = 1,     /* on the large object heap */
    SXS_COST_PINNED = 2,    /* on the pinned object heap */
    SXS_COST_MAPPED = 4,    /* native memory by mmap() */
    SXS_COST_OPEN = 8,      /* the wait has not ended; value: how long it has taken until now. The
                          * flag is cleared, and the value updated, in place. */
    SXS_COST_AT_LEAST = 16, /* TOTAL: the runtime does not report all objects of this type */
};

/** A cost with the stack of its thread. It stands for several such costs if only some are recorded:
 *  for n of them, of `value` each. */
struct sxs_record_cost {
    struct sxs_record head;
    uint64_t          time_ns;
    uint64_t          id;      /* other records refer to the cost by it; 0: none does */
    double            n;       /* number of costs that it stands for, an estimate; 1: itself */
    uint64_t          value;   /* of one of them: bytes or ns, see enum sxs_cost_kind */
    uint64_t          related; /* LOCK: thread number (tid) of the owner, 0 when not known;
                                * LOCK_OWNER: the id of the waiter's cost; else 0 */
    uint32_t          tid;     /* the thread whose stack it is */
    uint32_t          name;    /* the object's type: number of a NAME record; 0: not known */
    uint16_t          runtime; /* number of the runtime; 0: none */
    uint8_t           kind;    /* enum sxs_cost_kind */
    uint8_t           flags;   /* bits of enum sxs_cost_flag */
    uint8_t           end;     /* enum sxs_sample_end */
    uint8_t           zero;
    uint16_t          n_ips;   /* number of IPs that follow */
    uint64_t          ips[];   /* youngest first; all but the first are return addresses */
};

/** A text that other records refer to by its number. Written before the first of these. */
struct sxs_record_name {
    struct sxs_record head;
    uint32_t          number;  /* from 1; unique in the file */
    uint16_t          runtime; /* number of the runtime that it is of; 0: none */
    uint16_t          size;    /* bytes of the text, UTF-8, without a terminating zero */
    char              text[];
};

/** The object or the memory of a cost is no longer there. */
struct sxs_record_released {
    struct sxs_record head;
    uint64_t          time_ns;
    uint64_t          id; /* of the cost */
};

/** The object of a cost was still alive at this time. The last such record of a cost counts. */
struct sxs_record_live {
    struct sxs_record head;
    uint64_t          time_ns;
    uint64_t          id;          /* of the cost */
    uint32_t          collections; /* number of collections that the object has survived */
    uint8_t           generation;  /* 0 to 2; 3: large, 4: pinned, 5: frozen; 255: not known */
    uint8_t           zero[3];
};

/** Exact counts of one type. Updated in place as long as the process runs. */
struct sxs_record_total {
    struct sxs_record head;
    uint32_t          name;    /* number of a NAME record */
    uint16_t          runtime; /* number of the runtime */
    uint8_t           kind;    /* enum sxs_cost_kind */
    uint8_t           flags;   /* bits of enum sxs_cost_flag */
    _Atomic uint64_t  n, value; /* number of costs; sum of their bytes or ns */
};

/** What happened to a runtime's thread pool. */
enum sxs_pool_change {
    SXS_POOL_STARTED = 1,  /* a thread of the pool has started; value: threads now */
    SXS_POOL_STOPPED = 2,  /* one has ended; value: threads now */
    SXS_POOL_ADJUSTED = 3, /* the pool changed how many threads it wants; value: that number */
    SXS_POOL_QUEUED = 4,   /* value: items that waited for a thread at that time */
    SXS_N_POOL_CHANGES
};

/** Why a pool wants another number of threads, as the runtime says it. Reports print the texts. */
#define SXS_POOL_REASONS(X)                                  \
    X(WARMUP, "warm-up")                                     \
    X(INITIALIZING, "initializing")                          \
    X(RANDOM, "random move")                                 \
    X(CLIMBING, "climbing move")                             \
    X(CHANGE, "change point")                                \
    X(STABILIZING, "stabilizing")                            \
    X(STARVATION, "starvation")                              \
    X(TIMED_OUT, "a thread had no work")                     \
    X(BLOCKING, "threads block on tasks")
enum sxs_pool_reason {
#define X(name, text) SXS_POOL_REASON_##name,
    SXS_POOL_REASONS(X)
#undef X
        SXS_N_POOL_REASONS
};

struct sxs_record_pool {
    struct sxs_record head;
    uint64_t          time_ns;
    uint32_t          value;
    uint16_t          runtime; /* number of the runtime */
    uint8_t           change;  /* enum sxs_pool_change */
    uint8_t           reason;  /* ADJUSTED: enum sxs_pool_reason, or a later one; else 0 */
};

_Static_assert(sizeof(struct sxs_samples_header) <= SXS_HEADER_SIZE, "the header is one page");
_Static_assert(sizeof(struct sxs_record_sample) == 32, "part of the format");
_Static_assert(sizeof(struct sxs_sample_context) == 32, "part of the format");
#define SXS_RECORD_THREAD_MIN 64u /* bytes of an earlier struct sxs_record_thread */

_Static_assert(offsetof(struct sxs_record_thread, name_ns) == SXS_RECORD_THREAD_MIN,
               "part of the format");
_Static_assert(sizeof(struct sxs_record_module) == 64, "part of the format");
_Static_assert(sizeof(struct sxs_record_code) == 64, "part of the format");
_Static_assert(sizeof(struct sxs_record_pause) == 32, "part of the format");
_Static_assert(offsetof(struct sxs_record_difference, frames) == 24, "part of the format");
_Static_assert(sizeof(struct sxs_compared_frame) == 32, "part of the format");
_Static_assert(sizeof(struct sxs_record_cost) == 64, "part of the format");
_Static_assert(sizeof(struct sxs_record_name) == 16, "part of the format");
_Static_assert(sizeof(struct sxs_record_released) == 24, "part of the format");
_Static_assert(sizeof(struct sxs_record_live) == 32, "part of the format");
_Static_assert(sizeof(struct sxs_record_total) == 32, "part of the format");
_Static_assert(sizeof(struct sxs_record_pool) == 24, "part of the format");

#endif
