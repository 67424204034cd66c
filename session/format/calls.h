/* SPDX-License-Identifier: MIT */
/**
 * calls.h - the format of the file "calls" in a process's session folder: who called whom, how often.
 *
 * A header of one page, then chunks of SXS_CALLS_CHUNK bytes. Everything lies in cells of 64 bytes,
 * named by a reference: the number of the cell counted from the first chunk; 0 is none, for the first
 * cell of a chunk is its header. The library maps the file shared and counts in it, so whatever ends
 * the process loses nothing. A chunk belongs to one thread of the process at a time, or to the library.
 *
 *   header -> functions, linked by `next`
 *          -> threads, linked by `next` -> root node -> nodes, linked by `child` and `sibling`
 *                                                       -> histogram, one a thread and function
 *                            -> blocks of events, linked by `next`, when single calls are recorded
 *          -> notes on what is not seen, linked by `next`
 *
 * Times are ticks of the processor's time stamp counter; the header has two pairs of tick and
 * nanosecond to convert them by. Little-endian.
 */
#ifndef SXS_RECORD_CALLS_H
#define SXS_RECORD_CALLS_H

#include <stdatomic.h>
#include <stdint.h>

#define SXS_CALLS_MAGIC       "SXSCALL" /* 8 bytes with its zero */
#define SXS_CALLS_VERSION     2u
#define SXS_CALLS_FILE        "calls"
#define SXS_CALLS_HEADER      4096u
#define SXS_CALLS_CHUNK       (64u << 10)
#define SXS_CALLS_CELL        64u
#define SXS_CALLS_CELLS       (SXS_CALLS_CHUNK / SXS_CALLS_CELL)
#define SXS_CALLS_CHUNK_MAGIC 0x4b4e4843u /* "CHNK" */

enum sxs_calls_mode {
    SXS_CALLS_COUNT = 1, /* calls of each function */
    SXS_CALLS_TIME = 2,  /* the same with time */
    SXS_CALLS_TREE = 3,  /* calls and time of each path */
};

typedef uint32_t sxs_calls_ref;

/** The first page. */
struct sxs_calls_header {
    char                  magic[8];
    uint32_t              version;
    uint32_t              chunk_size;
    uint32_t              pid;
    uint32_t              mode; /* enum sxs_calls_mode */
    uint64_t              started_realtime_ns;
    uint64_t              started_tick, started_ns; /* taken together; CLOCK_MONOTONIC */
    _Atomic uint64_t      seen_tick, seen_ns; /* the same, again every 10 to 80 ms, and at the end */
    _Atomic uint64_t      ended_ns;  /* 0: still running, or ended without saying so */
    _Atomic uint32_t      n_chunks;  /* chunks the file has */
    _Atomic uint32_t      n_taken;   /* of them, in use; at the end it may exceed n_chunks */
    uint32_t              max_chunks;
    _Atomic uint32_t      n_functions;
    _Atomic sxs_calls_ref functions, threads; /* the latest of each */
    _Atomic uint64_t      functions_lost;  /* selected, but not hooked: no memory */
    _Atomic uint64_t      threads_lost;    /* calls on threads that found no room */
    _Atomic uint64_t      skipped;         /* compiled functions that were not selected */
    char                  command[1024];
    uint32_t              max_blocks; /* of events, in all; 0: single calls are not recorded */
    _Atomic uint32_t      n_blocks;   /* of them, taken */
    _Atomic sxs_calls_ref notes;      /* the latest */
    uint32_t              inlining;   /* 1: what the JIT inlines stayed inlined */
    _Atomic uint64_t      notes_lost; /* what found no room among them */
};

struct sxs_calls_chunk {
    uint32_t magic; /* SXS_CALLS_CHUNK_MAGIC */
    uint32_t index; /* from 0 */
    uint32_t owner; /* tid of the thread that took it, whose rest others may have got; 0: the library */
    uint32_t zero[13];
};

/** A function that is hooked. Followed by its texts, in as many cells as they need. */
struct sxs_calls_function {
    sxs_calls_ref    next;
    uint32_t         number;   /* 0, 1, 2... in this process */
    uint64_t         function; /* the runtime's FunctionID */
    uint32_t         token;    /* mdMethodDef, 0: none */
    uint32_t         runtime;  /* its number */
    uint16_t         name_size, file_size; /* bytes in text: name, then path of the assembly */
    _Atomic uint32_t backed_off; /* 1: too many short calls: counted, but timed no longer */
    _Atomic uint32_t compiled;   /* times that code of it was hooked: tiers, ReJIT */
    _Atomic uint32_t inlining;   /* times the JIT asked whether it may be inlined */
    uint64_t         first_tick; /* when it was first compiled */
    char             text[16]; /* and on over the cells that follow */
};

enum sxs_calls_note_kind {
    SXS_CALLS_NOTE_PATTERN = 1, /* a pattern; count: modules that fit it, more: functions */
    SXS_CALLS_NOTE_RUNTIME = 2, /* settings of a runtime; count 1: it ran before, without hooks */
    SXS_CALLS_NOTE_DYNAMIC = 3, /* a dynamic method or a stub; count: compilations */
    SXS_CALLS_NOTE_INLINED = 4, /* a caller of `function`; count: times it might be inlined */
    SXS_CALLS_NOTE_METHODS = 5, /* methods that a pattern names in a module; count: of them */
};

/** What is not seen, or why. Followed by its text, in as many cells as it needs. */
struct sxs_calls_note {
    sxs_calls_ref    next;
    uint32_t         kind;     /* enum sxs_calls_note_kind */
    uint32_t         runtime;  /* its number; 0: none */
    uint32_t         size;     /* bytes of text */
    sxs_calls_ref    function; /* 0: none */
    uint32_t         zero;
    _Atomic uint64_t count, more;
    char             text[24]; /* and on over the cells that follow */
};

/** Methods, in the text of their note: the module's path and a zero, then of each its token (4
 *  bytes), its enum sxs_calls_method (1 byte), Namespace.Outer+Inner.Method and a zero. */
enum sxs_calls_method {
    SXS_CALLS_METHOD_CODE = 0,      /* it has a body */
    SXS_CALLS_METHOD_ABSTRACT = 1,  /* others implement it */
    SXS_CALLS_METHOD_NATIVE = 2,    /* P/Invoke */
    SXS_CALLS_METHOD_RUNTIME = 3,   /* the runtime implements it */
    SXS_CALLS_METHOD_INTRINSIC = 4, /* the JIT may expand it where it is called */
    SXS_CALLS_METHODS
};

struct sxs_calls_thread {
    sxs_calls_ref    next;
    sxs_calls_ref    root;     /* a node without function, whose children are where stacks begin */
    uint32_t         tid;
    _Atomic uint32_t ended;    /* 1: the thread has ended */
    uint64_t         started_tick;
    _Atomic uint64_t ended_tick;
    _Atomic uint64_t runtimes; /* bit N: has run code of runtime number N */
    _Atomic uint64_t nodes_lost; /* calls counted at their caller's node: no room for one of their own */
    _Atomic uint64_t too_deep;   /* calls deeper than the shadow stack */
    _Atomic uint64_t unmatched;  /* leaves without an enter: began before the hooks did */
    /* second cell */
    _Atomic uint64_t unwound; /* frames left by an exception */
    _Atomic uint64_t stale;   /* frames found gone without any word of it */
    char             name[16]; /* zero-terminated */
    sxs_calls_ref    events;   /* the first block of them, 0: none */
    sxs_calls_ref    pending_of; /* the histogram that it belongs into, 0: none */
    _Atomic uint64_t events_lost; /* enters and leaves that found no room; the tree has them */
    uint64_t         pending;    /* ticks that the last call took: not yet in its histogram */
    _Atomic uint64_t values_lost; /* arguments and results that found no room */
};

enum sxs_calls_event_kind {
    SXS_CALLS_ENTER = 1,
    SXS_CALLS_LEAVE = 2,
    SXS_CALLS_UNWOUND = 3,
    SXS_CALLS_TEXT = 4, /* values: arguments of the ENTER, the result of the LEAVE right before it */
};

/** A call begins or ends. The tick is written last: 0 is where a block's events end. */
struct sxs_calls_event {
    uint64_t      tick;
    sxs_calls_ref node; /* of the call */
    uint32_t      kind; /* enum sxs_calls_event_kind; a text's: and its bytes, << 8 */
};

/** A text's bytes follow it, in as many events' places as they need, in the same block: what finds no
 *  room in one begins the next, and the rest of this one stays zero. UTF-8, without control characters. */
#define SXS_CALLS_TEXT_MAX    512u
#define SXS_CALLS_TEXT_SLOTS(size) \
    (((size) + sizeof(struct sxs_calls_event) - 1) / sizeof(struct sxs_calls_event))

/** One cell, then the events, in order of time. */
#define SXS_CALLS_BLOCK_CELLS 255u /* four in a chunk */
#define SXS_CALLS_BLOCK_EVENTS \
    ((SXS_CALLS_BLOCK_CELLS - 1) * SXS_CALLS_CELL / sizeof(struct sxs_calls_event))
struct sxs_calls_block {
    sxs_calls_ref next;
    uint32_t      zero[15];
};

/** A path: this function, called by the parent's. Without tree the parent is the root. */
struct sxs_calls_node {
    sxs_calls_ref parent;
    sxs_calls_ref function; /* 0: the root */
    uint64_t      calls;
    uint64_t      ticks;   /* of calls that have ended, with all they called; recursion once */
    uint64_t      entered; /* tick at which the call now under way began; 0: none is */
    sxs_calls_ref child;   /* the latest */
    sxs_calls_ref sibling;
    sxs_calls_ref latest;  /* the child that was called last */
    sxs_calls_ref histogram;
    uint64_t      self;    /* ticks without those of callees; with a tree, 1: who awaits what lies
                              below it, no call of it; its time is theirs */
    uint32_t      unwound; /* calls left by an exception */
    uint32_t      active;  /* calls under way; without a tree only */
};

/** Durations of one function's calls on one thread, log-linear: octave N holds ticks from 2^N. */
#define SXS_CALLS_OCTAVES 58u
struct sxs_calls_histogram {
    sxs_calls_ref function;
    uint32_t      zero;
    uint64_t      min, max;
    sxs_calls_ref octaves[SXS_CALLS_OCTAVES]; /* of struct sxs_calls_octave; 0: no such call */
};
/** Eight steps of an octave: bucket N holds ticks from 2^octave * (1 + N / 8). */
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
