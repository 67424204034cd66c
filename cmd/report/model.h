/* SPDX-License-Identifier: MIT */
/**
 * model.h - the samples or calls of a recorded session in memory: named frames in one call tree per
 * thread.
 *
 * The model is built once, by sxs_model_load() or sxs_model_load_calls(), and then read by the
 * formats. Lists grow only during loading; pointers into the model are valid until
 * sxs_model_free(). Not signal-safe; one thread at a time.
 *
 * The weight of a sample is the CPU or wall time (ns) that the sample stands for. Each sample
 * belongs to the first of these classes that applies:
 *   sxsprof  its stack contains the frame "[sxsprof]": the profiler's own work
 *   GC       its thread is named ".NET Server GC", ".NET BGC" or ".NET Background GC"; or a native
 *            frame is in libclrgc.so or libclrgcexp.so or in a function gc_heap:: or GCHeap::;
 *            or its youngest frame is native while its thread had stopped a runtime for a
 *            collection. In the last case a frame "garbage collection" is inserted where the
 *            native code begins, because libcoreclr.so is stripped and its frames cannot be
 *            identified
 *   JIT      a native frame is in libclrjit.so
 *   runtime  its youngest frame is managed code of that runtime
 *   native   all other samples
 *
 * For costs the same fields are used: in place of samples, the objects, blocks or waits that the
 * recorded costs stand for, rounded; as weight, their bytes or ns (cmd/report/costs.h).
 *
 * For counted calls the same fields are used: in place of samples, the calls of exactly that path;
 * as weight, the time spent in the function itself, or the number of calls again when calls were
 * counted without time.
 */
#ifndef SXS_CMD_REPORT_MODEL_H
#define SXS_CMD_REPORT_MODEL_H

#include "cmd/output/opened.h"
#include "cmd/output/strings.h"
#include "cmd/traces/traces.h"
#include "session/format/samples.h"
#include "session/read/events_read.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define SXS_NO_NODE UINT32_MAX

struct sxs_names;
struct sxs_symbol_path;
struct sxs_model_costs;
struct sxs_slices;
struct sxs_slice_sum;

/** What a report is about. The costs, from SXS_DATA_ALLOC on, are described in cmd/report/costs.h. */
enum sxs_data {
    SXS_DATA_ANY, /* the first of the following that the session has */
    SXS_DATA_SAMPLES,
    SXS_DATA_CALLS,
    SXS_DATA_ALLOC,
    SXS_DATA_LIVE,
    SXS_DATA_NATIVE,
    SXS_DATA_NATIVE_LIVE,
    SXS_DATA_LOCKS,
    SXS_DATA_LOCK_OWNERS, /* the threads that held the locks, by the time that others waited */
    SXS_DATA_WAIT, /* samples of waiting threads */
    SXS_N_DATA
};

/** The unit of weights. SXS_UNIT_COUNT: calls that were not timed; objects or waits (--by-count). */
enum sxs_unit { SXS_UNIT_NS, SXS_UNIT_BYTES, SXS_UNIT_COUNT };

enum sxs_only { SXS_ONLY_ALL, SXS_ONLY_NATIVE, SXS_ONLY_MANAGED };

struct sxs_missing;

/** What to report. A zeroed object selects everything. Strings are borrowed. */
struct sxs_report_options {
    enum sxs_data data;    /* what to report of a session that has several */
    bool          by_count; /* of costs: weights are objects or waits, not bytes or ns */
    bool          errors;   /* of costs: keep for each stack how sure its sums are (costs.h) */
    uint32_t      runtime; /* only samples with a frame of the runtime of this number; 0: all */
    const char   *thread;  /* a thread's id, name or pattern (fnmatch); NULL: all */
    const char   *process; /* a process's folder or pid; NULL: all */
    struct sxs_trace_choice trace; /* only samples of these traces */
    const struct sxs_traces
                 *traces;  /* those of the session, with this choice; NULL: they are loaded */
    enum sxs_only only;    /* leave the other kind of frames out of the stacks */
    struct sxs_symbol_path *symbols; /* folders to search for debug files and PDBs; NULL: none */
    struct sxs_names       *record;  /* receives every name and line that is looked up; NULL: not
                                      * kept */
    struct sxs_slices      *slices;  /* receives the weights by time (slices.h); NULL: not kept */
    const char   *output;  /* file to write; NULL: standard output */
    void (*before)(void *arg, FILE *to); /* writes what comes first; NULL: nothing does */
    void *before_arg;
    size_t        top;     /* functions that the text lists; 0: 30 */
    size_t max_items;      /* maximum number of traced calls, of events and of samples in the page,
                            * each; values get 8 bytes per call; 0: the page's own limits */
    struct sxs_period period; /* only what was recorded in it; zeroed: all time */
    bool          brief;   /* the text contains only the most important sections */
    const struct sxs_missing
                 *missing; /* what the session lacks, for the first lines; NULL: nothing */
    struct sxs_opened_reader
          *readers; /* others that read files of the same processes, in one go with the report;
                                        * NULL: none */
    size_t n_readers;
    void (*loaded)(
        void *
            arg); /* called when all have been read, before anything is written; NULL: not called */
    void         *loaded_arg;
    const char   *parts;   /* of html: write the data without the page, and this list of the data that
                            * the session has (page_data.h); NULL: the page with all its data */
};

struct sxs_model_process {
    char                     *folder; /* owned; "1234" */
    uint32_t                  pid;
    struct sxs_samples_header head;   /* a copy from when the file was read */
    uint64_t                  first_ns, last_ns; /* times of first and last sample; 0: none */
    struct sxs_events_data   *events; /* owned; NULL: none, or not requested */
    struct sxs_model_census {
        uint32_t number, version, path; /* version, path: strings */
    } *runtimes; /* owned; from the census, by number */
    size_t n_runtimes;
    struct sxs_thread_names thread_names; /* of the first n_named_parts folders */
    size_t                  n_named_parts;
    size_t n_files; /* files of samples: `head` has the sums of their counts, and else what the last says */
};

struct sxs_model_runtime {
    uint32_t number;        /* within its process */
    uint32_t version, path; /* strings; path: of libcoreclr.so */
    uint64_t self_ns, total_ns;     /* self: the youngest frame is its code; total: any frame is */
};

enum sxs_frame_flag {
    SXS_FRAME_GC = 1,
    SXS_FRAME_JIT = 2,
    SXS_FRAME_UNKNOWN = 4, /* an address without any information */
    SXS_FRAME_OWN = 8,     /* the profiler's own work, with all frames below it (own.h) */
    SXS_FRAME_TYPE = 16,   /* no function: the type of the objects allocated or waited for */
    SXS_FRAME_WAIT = 32,   /* no function: what a thread waits for; set beside _TYPE */
};

struct sxs_model_frame {
    uint32_t name;    /* string: Namespace.Type.Method(parameters), or a native symbol */
    uint32_t file;    /* string: path of the assembly or the ELF file */
    uint32_t source;  /* string: source file of the function; "" when not known */
    uint32_t line;    /* where the function begins; 0 when not known */
    uint16_t runtime; /* managed: index into runtimes + 1; 0: native */
    uint16_t home;    /* native: index + 1 of the runtime whose folder contains the file; 0: none */
    uint8_t  flags;   /* enum sxs_frame_flag */
    uint64_t self_ns, total_ns; /* total: recursion counted once */
    uint64_t self, total;       /* samples */
    uint64_t tier_self[8];      /* samples by enum sxs_code_tier of the youngest frame */
};

/** A node of the tree. A parent always comes before its children. */
struct sxs_model_node {
    uint32_t parent; /* SXS_NO_NODE: the root of a thread, which has no frame */
    uint32_t frame;
    uint32_t thread;
    uint32_t line;   /* in the frame's source file; 0: not known, or not separate by line */
    uint8_t  tiers; /* bit N: seen here at enum sxs_code_tier N */
    uint8_t  flags; /* SXS_FRAME_GC, _JIT, _OWN of this frame or of a caller's frame */
    uint64_t self, self_ns;
};

/** A source line in which samples were taken, by the youngest frame. */
struct sxs_model_line {
    uint32_t frame, line; /* line: in the frame's source file */
    uint64_t self, self_ns;
};

struct sxs_model_thread {
    uint32_t process; /* index */
    uint32_t tid;     /* 0: all threads of that name, of several processes */
    uint32_t name;    /* string: what it is called in all reports; set by sxs_model_name_thread() */
    char     kernel[16]; /* its name in the kernel; "" when not known */
    uint64_t kernel_ns;  /* when that was read; 0: not known */
    uint32_t root;    /* node */
    uint64_t runtimes;/* bit N: the thread belongs to runtime number N */
    uint64_t samples, weight_ns, waiting, waiting_ns;
    uint64_t unsampled, unsampled_ns; /* threads with time that no sample stands for; the time */
    uint64_t started_ns, ended_ns;
};

/** A sample on the time line, or a piece of time of a traced call. */
struct sxs_model_sample {
    uint64_t time_ns;
    uint64_t weight; /* in units of the model, as the weights of its nodes */
    uint32_t node;
    bool     waiting; /* the thread waits */
    bool     begins;  /* a call begins here; such an entry has no weight */
};

/** Number of a function's calls of one duration. Lists are in order of duration. */
struct sxs_model_duration {
    uint64_t ns, n;
};

struct sxs_model_latency {
    uint64_t                   min_ns, max_ns; /* of one call; 0: no timed call has ended */
    uint64_t                   total_ns; /* recursion counted once; 0: the total is in the tree */
    struct sxs_model_duration *all;      /* owned; sorted by ns */
    size_t                     n, cap;
    bool                       backed_off; /* from some time on the function was no longer timed */
};

/** The begin or end of a call. The events of a thread are in order of time and correctly nested. */
struct sxs_model_event {
    uint64_t time_ns;
    uint32_t node : 31, begins : 1;
    uint32_t values : 31;  /* arguments or result: number in the model's values; 0: none */
    uint32_t unwound : 1;  /* the call was left by an exception */
};

struct sxs_model_pause {
    uint64_t time_ns, duration_ns;
    uint32_t process;
    uint32_t tid;     /* the thread that stopped the others; 0: not known */
    uint16_t runtime; /* index + 1; 0: not known */
    uint16_t reason;
};

/** A change of a runtime's thread pool, from struct sxs_record_pool. */
struct sxs_model_pool {
    uint64_t time_ns;
    uint32_t process, value;
    uint16_t runtime; /* index + 1; 0: not known */
    uint8_t  change;  /* enum sxs_pool_change */
    uint8_t  reason;
};

/** A suspended stack for which the fast walk and the runtimes report different frames. */
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

/**
 * The coverage gaps of one kind, runtime and process. Texts are clean for JSON, and owned unless
 * marked as static.
 */
struct sxs_model_gaps {
    uint32_t    pid, runtime; /* runtime: its number; 0: no particular runtime */
    const char *why;          /* static */
    char       *version;      /* of the runtime */
    bool        counted;      /* print the count of each row in a column */
    uint64_t    sum;          /* total of the group; 0: none */
    size_t      n, n_left;    /* n: rows; n_left: further rows that were left out */
    struct sxs_model_gap_row {
        char    *name, *detail;
        uint64_t count;
    } *rows; /* owned */
};

struct sxs_model {
    struct sxs_strings        strings;
    struct sxs_model_process *processes;
    struct sxs_model_runtime *runtimes;
    struct sxs_model_frame   *frames;
    struct sxs_model_node    *nodes;
    struct sxs_model_thread  *threads;
    struct sxs_model_sample  *samples; /* by time; SXS_DETAIL_TIMELINE */
    struct sxs_model_pause   *pauses;
    struct sxs_model_line    *lines;
    struct sxs_model_difference *differences;
    struct sxs_model_event   *events;    /* of calls, by thread; with SXS_DETAIL_CALLS */
    struct sxs_strings        values;    /* arguments and results of events; a table of their own
                                          * because there may be many */
    size_t                    n_events, cap_events;
    uint64_t                  events_lost; /* begins and ends that were not recorded */
    struct sxs_model_latency *latencies; /* of calls, by frame; none from n_latencies on */
    size_t                    n_latencies;
    enum sxs_data             data;      /* never SXS_DATA_ANY */
    bool                      has_reasons; /* samples say what their threads waited for */
    enum sxs_unit                unit;        /* of all weights, also of those named _ns */
    size_t n_processes, n_runtimes, n_frames, n_nodes, n_threads, n_samples, n_pauses,
        n_lines;
    size_t cap_processes, cap_runtimes, cap_frames, cap_nodes, cap_threads, cap_samples, cap_pauses,
        cap_lines;

    size_t n_differences, cap_differences;

    struct sxs_model_pool *pools; /* in the order of the files */
    size_t                 n_pools, cap_pools;

    uint64_t total, total_ns, waiting, waiting_ns, filtered_out; /* of samples; _ns: weights */
    uint64_t own_ns, gc_ns, jit_ns, native_ns;                   /* managed code: in runtimes */
    uint64_t ends[SXS_N_SAMPLE_ENDS];
    uint64_t off_timeline; /* samples in the tree that did not fit into `samples` */
    uint64_t merged;       /* samples counted at a caller because the tree was full */
    uint32_t rest;         /* the frame of all functions beyond the limit, + 1; 0: there are none */
    uint64_t first_ns, last_ns;

    char **problems; /* owned lines */
    size_t n_problems;
    size_t n_damage; /* problems of the session itself, also those that are not listed. The others are
                      * notes, for example about a missing ELF file */
    struct sxs_model_gaps  *gaps; /* owned; coverage gaps of calls */
    size_t                  n_gaps, cap_gaps;
    struct sxs_model_costs *costs; /* owned; NULL: the model has samples or calls */
    const struct sxs_model *next; /* borrowed; further data for the same page; NULL: none */
    struct sxs_timeline *timeline; /* borrowed; the timeline of the page; NULL: none */
    struct sxs_model_index *index; /* private: hash tables */
    const struct sxs_slice_sum *slice_sums; /* of the slice that was applied (slices.h); borrowed */
    size_t                      n_slice_sums; /* 0: none was applied */
};

/** Limits of the model. Further samples are not on the time line, further nodes not in the tree. With
 *  them, a model without a time line takes at most about 200 MB. */
#define SXS_MODEL_MAX_SAMPLES (12u << 20)
#define SXS_MODEL_MAX_NODES   (1u << 20)
#define SXS_MODEL_MAX_FRAMES  (128u << 10) /* functions and types; all further ones are one frame */
#define SXS_MODEL_MAX_RUNTIMES 4096u /* a damaged file may contain millions; the last is reused */
#define SXS_MODEL_MAX_DIFFERENCES 1000u /* enough to look at; the header counts all */

enum sxs_model_detail {
    SXS_DETAIL_TIMELINE = 1, /* keep samples one by one, for the time line */
    SXS_DETAIL_LINES = 2,    /* separate nodes for each line in which a caller stood */
    SXS_DETAIL_CALLS = 8,    /* keep traced calls as events; no samples of them */
    SXS_DETAIL_EVENTS = 4,   /* keep exceptions and events, also of processes without samples */
    SXS_DETAIL_GONE = 32,    /* of live objects and memory: keep also what is gone, without weight */
    SXS_DETAIL_BOTH = 16,    /* with traced calls: keep them both as events and as samples */
};

/**
 * sxs_model_load - load samples or costs of a session.
 * @data: anything but SXS_DATA_ANY and SXS_DATA_CALLS. @options: borrowed; its `data` is ignored. Its
 * period is that of @v.
 * @detail: bits of enum sxs_model_detail: what to keep besides the tree.
 * @out: overwritten; call sxs_model_free() even after an error.
 * Returns 0 or an errno value. Problems with damaged files are in @out->problems.
 */
int sxs_model_load(const struct sxs_opened *v, const struct sxs_report_options *options,
                   enum sxs_data data, unsigned detail, struct sxs_model *out);

/** A model that is being loaded. */
struct sxs_model_loading;
/**
 * sxs_model_loading_new - begin to do the same; sxs_model_loading_reader() returns the reader for
 * sxs_opened_read(). Afterwards call sxs_model_loading_end(), which finishes the model. All arguments are
 * borrowed until then. Returns an owned object.
 */
struct sxs_model_loading *sxs_model_loading_new(const struct sxs_opened         *v,
                                                const struct sxs_report_options *options,
                                                enum sxs_data data, unsigned detail,
                                                struct sxs_model *out);
struct sxs_opened_reader  sxs_model_loading_reader(struct sxs_model_loading *loading);
void                      sxs_model_loading_end(struct sxs_model_loading *loading);

struct sxs_calls_report;
struct sxs_instrument_report;
/**
 * sxs_model_load_calls - load the counted calls of a session, like sxs_model_load().
 * @calls: loaded from the processes that @options select.
 * With SXS_DETAIL_TIMELINE, traced calls become samples in order of time, cut at the finest steps
 * of a time line.
 */
void sxs_model_load_calls(const struct sxs_opened *v, const struct sxs_calls_report *calls,
                          const struct sxs_report_options *options, unsigned detail,
                          struct sxs_model *out);
/**
 * sxs_model_add_traced - add the traced calls of instrumented methods to the traced calls of @m.
 * @instrument: loaded from the processes that @options select. @m: loaded, or zeroed. @calls: false: add only
 * the processes of these calls. Files that cannot be read are reported in @m->problems.
 */
void sxs_model_add_traced(const struct sxs_instrument_report *instrument,
                          const struct sxs_report_options *options, bool calls,
                          struct sxs_model *m);
void sxs_model_free(struct sxs_model *m);

/* ---- building ---- */

/**
 * sxs_model_frame - return the number of a frame; adds it when no frame has the same name, file and
 * runtime.
 */
uint32_t sxs_model_frame(struct sxs_model *m, const struct sxs_model_frame *frame);
/**
 * sxs_model_latency - return the durations of @frame, which are empty at first. Borrowed; valid
 * until the next call.
 */
struct sxs_model_latency *sxs_model_latency(struct sxs_model *m, uint32_t frame);
/**
 * sxs_model_child - return the node of @frame at @line below @parent, added when new; returns
 * @parent when the tree is full.
 * @tier: the enum sxs_code_tier to record in the node.
 */
uint32_t sxs_model_child(struct sxs_model *m, uint32_t parent, uint32_t frame, uint32_t line,
                         uint8_t tier);
/** sxs_model_line - return the index of a line of a frame; added when new. */
uint32_t sxs_model_line(struct sxs_model *m, uint32_t frame, uint32_t line);
/** sxs_thread_wanted - return true when @o selects a thread with this id and name. */
bool sxs_thread_wanted(const struct sxs_report_options *o, uint32_t tid, const char *name);

/** sxs_model_thread_wanted - likewise, of a thread of the model: by its name, or by that in the
 *  kernel. */
bool sxs_model_thread_wanted(const struct sxs_report_options *o, const struct sxs_model *m,
                             uint32_t thread);

struct sxs_process_part;
/** sxs_model_read_names - read the whole names of the threads of a process from a folder of it, unless
 *  that was done before, and name its threads. */
void sxs_model_read_names(struct sxs_model *m, uint32_t process,
                          const struct sxs_process_part *part);

/** sxs_model_name_thread - set the name of a thread from what has been read so far. */
void sxs_model_name_thread(struct sxs_model *m, uint32_t thread);

/** sxs_model_name_threads - set the names of all threads of a process. */
void sxs_model_name_threads(struct sxs_model *m, uint32_t process);
/** sxs_model_thread - return the index of a thread; added with its root node when new. */
uint32_t sxs_model_thread(struct sxs_model *m, uint32_t process, uint32_t tid);
/**
 * sxs_model_process - return the process with the folder of @census; added with its runtimes when
 * new. Valid until another process is added.
 */
struct sxs_model_process *sxs_model_process(struct sxs_model                 *m,
                                            const struct sxs_session_process *census);
struct sxs_process_part;
/**
 * sxs_model_events - read the file "events" of one folder of a process into the model, if there is
 * one. @dir: name of the session in problems.
 */
void sxs_model_events(struct sxs_model *m, const char *dir, const struct sxs_process_part *part);
/** sxs_model_events_end - finish the events, when those of all folders have been read. */
void sxs_model_events_end(struct sxs_model *m);
/** sxs_model_all_events - do the same for every process of @v that @o selects. */
void sxs_model_all_events(struct sxs_model *m, const struct sxs_opened *v,
                          const struct sxs_report_options *o);
/**
 * sxs_model_runtime - return the index of a runtime; added when new. @version, @path: strings of
 * the model.
 */
uint32_t sxs_model_runtime(struct sxs_model *m, uint32_t number, uint32_t version, uint32_t path);
/** sxs_model_problem - add a line about damaged or missing data to the problems, of which SXS_LINES_MAX are
 *  listed. */
void sxs_model_problem(struct sxs_model *m, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/** sxs_model_note - add a line that is not about damage to the session. */
void sxs_model_note(struct sxs_model *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/**
 * sxs_model_sum - calculate the totals of frames, runtimes and classes from the tree. Called once,
 * after loading.
 */
void sxs_model_sum(struct sxs_model *m);

/* ---- reading ---- */

static inline const char *sxs_model_text(const struct sxs_model *m, uint32_t string)
{
    return sxs_strings_text(&m->strings, string);
}

enum sxs_frame_style { SXS_STYLE_FULL, SXS_STYLE_SHORT /* without parameters */ };

/**
 * sxs_frame_text - format a frame as "[8.0.29] Namespace.Type.Method" or "[native] file!symbol".
 * Returns @buf; the text is cut to @size bytes.
 */
const char *sxs_frame_text(const struct sxs_model *m, uint32_t frame, enum sxs_frame_style style,
                           char *buf, size_t size);
/** sxs_thread_idles - return true for a thread of a runtime, or one that runs no managed code, that has
 *  waited nearly all the time. Reports show such threads after the others. */
bool sxs_thread_idles(const struct sxs_model *m, const struct sxs_model_thread *t);

/**
 * sxs_thread_text - format a thread as "name [tid]", or "pid/name [tid]" when there are several
 * processes; without "[tid]" when the tid is 0. Returns @buf.
 */
const char *sxs_thread_text(const struct sxs_model *m, uint32_t thread, char *buf, size_t size);
/**
 * sxs_model_quantile - return the duration (ns) that the share @q (0 to 1) of the calls does not
 * exceed; 0 when they were not timed.
 */
uint64_t sxs_model_quantile(const struct sxs_model_latency *l, double q);
/**
 * sxs_model_stack - write the frames of a node's stack to @out, oldest first.
 * @out: has room for SXS_MAX_STACK frames. Returns the number of frames.
 */
size_t sxs_model_stack(const struct sxs_model *m, uint32_t node, uint32_t *out);
/**
 * sxs_model_used_nodes - mark the nodes that have a weight, and their callers.
 * Returns an owned list by node; release it with free().
 */
bool *sxs_model_used_nodes(const struct sxs_model *m);
/**
 * sxs_model_spots - list each frame with each line of its nodes, as frame << 32 | line, sorted.
 * @nodes: by node: false leaves it out; NULL: all. @n: receives the length.
 * Returns an owned list; release it with free().
 */
uint64_t *sxs_model_spots(const struct sxs_model *m, const bool *nodes, size_t *n);
/**
 * sxs_model_spot - return the index in @spots of a node's frame and line. The node must not be a
 * root.
 */
size_t sxs_model_spot(const struct sxs_model *m, uint32_t node, const uint64_t *spots, size_t n);
/** sxs_base_name - return the part of a path after its last slash. Borrowed. */
const char *sxs_base_name(const char *path);

/** sxs_model_free_gaps - release the coverage gaps. */
void sxs_model_free_gaps(struct sxs_model *m);

#endif
