/* SPDX-License-Identifier: MIT */
/**
 * facts.h - reads the records of the file "samples" that belong to costs: names, ends, objects that
 * are alive, exact counts.
 *
 * The records may come in any order, so a reader of costs collects these first.
 */
#ifndef SXS_CMD_COSTS_FACTS_H
#define SXS_CMD_COSTS_FACTS_H

#include <stdbool.h>
#include <stddef.h>

#include "session/format/samples.h"
#include "session/read/samples_read.h"

struct sxs_cost_name {
    uint32_t number;
    uint16_t runtime;
    char    *text; /* owned; zero-terminated bytes of the file */
    size_t   size;
};

/** One count of a type, as recorded. */
struct sxs_cost_total {
    uint32_t name;
    uint16_t runtime;
    uint8_t  kind, flags; /* enum sxs_cost_kind, bits of enum sxs_cost_flag */
    uint64_t n, value;
};

/** Facts of one process. */
struct sxs_cost_facts {
    struct sxs_cost_name   *names;    /* owned; by number */
    uint64_t               *released; /* owned; ids, sorted */
    struct sxs_record_live *live;     /* owned; by id: the last record of each */
    struct sxs_cost_total  *totals;   /* owned */
    size_t                  n_names, n_released, n_live, n_totals;
    size_t                  cap_names, cap_released, cap_live, cap_totals;
    uint64_t                last_ns; /* time of the last record that has to do with costs */
};

/**
 * sxs_cost_facts_read - read all records of @reader and rewind it. @out: overwritten; release it with
 * sxs_cost_facts_free(). */
void sxs_cost_facts_read(struct sxs_samples *reader, struct sxs_cost_facts *out);
void sxs_cost_facts_free(struct sxs_cost_facts *f);

/** sxs_cost_name_of - return the name of this number, or NULL. Borrowed. */
const struct sxs_cost_name *sxs_cost_name_of(const struct sxs_cost_facts *f, uint32_t number);

/**
 * sxs_cost_is_gone - return true when the memory of the cost @id was freed, or its object was collected, or when that
 * is not known because nobody followed it: @id is 0. */
bool sxs_cost_is_gone(const struct sxs_cost_facts *f, uint64_t id);

/** The fate of the object or the memory of a cost. */
enum sxs_cost_fate {
    SXS_COST_GONE,  /* as sxs_cost_is_gone() */
    SXS_COST_ALIVE, /* memory: not freed; an object: alive when all objects were collected last */
    SXS_COST_UNCHECKED, /* an object that was allocated after that: it may be garbage */
};

/** sxs_cost_fate - return the fate of a cost. @head: of its file. */
enum sxs_cost_fate sxs_cost_fate(const struct sxs_cost_facts     *f,
                                 const struct sxs_samples_header *head,
                                 const struct sxs_record_cost    *cost);

/** sxs_cost_live_of - return the last note that the cost @id was alive, or NULL. Borrowed. */
const struct sxs_record_live *sxs_cost_live_of(const struct sxs_cost_facts *f, uint64_t id);

/**
 * sxs_cost_type_name - return the type that a cost or total is listed under.
 * @name: number of its NAME record; 0: none. @kind, @flags: its kind and flags. @size: receives the
 * length. Native memory has the names "malloc" and "mmap". Borrowed; not zero-terminated. */
const char *sxs_cost_type_name(const struct sxs_cost_facts *f, uint32_t name,
                               enum sxs_cost_kind kind, uint8_t flags, size_t *size);

#endif
