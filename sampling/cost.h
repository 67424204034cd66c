/* SPDX-License-Identifier: MIT */
/**
 * sampling/cost.h - records costs. A cost is one event with a value and a stack: an allocated object or
 * block (value: bytes), or a wait (value: time), with the stack of the thread that allocated or waited.
 *
 * The functions may be called in callbacks of runtimes and in replacements of functions of the C library
 * (allocator/), on any thread, managed or native. Only sxs_recorder_name() takes a lock and allocates
 * memory. */
#ifndef SXS_SAMPLING_COST_H
#define SXS_SAMPLING_COST_H

#include "base/base.h"
#include "session/format/samples.h"

/** What is recorded beside the stack; the members are those of struct sxs_record_cost. */
struct sxs_cost {
    uint64_t           id;
    double             n;
    uint64_t           value, related;
    uint32_t           name;
    uint16_t           runtime;
    uint8_t            flags; /* bits of enum sxs_cost_flag */
    enum sxs_cost_kind kind;
};

/**
 * sxs_recorder_cost_id - return a new id for a cost that later records refer to. Never 0.
 * Signal-safe. */
SXS_SIGSAFE uint64_t sxs_recorder_cost_id(void);

/**
 * sxs_recorder_cost - record a cost with the stack of the calling thread.
 * @cost: borrowed for the call.
 * @skip: number of further frames to leave out. With 0 the stack begins with the youngest frame
 *   that is not in the profiler's own libraries (libsxsprof*.so).
 * If the stack cannot be walked, the cost is recorded without one; if the file has no room, it is
 * counted as dropped. Does nothing before the recorder has started, and in a forked child. Uses
 * some 1.5 KiB of stack. Signal-safe; keeps errno. */
SXS_SIGSAFE void sxs_recorder_cost(const struct sxs_cost *cost, unsigned skip);

/**
 * sxs_recorder_cost_open - as sxs_recorder_cost(), for a cost whose value is not known yet. Returns
 * its record, whose value and flags the caller updates, or NULL if the file has no room. The record
 * is in the file from now on and lives as long as the process. Signal-safe. */
SXS_SIGSAFE struct sxs_record_cost *sxs_recorder_cost_open(const struct sxs_cost *cost,
                                                           unsigned               skip);

/**
 * sxs_recorder_cost_by - let another thread record a cost with its own stack, soon: it gets the
 * sample signal. Waits for nothing. If the thread has ended, blocks the signal, or is not known to
 * the recorder, or if too many such requests are open, nothing is recorded.
 * Call sxs_recorder_cost_by_prepare() before. @tid: must not be the calling thread. Signal-safe. */
SXS_SIGSAFE void sxs_recorder_cost_by(uint32_t tid, const struct sxs_cost *cost);

/** sxs_recorder_cost_by_prepare - install the signal's handler. Returns 0 or -errno. Any thread; not
 *  signal-safe. */
int sxs_recorder_cost_by_prepare(void);

/**
 * sxs_recorder_cost_of - record a cost with the stack of another thread, which is asked for by the
 * sample signal. The stack begins with the instruction that the thread runs next.
 * Returns 0, or -EAGAIN when that thread did not answer in time (some ms, rarely more), is not known
 * to the recorder (yet), or has a stack too small for the signal's handler: then nothing is
 * recorded. @tid: must not be the calling thread. Not signal-safe. */
int sxs_recorder_cost_of(uint32_t tid, const struct sxs_cost *cost);

/**
 * sxs_recorder_name - return the number of a text that costs refer to; a record is written when the
 * pair of @runtime and text is new. @size: bytes; longer than 4096: cut. Returns 0 when there is no
 * room, or in a forked child. Takes a lock; not signal-safe. */
uint32_t sxs_recorder_name(unsigned runtime, const char *text, size_t size);

/**
 * sxs_recorder_name_number - return a number for a text that is not known yet. Give it a text by
 * sxs_recorder_name_as() later. Returns 0 when there is no room. Signal-safe. */
SXS_SIGSAFE uint32_t sxs_recorder_name_number(void);

/** sxs_recorder_name_as - write the text of a number from sxs_recorder_name_number(). Otherwise as
 *  sxs_recorder_name(). */
void sxs_recorder_name_as(uint32_t number, unsigned runtime, const char *text, size_t size);

/** sxs_recorder_released - record that the object or memory of the cost @id is gone. Signal-safe. */
SXS_SIGSAFE void sxs_recorder_released(uint64_t id);

/** sxs_recorder_try_released - the same, for callers that can try again later, when the file has
 *  grown. Returns 1, or 0 when there is no room now; that is not counted. Signal-safe. */
SXS_SIGSAFE int sxs_recorder_try_released(uint64_t id);

/** sxs_recorder_live - record that the object of the cost @id is alive. @generation, @collections: as
 *  in struct sxs_record_live. Signal-safe. */
SXS_SIGSAFE void sxs_recorder_live(uint64_t id, uint8_t generation, uint32_t collections);

/** sxs_recorder_live_checked - note that all objects of a runtime that were garbage at @time_ns
 *  (CLOCK_MONOTONIC) have their RELEASED records. @runtime: its number. Signal-safe. */
SXS_SIGSAFE void sxs_recorder_live_checked(unsigned runtime, uint64_t time_ns);

/**
 * sxs_recorder_total - return a new record of exact counts, all zero, which the caller updates from
 * now on; or NULL when there is no room. It is in the file from now on and lives as long as the
 * process. Signal-safe. */
SXS_SIGSAFE struct sxs_record_total *sxs_recorder_total(enum sxs_cost_kind kind, unsigned runtime,
                                                        uint32_t name, uint8_t flags);

/**
 * sxs_recorder_costs_on - note in the file that costs of a kind are recorded. @interval, @live: as
 * cost_interval and cost_live in struct sxs_samples_header. Once for each kind, before the first. */
void sxs_recorder_costs_on(enum sxs_cost_kind kind, uint64_t interval, int live);

/** sxs_recorder_costs_biased - note in the file that the allocations of a runtime are not chosen at
 *  random, so that reports print no error. @runtime: its number. Any thread. */
void sxs_recorder_costs_biased(unsigned runtime);

#endif
