/* SPDX-License-Identifier: MIT */
/**
 * costs.h - loads the costs of a session, which are allocations, native memory and waits, summed up
 * by type; and writes them as JSON. Stacks are not needed for that.
 *
 * A session is loaded once, with every process that has a file "samples" with costs.
 */
#ifndef SXS_CMD_COSTS_COSTS_H
#define SXS_CMD_COSTS_COSTS_H

#include "cmd/costs/facts.h"
#include "cmd/costs/types.h"
#include "cmd/output/opened.h"
#include "cmd/output/strings.h"

struct sxs_json_stream;

/** The costs of one process. */
struct sxs_costs_process {
    const struct sxs_session_process *process; /* borrowed from the session */
    struct sxs_samples_header         head;    /* a copy */
    struct sxs_cost_types             types; /* by name (number in `names`) and runtime's number */
    struct sxs_strings                names;
    bool exact[SXS_N_COST_KINDS]; /* types have exact counts; a type without them was not counted */
};

struct sxs_costs_report {
    struct sxs_costs_process *processes; /* owned */
    size_t                    n;
    char                    **problems; /* owned lines: "123/samples: ..." */
    size_t                    n_problems;
};

/**
 * sxs_costs_report_load - load the costs of every process of a session.
 * @v: must outlive @out. @process: a process's folder or pid; NULL
 * loads all processes. @out: overwritten; release it with sxs_costs_report_free().
 * Returns 0 or an errno value. Files that cannot be read are among the problems. */
int sxs_costs_report_load(const struct sxs_opened *v, const char *process,
                          struct sxs_costs_report *out);
/** sxs_costs_report_reader - return a reader for sxs_opened_read() that does the same. */
struct sxs_opened_reader sxs_costs_report_reader(struct sxs_costs_report *out);
void sxs_costs_report_free(struct sxs_costs_report *r);

/** sxs_costs_biased - return true when costs of @kind of this runtime were not chosen at random: the error
 *  of their sums is not known. @runtime: its number in the process; 0: of none. */
bool sxs_costs_biased(const struct sxs_samples_header *head, enum sxs_cost_kind kind,
                      uint32_t runtime);

/** sxs_costs_dropped - return the number of costs of @kind that the file had no room for. If it is not 0,
 *  sums of costs are lower bounds; exact counts are not affected. */
uint64_t sxs_costs_dropped(const struct sxs_samples_header *head, enum sxs_cost_kind kind);

/**
 * sxs_costs_exact - copy the exact counts of @kind to the rows of @types.
 * @row: returns the row of a total, or NULL to leave it out; @arg is passed to it.
 * Returns true when there is an exact count. Rows without one are then of types that were sampled, but
 * not counted: a damaged file. */
bool sxs_costs_exact(const struct sxs_cost_facts *f, enum sxs_cost_kind kind,
                     struct sxs_cost_type *(*row)(void *arg, const struct sxs_cost_total *total),
                     void *arg);

/**
 * sxs_costs_json - write the keys "allocations", "live", "native" and "locks" to @to, each if its tool
 * was on. @runtime: only types of the runtime of this number; 0: all.
 * Returns 0, or -1 when out of memory or when the output failed. */
int sxs_costs_json(struct sxs_json_stream *to, const struct sxs_costs_report *r, uint32_t runtime);

#endif
