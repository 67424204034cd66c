/* SPDX-License-Identifier: MIT */
/**
 * calls.h - the format of the file "calls" in a process's session folder: counts and times of
 * calls, by call path or by function.
 *
 * The file is a header of one page, then chunks of SXS_CALLS_CHUNK bytes. All data lie in cells of
 * 64 bytes. A reference (sxs_calls_ref) is the number of a cell, counted from the first chunk.
 * Reference 0 means "none", because the first cell of each chunk is the chunk's header. The library
 * maps the file shared and counts in it, so the counts survive any end of the process. A chunk
 * belongs to one thread of the process at a time, or to the library.
 *
 *   header -> functions, linked by `next`
 *          -> threads, linked by `next` -> root node -> nodes, linked by `child` and `sibling`
 *                                                       -> histogram, one per thread and function
 *                            -> blocks of events, linked by `next`, when traced calls are recorded
 *          -> notes on functions that are not instrumented, linked by `next`
 *
 * Times are ticks of the processor's time stamp counter. The header has two pairs of tick and
 * nanosecond, which convert ticks to time. All integers are little-endian.
 */
#ifndef SXS_SESSION_FORMAT_CALLS_H
#define SXS_SESSION_FORMAT_CALLS_H

#include <stdatomic.h>
#include <stdint.h>

#define SXS_CALLS_MAGIC       "SXSCALL" /* 8 bytes with its zero */
#define SXS_CALLS_VERSION     3u
#define SXS_CALLS_VERSION_2   2u /* as 3, but a function's text begins where tail_left is in 3 */
#define SXS_CALLS_FILE        "calls"
#define SXS_CALLS_HEADER      4096u
#define SXS_CALLS_CHUNK       (64u << 10)
#define SXS_CALLS_CELL        64u
#define SXS_CALLS_CELLS       (SXS_CALLS_CHUNK / SXS_CALLS_CELL)
#define SXS_CALLS_CHUNK_MAGIC 0x4b4e4843u /* "CHNK" */

enum sxs_calls_mode {
    SXS_CALLS_COUNT = 1, /* number of calls of each function */
    SXS_CALLS_TIME = 2,  /* number and time of the calls of each function */
    SXS_CALLS_TREE = 3,  /* number and time of the calls of each call path */
};

typedef uint32_t sxs_calls_ref; /* number of a cell; 0: none */

/** The first page. */
struct sxs_calls_header {
    char                  magic[8];
    uint32_t              version;
    uint32_t              chunk_size;
    uint32_t              pid;
    uint32_t              mode; /* enum sxs_calls_mode */
    uint64_t              started_realtime_ns;
    uint64_t              started_tick, started_ns; /* taken together; CLOCK_MONOTONIC */
    _Atomic uint64_t      seen_tick, seen_ns; /* a later pair: every 10 to 80 ms and at the end */
    _Atomic uint64_t      ended_ns; /* 0: still running, or ended without a shutdown of the tool */
    _Atomic uint32_t      n_chunks; /* chunks in the file */
    _Atomic uint32_t      n_taken;  /* chunks in use; after the end it may exceed n_chunks */
    uint32_t              max_chunks; /* limit of n_chunks */
    _Atomic uint32_t      n_functions;
    _Atomic sxs_calls_ref functions, threads; /* heads of the two lists: the latest of each */
    _Atomic uint64_t      functions_lost;     /* functions selected, but not hooked: no memory */
    _Atomic uint64_t      threads_lost;       /* calls on threads for which the file had no room */
    _Atomic uint64_t      skipped;            /* compiled functions that were not selected */
    char                  command[1024];      /* command line of the process, zero-terminated */
    uint32_t              max_blocks; /* limit of n_blocks; 0: traced calls are not recorded */
    _Atomic uint32_t      n_blocks;   /* blocks of events in use */
    _Atomic sxs_calls_ref notes;      /* head of the list of notes: the latest */
    uint32_t              inlining;   /* 1: the JIT was allowed to inline hooked functions */
    _Atomic uint64_t      notes_lost; /* notes dropped because the file had no room */
};

/** The first cell of a chunk. */
struct sxs_calls_chunk {
    uint32_t magic; /* SXS_CALLS_CHUNK_MAGIC */
    uint32_t index; /* of this chunk in the file, from 0 */
    uint32_t owner; /* tid of the thread that took the chunk; 0: the library. After the thread's end
                     * another thread may use the cells that are left. */
    uint32_t zero[13];
};

/** A hooked function. Its texts continue in as many following cells as they need. */
struct sxs_calls_function {
    sxs_calls_ref    next;
    uint32_t         number;               /* 0, 1, 2... in this process */
    uint64_t         function;             /* the runtime's FunctionID */
    uint32_t         token;                /* mdMethodDef, 0: none */
    uint32_t         runtime;              /* number of the runtime */
    uint16_t         name_size, file_size; /* bytes in text: name, then path of the assembly */
    _Atomic uint32_t backed_off; /* 1: too many short calls, so they are no longer timed */
    _Atomic uint32_t compiled;   /* number of compilations with hooks: tiers, ReJIT */
    _Atomic uint32_t inlining;   /* number of times the JIT asked whether it may be inlined */
    uint64_t         first_tick; /* tick of its first compilation */
    _Atomic uint32_t tail_left;  /* calls that it ended by a tail call */
    _Atomic uint32_t tail_called; /* calls of it that a counted function made as tail calls */
    _Atomic uint32_t tail_late;   /* of tail_left: no hook saw the callee return, so the call's time
                                   * ends at the thread's next hook */
    _Atomic uint32_t
         tail_looped; /* of tail_left: calls ended because a function of the same chain of
                                   * tail calls was called again */
    char text[];      /* in the following cells */
};

enum sxs_calls_note_kind {
    SXS_CALLS_NOTE_PATTERN = 1, /* a pattern; count: modules that match it, more: functions */
    SXS_CALLS_NOTE_RUNTIME = 2, /* settings of a runtime; count 1: attached while it ran, so
                                 * earlier code has no hooks */
    SXS_CALLS_NOTE_DYNAMIC = 3, /* a dynamic method or a stub; count: compilations */
    SXS_CALLS_NOTE_INLINED = 4, /* a caller of `function`; count: times it may have been inlined */
    SXS_CALLS_NOTE_METHODS = 5, /* methods that match a pattern in a module; count: methods */
};

/** A note on functions whose calls are not counted, or on the reason. Its text continues in as many
 *  following cells as it needs. */
struct sxs_calls_note {
    sxs_calls_ref    next;
    uint32_t         kind;     /* enum sxs_calls_note_kind */
    uint32_t         runtime;  /* number of the runtime; 0: none */
    uint32_t         size;     /* bytes of text */
    sxs_calls_ref    function; /* 0: none */
    uint32_t         zero;
    _Atomic uint64_t count, more; /* by kind; see enum sxs_calls_note_kind */
    char             text[24];    /* continues in the following cells */
};

/** The kind of a method in the text of a note of kind METHODS. The text is the module's path and a
 *  zero byte, then for each method its token (4 bytes), an enum sxs_calls_method (1 byte), its name
 *  Namespace.Outer+Inner.Method and a zero byte. */
enum sxs_calls_method {
    SXS_CALLS_METHOD_CODE = 0,      /* the method has an IL body */
    SXS_CALLS_METHOD_ABSTRACT = 1,  /* derived types implement it */
    SXS_CALLS_METHOD_NATIVE = 2,    /* P/Invoke */
    SXS_CALLS_METHOD_RUNTIME = 3,   /* the runtime implements it */
    SXS_CALLS_METHOD_INTRINSIC = 4, /* the JIT may expand it at the call site */
    SXS_CALLS_METHODS
};

/** A thread that has called hooked functions. Two cells. */
struct sxs_calls_thread {
    sxs_calls_ref    next;
    sxs_calls_ref    root; /* a node without function; its children are the oldest calls */
    uint32_t         tid;
    _Atomic uint32_t ended; /* 1: the thread has ended */
    uint64_t         started_tick;
    _Atomic uint64_t ended_tick;
    _Atomic uint64_t runtimes;   /* bit N: the thread has run code of runtime number N */
    _Atomic uint64_t nodes_lost; /* calls counted in the caller's node, for lack of a node */
    _Atomic uint64_t too_deep;   /* calls deeper than the shadow stack */
    _Atomic uint64_t unmatched;  /* leaves without an enter: the call began before the hooks did */
    /* second cell */
    _Atomic uint64_t unwound;     /* frames that an exception left */
    _Atomic uint64_t stale;       /* frames that were gone, with no leave or exception reported */
    char             name[16];    /* in the kernel, zero-terminated: at the first call, then at its
                                   * end. Whole names are in the file "threads" */
    sxs_calls_ref    events;      /* the first block of events, 0: none */
    sxs_calls_ref    pending_of;  /* the histogram that `pending` belongs to, 0: none */
    _Atomic uint64_t events_lost; /* enters and leaves that found no room; the tree counts them */
    uint64_t         pending;     /* ticks of the last call; added to its histogram later */
    _Atomic uint64_t values_lost; /* arguments and results dropped because the file had no room */
};

enum sxs_calls_event_kind {
    SXS_CALLS_ENTER = 1,
    SXS_CALLS_LEAVE = 2,
    SXS_CALLS_UNWOUND = 3, /* the end of a call that an exception left */
    SXS_CALLS_TEXT = 4, /* values of the event right before it: arguments of an ENTER, result of a
                         * LEAVE */
};

/** The beginning or the end of a call. The tick is written last; a tick of 0 marks the end of the
 *  events of a block. */
struct sxs_calls_event {
    uint64_t      tick;
    sxs_calls_ref node; /* node of the call */
    uint32_t      kind; /* enum sxs_calls_event_kind; for TEXT also the size in bytes, << 8 */
};

/** The bytes of a text follow its event in the same block and take the places of as many events as
 *  they need. A text that does not fit into a block goes into the next one, and the rest of the
 *  block stays zero. Texts are UTF-8 without control characters. */
#define SXS_CALLS_TEXT_MAX    512u
#define SXS_CALLS_TEXT_SLOTS(size) \
    (((size) + sizeof(struct sxs_calls_event) - 1) / sizeof(struct sxs_calls_event))

/** A block of events: one cell with this header, then the events in order of time. */
#define SXS_CALLS_BLOCK_CELLS 255u /* four blocks fit into a chunk */
#define SXS_CALLS_BLOCK_EVENTS \
    ((SXS_CALLS_BLOCK_CELLS - 1) * SXS_CALLS_CELL / sizeof(struct sxs_calls_event))
struct sxs_calls_block {
    sxs_calls_ref next;
    uint32_t      zero[15];
};

/** A call path on one thread: calls of `function` by the function of the parent node. In modes
 *  without a tree every node is a child of the root and stands for a function. */
struct sxs_calls_node {
    sxs_calls_ref parent;
    sxs_calls_ref function; /* 0: this is the root */
    uint64_t      calls;
    uint64_t      ticks;   /* ticks of ended calls including callees; recursion counted once */
    uint64_t      entered; /* tick at which the call in progress began; 0: none in progress */
    sxs_calls_ref child;   /* head of the list of children: the latest */
    sxs_calls_ref sibling; /* next child of the same parent */
    sxs_calls_ref latest;  /* the child that was called last */
    sxs_calls_ref histogram;
    uint64_t      self;    /* without a tree: ticks without those of callees. With a tree, 1: the
                            * function was not called here, it awaits the functions below it, and
                            * its time is theirs */
    uint32_t      unwound; /* calls that an exception left */
    uint32_t      active;  /* calls in progress; only without a tree */
};

/** Durations of the calls of one function on one thread in log-linear buckets. Octave N holds
 *  durations of 2^N to 2^(N+1) - 1 ticks; octave 3 also those below 8 ticks. */
#define SXS_CALLS_OCTAVES 58u
struct sxs_calls_histogram {
    sxs_calls_ref function;
    uint32_t      zero;
    uint64_t      min, max;
    sxs_calls_ref octaves[SXS_CALLS_OCTAVES]; /* each a struct sxs_calls_octave; 0: no such call */
};
/** The eight buckets of an octave: bucket N begins at 2^octave * (1 + N / 8) ticks. */
struct sxs_calls_octave {
    uint64_t n[8];
};

_Static_assert(sizeof(struct sxs_calls_header) <= SXS_CALLS_HEADER, "the header is one page");
_Static_assert(sizeof(struct sxs_calls_chunk) == SXS_CALLS_CELL, "part of the format");
_Static_assert(sizeof(struct sxs_calls_function) == SXS_CALLS_CELL, "part of the format");
_Static_assert(sizeof(struct sxs_calls_note) == SXS_CALLS_CELL, "part of the format");
_Static_assert(sizeof(struct sxs_calls_thread) == 2 * SXS_CALLS_CELL, "part of the format");
_Static_assert(sizeof(struct sxs_calls_node) == SXS_CALLS_CELL, "part of the format");
_Static_assert(sizeof(struct sxs_calls_histogram) == 4 * SXS_CALLS_CELL, "part of the format");
_Static_assert(sizeof(struct sxs_calls_block) == SXS_CALLS_CELL, "part of the format");
_Static_assert(sizeof(struct sxs_calls_event) == 16, "part of the format");
_Static_assert(sizeof(struct sxs_calls_octave) == SXS_CALLS_CELL, "part of the format");

#endif
