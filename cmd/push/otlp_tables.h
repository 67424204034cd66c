/* SPDX-License-Identifier: MIT */
/**
 * otlp_tables.h - the dictionary of an OTLP request: tables in which every element is once. Private
 * to cmd/push/otlp*.c. One thread.
 */
#ifndef SXS_CMD_PUSH_OTLP_TABLES_H
#define SXS_CMD_PUSH_OTLP_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/index.h"
#include "cmd/output/strings.h"
#include "otlp.pb-c.h"

/** Elements of WORDS numbers each; the first is zeroed. */
struct sxs_otlp_table {
    uint32_t        *words; /* owned */
    size_t           n, cap, width;
    struct sxs_index index;
};

struct sxs_otlp_tables {
    struct sxs_strings    strings;
    struct sxs_otlp_table mappings;  /* file */
    struct sxs_otlp_table functions; /* name, file, line */
    struct sxs_otlp_table locations; /* mapping, function, line, two attributes */
    struct sxs_otlp_table
        attributes;               /* key, string, 1 if it is a number, the number's two halves */
    struct sxs_otlp_table stacks; /* where its locations begin in `lists`, how many, hash */
    uint32_t             *lists;  /* owned; locations of all stacks */
    size_t                n_lists, cap_lists;
};

void sxs_otlp_tables_begin(struct sxs_otlp_tables *t);
void sxs_otlp_tables_free(struct sxs_otlp_tables *t);

/* Each returns the number of an element, added when new. */
uint32_t sxs_otlp_text(struct sxs_otlp_tables *t, const char *text);
uint32_t sxs_otlp_mapping(struct sxs_otlp_tables *t, const char *file);
uint32_t sxs_otlp_function(struct sxs_otlp_tables *t, const char *name, const char *file,
                           uint32_t line);
/** @attributes: two numbers, of which 0 is none. */
uint32_t sxs_otlp_location(struct sxs_otlp_tables *t, uint32_t mapping, uint32_t function,
                           uint32_t line, const uint32_t attributes[2]);
/** @text: NULL: @number is the value. */
uint32_t sxs_otlp_attribute(struct sxs_otlp_tables *t, const char *key, const char *text,
                            int64_t number);
/** @locations: youngest first. */
uint32_t sxs_otlp_stack(struct sxs_otlp_tables *t, const uint32_t *locations, size_t n);

/** sxs_otlp_dictionary - make the message of the tables, which must outlive it. Its memory is released
 *  by sxs_otlp_dictionary_free(). */
Sxs__Otlp__Dictionary *sxs_otlp_dictionary(const struct sxs_otlp_tables *t);
void                   sxs_otlp_dictionary_free(Sxs__Otlp__Dictionary *d);

/**
 * sxs_otlp_elements - allocate @n elements of @size bytes and a list of pointers to them.
 * @list_out: receives the list, owned; its first element owns all of them. Both are released by
 * sxs_otlp_elements_free(). Returns the elements; zeroed. */
void *sxs_otlp_elements(size_t n, size_t size, void *list_out);
void  sxs_otlp_elements_free(void *list);

#endif
