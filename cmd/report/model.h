/* SPDX-License-Identifier: MIT */
/**
 * model.h - a recorded session's samples or calls in memory: named frames in a call tree per thread.
 *
 * Built once by sxs_model_load() or sxs_model_load_calls(), then read by the formats. Lists grow only
 * while loading; pointers into the model hold until sxs_model_free(). Not signal-safe; one thread at a time.
 *
 * What a sample counts for is its weight (CPU or wall time, in ns). Each sample belongs to one class:
 *   sxsprof  its stack has the frame "[sxsprof]": it is the profiler's own work
 *   GC       else: its thread is called ".NET Server GC", ".NET BGC" or ".NET Background GC", or a native
 *            frame lies in libclrgc.so or libclrgcexp.so or in a function gc_heap:: or GCHeap::, or its
 *            youngest frame is native while its thread has stopped a runtime for a collection: then
 *            a frame "garbage collection" is put in where the native code begins, as libcoreclr.so is
 *            stripped and its own frames cannot be told
 *   JIT      else: a native frame lies in libclrjit.so
 *   runtime  else: its youngest frame is code of that runtime
 *   native   everything else
 *
 * Of counted calls the same fields hold: where it says samples, calls of that very path; as weight, the
 * time spent in the function itself, or, when calls were counted without time, their number once more.
 */
#ifndef SXS_REPORT_PROFILE_MODEL_H
#define SXS_REPORT_PROFILE_MODEL_H

#include "session/read/events_read.h"
#include "session/format/samples.h"
#include "session/read/session_read.h"
#include "cmd/report/strings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define SXS_NO_NODE UINT32_MAX

enum sxs_data { SXS_DATA_ANY /* samples if there are any */, SXS_DATA_SAMPLES, SXS_DATA_CALLS };

enum sxs_only { SXS_ONLY_ALL, SXS_ONLY_NATIVE, SXS_ONLY_MANAGED };

/** What to report. Zeroed: everything. Strings are borrowed. */
struct sxs_report_options {
    enum sxs_data data;    /* of a session that has both */
    uint32_t      runtime; /* samples with a frame of the runtime of this number only; 0: all */
    const char   *thread;  /* a thread's id, name or pattern (fnmatch); NULL: all */
    const char   *process; /* a process's folder or pid; NULL: all */
    enum sxs_only only;    /* leave the other kind of frames out of the stacks */
    const char   *output;  /* file to write; NULL: standard output */
    size_t        top;     /* functions the text names; 0: 30 */
    size_t        most;    /* single calls, events and samples that the page has, each, and an eighth of its
                              bytes of values; 0: its own bounds */
    bool          brief;   /* the text leaves out what is not the first to be looked at */
};

struct sxs_model_process {
    char                     *folder; /* owned; "1234" */
    uint32_t                  pid;
    struct sxs_samples_header head;   /* a copy as it was when read */
    uint64_t                  first_ns, last_ns; /* times of its first and last sample; 0: none */
    struct sxs_events_data   *events; /* owned; NULL: it has none, or they were not asked for */
    struct sxs_model_census {
        uint32_t number, version, path; /* strings */
    } *runtimes; /* owned; of the census, by number */
    size_t n_runtimes;
};

struct sxs_model_runtime {
    uint32_t number;        /* within its process */
    uint32_t version, path; /* strings; the path of libcoreclr.so */
    uint64_t self_ns, total_ns;     /* youngest frame is its code; any frame is */
};

enum sxs_frame_flag {
    SXS_FRAME_GC = 1,
    SXS_FRAME_JIT = 2,
    SXS_FRAME_UNKNOWN = 4, /* an address nothing is known of */
    SXS_FRAME_OWN = 8,     /* stands for the profiler's own work: below it on a stack, all is (own.h) */
};

struct sxs_model_frame {
    uint32_t name;    /* string: Namespace.Type.Method(parameters), or a native symbol */
    uint32_t file;    /* string: path of the assembly, or of the ELF file */
    uint32_t source;  /* string: source file of a native function; "" when not known */
    uint32_t line;    /* where that function begins, 0 when not known */
    uint16_t runtime; /* managed: index into runtimes + 1; 0: native */
    uint16_t home;    /* native: the runtime it came with (its folder) + 1, or 0 */
    uint8_t  flags;   /* enum sxs_frame_flag */
    uint64_t self_ns, total_ns; /* total: recursion counted once */
    uint64_t self, total;       /* samples */
    uint64_t tier_self[8];      /* samples by enum sxs_code_tier, youngest frame only */
};

/** A node of the tree. A parent always comes before its children. */
struct sxs_model_node {
    uint32_t parent; /* SXS_NO_NODE: the root of a thread, which has no frame */
    uint32_t frame;
    uint32_t thread;
    uint32_t line;   /* in the frame's source file; 0: not known, or nodes do not differ by line */
    uint8_t  tiers; /* bit N: seen here at enum sxs_code_tier N */
    uint8_t  flags; /* SXS_FRAME_GC, SXS_FRAME_JIT, SXS_FRAME_OWN: here or further down the stack */
    uint64_t self, self_ns;
};

/** A source line that samples were taken in: where the youngest frame stood. */
struct sxs_model_line {
    uint32_t frame, line; /* of the frame's source file */
    uint64_t self, self_ns;
};

struct sxs_model_thread {
    uint32_t process; /* index */
    uint32_t tid;
    uint32_t name;    /* string */
    uint32_t root;    /* node */
    uint64_t runtimes;/* bit N: runtime number N */
    uint64_t samples, weight_ns, waiting, waiting_ns;
    uint64_t started_ns, ended_ns;
};

/** One sample on the time line. */
struct sxs_model_sample {
    uint64_t time_ns;
    uint32_t node;
    uint32_t weight_us : 31, waiting : 1; /* of calls: ns, and whether a call begins here */
};

/** How long a function's calls took, in order of duration. */
struct sxs_model_duration {
    uint64_t ns, n;
};

struct sxs_model_latency {
    uint64_t                   min_ns, max_ns; /* of one call; 0: no call that was timed has ended */
    uint64_t                   total_ns; /* recursion once; 0: the tree tells */
    struct sxs_model_duration *all;      /* owned */
    size_t                     n, cap;
    bool                       backed_off; /* was timed no longer from some time on */
};

/** A call begins or ends. A thread's are in order of time, and nested. */
struct sxs_model_event {
    uint64_t time_ns;
    uint32_t node : 31, begins : 1;
    uint32_t values : 31;  /* arguments, result, of the model's values; 0: none */
    uint32_t unwound : 1;  /* an exception left the call */
};

struct sxs_model_pause {
    uint64_t time_ns, duration_ns;
    uint32_t process;
    uint32_t tid;     /* thread that stopped the others, 0 when not known */
    uint16_t runtime; /* index + 1, 0 when not known */
    uint16_t reason;
};

/** A stopped stack of which the fast walk and the runtimes give different accounts. */
struct sxs_model_difference {
    uint64_t time_ns;
    uint32_t process, tid, n;
    uint8_t  kind, end; /* enum sxs_compared, enum sxs_sample_end: as recorded, not checked */
    struct sxs_model_compared {
        uint64_t sp, ip;
        uint32_t frame;
        uint16_t verdict; /* enum sxs_frame_verdict: as recorded, not checked */
    } *frames; /* owned */
};

struct sxs_model {
    struct sxs_strings        strings;
    struct sxs_model_process *processes;
    struct sxs_model_runtime *runtimes;
    struct sxs_model_frame   *frames;
    struct sxs_model_node    *nodes;
    struct sxs_model_thread  *threads;
    struct sxs_model_sample  *samples; /* by time, when asked for */
    struct sxs_model_pause   *pauses;
    struct sxs_model_line    *lines;
    struct sxs_model_difference *differences;
    struct sxs_model_event   *events;    /* of calls, when asked for: one thread after the other */
    struct sxs_strings        values;    /* arguments and results of theirs, apart: there may be many */
    size_t                    n_events, cap_events;
    uint64_t                  events_lost; /* beginnings and ends that were not recorded */
    struct sxs_model_latency *latencies; /* of calls, by frame; frames from n_latencies on have none */
    size_t                    n_latencies;
    enum sxs_data             data;      /* samples or calls */
    bool                      timed;     /* weights are ns; else calls were counted without time */
    size_t n_processes, n_runtimes, n_frames, n_nodes, n_threads, n_samples, n_pauses,
        n_lines;
    size_t cap_processes, cap_runtimes, cap_frames, cap_nodes, cap_threads, cap_samples, cap_pauses,
        cap_lines;

    size_t n_differences, cap_differences;

    uint64_t total, total_ns, waiting, waiting_ns, filtered_out; /* samples; ns */
    uint64_t own_ns, gc_ns, jit_ns, native_ns;                   /* managed: in runtimes */
    uint64_t ends[SXS_N_SAMPLE_ENDS];
    uint64_t off_timeline; /* samples in the tree but, for their number, not in `samples` */
    uint64_t merged;       /* samples counted at a caller because the tree was full */
    uint64_t first_ns, last_ns;

    char **problems; /* owned lines */
    size_t n_problems, cap_problems;
    size_t n_notes; /* of the problems, those that are not the session's: an ELF file is gone */
    struct sxs_model_unseen *unseen; /* owned; of calls */
    size_t n_unseen, cap_unseen;
    struct sxs_timeline *timeline; /* borrowed; for the page: what it shows beside; NULL: nothing */
    struct sxs_model_index *index; /* private: hash tables */
};

/** What is loaded is bounded: more samples are not on the time line, more nodes not in the tree. */
#define SXS_MODEL_MAX_SAMPLES (12u << 20)
#define SXS_MODEL_MAX_NODES   (8u << 20)
#define SXS_MODEL_MAX_RUNTIMES 4096u /* a damaged file may name millions; those from there on are taken for the last */
#define SXS_MODEL_MAX_DIFFERENCES 1000u /* enough to look at; all are counted in the header */

enum sxs_model_detail {
    SXS_DETAIL_TIMELINE = 1, /* the single samples */
    SXS_DETAIL_LINES = 2,    /* a node for each line that a caller stood in, not for all of a function */
    SXS_DETAIL_CALLS = 8,    /* single calls; nothing of samples */
    SXS_DETAIL_EVENTS = 4,   /* exceptions and events, of processes without samples too */
    SXS_DETAIL_BOTH = 16,    /* of calls: with both of the first, if there are single calls */
};

/**
 * sxs_model_load - read the session folder @dir.
 * @detail: what to keep beside the tree: enum sxs_model_detail.
 * @out: overwritten; give it to sxs_model_free() whatever is returned.
 * Returns 0, or an errno value when @dir cannot be read. What was damaged is in @out->problems.
 */
int sxs_model_load(const char *dir, const struct sxs_report_options *options, unsigned detail,
                   struct sxs_model *out);
/**
 * sxs_model_load_calls - the same from counted calls.
 * @detail: SXS_DETAIL_TIMELINE: what single calls were recorded, as samples in order of time, cut at
 * the finest steps of a time line.
 */
int sxs_model_load_calls(const char *dir, const struct sxs_report_options *options, unsigned detail,
                         struct sxs_model *out);
/**
 * sxs_model_add_traced - single calls of traced methods, among those of @m, or none (zeroed): what to keep is as for
 * those. @calls: false: their processes alone. What cannot be read is in @m->problems.
 */
void sxs_model_add_traced(const char *dir, const struct sxs_report_options *options, bool calls,
                          struct sxs_model *m);
void sxs_model_free(struct sxs_model *m);

/* ---- building ---- */

/** sxs_model_frame - the number of a frame, added when new: equal names, files and runtimes. */
uint32_t sxs_model_frame(struct sxs_model *m, const struct sxs_model_frame *frame);
/** sxs_model_latency - the durations of @frame, added empty when there are none yet. Borrowed: valid until the next
 *  call. */
struct sxs_model_latency *sxs_model_latency(struct sxs_model *m, uint32_t frame);
/** sxs_model_child - the node of @frame at @line below @parent; @parent itself when the tree is full. */
uint32_t sxs_model_child(struct sxs_model *m, uint32_t parent, uint32_t frame, uint32_t line,
                         uint8_t tier);
/** sxs_model_line - the index of a line of a frame, added when new. */
uint32_t sxs_model_line(struct sxs_model *m, uint32_t frame, uint32_t line);
/** sxs_thread_wanted - is a thread of that id and name the one asked for, or one of them? */
bool sxs_thread_wanted(const struct sxs_report_options *o, uint32_t tid, const char *name);
/** sxs_model_thread - the index of a thread, added with its root node when new. */
uint32_t sxs_model_thread(struct sxs_model *m, uint32_t process, uint32_t tid);
/** sxs_model_process - the last process of that folder, added with its runtimes when new. Holds until
 *  the next one is added. */
struct sxs_model_process *sxs_model_process(struct sxs_model                 *m,
                                            const struct sxs_session_process *census);
/** sxs_model_events - read what the tools "exceptions" and "events" left in folder @fd of @census into
 *  its process, if anything; @dir is what problems call the session. */
void sxs_model_events(struct sxs_model *m, const char *dir, int fd,
                      const struct sxs_session_process *census);
/** sxs_model_all_events - the same for every process of @session, in @dir, that is wanted. */
void sxs_model_all_events(struct sxs_model *m, const char *dir, const struct sxs_session *session,
                          const struct sxs_report_options *o);
/** sxs_model_runtime - the index of a runtime, added when new. Strings as in the struct. */
uint32_t sxs_model_runtime(struct sxs_model *m, uint32_t number, uint32_t version, uint32_t path);
/** sxs_model_problem - note one line about something that was not whole. */
void sxs_model_problem(struct sxs_model *m, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/** sxs_model_sum - totals of frames, runtimes and classes from the tree; once, after loading. */
void sxs_model_sum(struct sxs_model *m);

/* ---- reading ---- */

static inline const char *sxs_model_text(const struct sxs_model *m, uint32_t string)
{
    return sxs_strings_text(&m->strings, string);
}

enum sxs_frame_style { SXS_STYLE_FULL, SXS_STYLE_SHORT /* without parameters */ };

/**
 * sxs_frame_text - "[8.0.29] Namespace.Type.Method" or "[native] file!symbol".
 * Returns @buf, cut to @size bytes.
 */
const char *sxs_frame_text(const struct sxs_model *m, uint32_t frame, enum sxs_frame_style style,
                           char *buf, size_t size);
/** sxs_thread_text - "name [tid]", with "pid/" in front when there are several processes. */
const char *sxs_thread_text(const struct sxs_model *m, uint32_t thread, char *buf, size_t size);
/** sxs_model_quantile - the duration that @q (0 to 1) of the calls do not exceed, ns; 0: not timed. */
uint64_t sxs_model_quantile(const struct sxs_model_latency *l, double q);
/** sxs_model_stack - the frames of a node, oldest first. Returns how many; @out has room for
 *  SXS_MAX_STACK. */
size_t sxs_model_stack(const struct sxs_model *m, uint32_t node, uint32_t *out);
/** sxs_model_spots - owned, sorted: each frame with each line its nodes have, as frame << 32 | line.
 *  free() it. */
uint64_t *sxs_model_spots(const struct sxs_model *m, size_t *n);
/** sxs_model_spot - the place of a node's frame and line among @spots; the node is no root. */
size_t sxs_model_spot(const struct sxs_model *m, uint32_t node, const uint64_t *spots, size_t n);
/** sxs_base_name - the part of a path behind its last slash. Borrowed. */
const char *sxs_base_name(const char *path);

#endif
