/* SPDX-License-Identifier: MIT */
/**
 * loader.h - loading records of the file "samples" into a model: for load*.c and cmd/live.
 */
#ifndef SXS_CMD_REPORT_LOADER_H
#define SXS_CMD_REPORT_LOADER_H

#include "cmd/costs/facts.h"
#include "cmd/report/addresses.h"
#include "cmd/report/model.h"
#include "cmd/report/pauses.h"

/** A stack that was added to the tree. */
struct sxs_loaded_stack {
    uint64_t hash[2];           /* 128-bit hash of the stack; both 0: free */
    uint32_t node;              /* SXS_NO_NODE: filtered out */
    uint32_t leaf;              /* frame of the youngest; for counts by tier */
    uint32_t line;              /* index of its line + 1; 0: not known */
    uint32_t call_site, callee; /* of costs: see struct sxs_cost_call_site; UINT32_MAX: not known */
    uint8_t  tier;
};

/** A recorded stack. */
struct sxs_recorded_stack {
    const uint64_t    *ips; /* youngest first; borrowed */
    uint16_t           n;
    uint16_t           collecting; /* of samples: index + 1 of the runtime that collects; 0: none */
    uint32_t           thread;     /* index */
    uint64_t           time_ns;
    uint32_t           type;     /* of costs: the frame of the type; UINT32_MAX: none */
    enum sxs_cost_kind kind;     /* 0: a sample */
    uint8_t            waiting;   /* of samples of waits: enum sxs_waiting; else 0 */
    bool               suspended; /* likewise: a runtime had suspended its threads */
    bool               selected; /* the requested runtime is known to be part of it */
};

struct sxs_loader {
    struct sxs_model                *m;
    const struct sxs_report_options *o;
    const char                      *dir;
    unsigned                         detail;
    uint32_t                         process;
    const struct sxs_samples_header *head; /* of the file that is read; NULL: not by load.c */
    bool                             starts_sessions; /* see cmd/report/own.h */
    struct sxs_addresses            *names;
    struct sxs_collections          *collections;
    const struct sxs_traces         *traces; /* NULL: all samples are asked for */
    struct sxs_trace_code           *code;   /* of the file that is loaded; with traces */
    const uint8_t                   *trace;  /* of the sample that is loaded, for slices */
    const struct sxs_session_process *census; /* the process of that file; with traces */
    struct sxs_loaded_stack         *stacks;       /* a cache of stacks */
    size_t                           n_stacks;     /* its size, a power of two; 0: the default */
    uint8_t                         *thread_state; /* by thread index: UNASKED, YES or NO */
    size_t                           n_states;
};

/** sxs_loader_thread - return true when the thread of this index is selected. */
bool sxs_loader_thread(struct sxs_loader *l, uint32_t thread);

/**
 * sxs_loader_stack - add a stack to the tree, or find it there.
 * @spare: room for the result when the stack is not cached. Valid until the next call. */
const struct sxs_loaded_stack *sxs_loader_stack(struct sxs_loader               *l,
                                                const struct sxs_recorded_stack *v,
                                                struct sxs_loaded_stack         *spare);

/** A sample as it was added to the model. */
struct sxs_loaded_sample {
    uint64_t weight_ns;
    uint32_t node, thread; /* node: SXS_NO_NODE: filtered out */
};

/**
 * sxs_loader_sample - add a sample to the tree, and to the sums of its node, thread and line.
 * @collecting: index + 1 of the runtime that its thread had stopped for a collection; 0: none.
 * @suspended: a runtime had suspended its threads in the middle of the sample's time; for
 * SXS_DATA_WAIT. */
struct sxs_loaded_sample sxs_loader_sample(struct sxs_loader *l, const struct sxs_record_sample *v,
                                           uint16_t collecting, bool suspended);

/** sxs_loader_forget - empty the cache of stacks, because addresses may have other names now. */
void sxs_loader_forget(struct sxs_loader *l);

/** sxs_loader_begin, _end - make the cache of stacks for one process, and release it. */
void sxs_loader_begin(struct sxs_loader *l);
void sxs_loader_end(struct sxs_loader *l);

/** sxs_loader_period - extend the period from *first to *last (0: none yet) by @time_ns. */
void sxs_loader_period(uint64_t *first, uint64_t *last, uint64_t time_ns);

/** sxs_loader_keep - keep a sample or cost for the time line. @weight: in the model's unit. */
void sxs_loader_keep(struct sxs_loader *l, uint64_t time_ns, uint32_t node, uint64_t weight,
                     bool waiting);

/** sxs_loader_in_period - return true when a record of the file that is read is of the options'
 *  period. @time_ns: of the record. */
bool sxs_loader_in_period(const struct sxs_loader *l, uint64_t time_ns);

/** sxs_load_costs - load the costs of the model's kind of one process. @reader: rewound. */
void sxs_load_costs(struct sxs_loader *l, struct sxs_samples *reader);

/** sxs_load_costs_end - round the sums of costs, when all processes are loaded. */
void sxs_load_costs_end(struct sxs_model *m);

#endif
