/* SPDX-License-Identifier: MIT */
#include "cmd/push/otlp_tables.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/output/must.h"
#include "cmd/output/table_hash.h"

enum { MAPPING = 1, FUNCTION = 3, LOCATION = 5, ATTRIBUTE = 5, STACK = 4 };

static void begin(struct sxs_otlp_table *t, size_t width)
{
    *t = (struct sxs_otlp_table){.width = width, .n = 1, .cap = 1};
    t->words = sxs_must_zeroed(width, sizeof(*t->words));
}

/* Appends an element. */
static void append(struct sxs_otlp_table *t, const uint32_t *words)
{
    if (t->n == t->cap) {
        t->cap *= 2;
        t->words = sxs_must(reallocarray(t->words, t->cap, t->width * sizeof(*t->words)));
    }
    memcpy(t->words + t->n++ * t->width, words, t->width * sizeof(*words));
}

static uint32_t intern(struct sxs_otlp_table *t, const uint32_t *words)
{
    size_t   size = t->width * sizeof(*words);
    uint32_t hash = (uint32_t)sxs_table_hash(words, size, 13), number;
    size_t   at = hash;
    if (sxs_index_reserve(&t->index) != 0)
        sxs_must(NULL);
    for (; (number = sxs_index_next(&t->index, hash, &at)) != 0; at++)
        if (memcmp(t->words + (number - 1) * t->width, words, size) == 0)
            return number - 1;
    sxs_index_put(&t->index, at, hash, t->n);
    append(t, words);
    return (uint32_t)t->n - 1;
}

void sxs_otlp_tables_begin(struct sxs_otlp_tables *t)
{
    *t = (struct sxs_otlp_tables){.n_lists = 0};
    sxs_strings_add(&t->strings, "", 0);
    begin(&t->mappings, MAPPING);
    begin(&t->functions, FUNCTION);
    begin(&t->locations, LOCATION);
    begin(&t->attributes, ATTRIBUTE);
    begin(&t->stacks, STACK);
}

static void table_free(struct sxs_otlp_table *t)
{
    sxs_index_free(&t->index);
    free(t->words);
}

void sxs_otlp_tables_free(struct sxs_otlp_tables *t)
{
    sxs_strings_free(&t->strings);
    table_free(&t->mappings);
    table_free(&t->functions);
    table_free(&t->locations);
    table_free(&t->attributes);
    table_free(&t->stacks);
    free(t->lists);
}

uint32_t sxs_otlp_text(struct sxs_otlp_tables *t, const char *text)
{
    return sxs_strings_add(&t->strings, text, strlen(text));
}

uint32_t sxs_otlp_mapping(struct sxs_otlp_tables *t, const char *file)
{
    const uint32_t words[MAPPING] = {sxs_otlp_text(t, file)};
    return *file ? intern(&t->mappings, words) : 0;
}

uint32_t sxs_otlp_function(struct sxs_otlp_tables *t, const char *name, const char *file,
                           uint32_t line)
{
    const uint32_t words[FUNCTION] = {sxs_otlp_text(t, name), sxs_otlp_text(t, file), line};
    return intern(&t->functions, words);
}

uint32_t sxs_otlp_location(struct sxs_otlp_tables *t, uint32_t mapping, uint32_t function,
                           uint32_t line, const uint32_t attributes[2])
{
    const uint32_t words[LOCATION] = {mapping, function, line, attributes[0], attributes[1]};
    return intern(&t->locations, words);
}

uint32_t sxs_otlp_attribute(struct sxs_otlp_tables *t, const char *key, const char *text,
                            int64_t number)
{
    const uint64_t bits = text ? 0 : (uint64_t)number;
    const uint32_t words[ATTRIBUTE] = {sxs_otlp_text(t, key), text ? sxs_otlp_text(t, text) : 0,
                                       text == NULL, (uint32_t)bits, (uint32_t)(bits >> 32)};
    return intern(&t->attributes, words);
}

uint32_t sxs_otlp_stack(struct sxs_otlp_tables *t, const uint32_t *locations, size_t n)
{
    struct sxs_otlp_table *s = &t->stacks;
    uint64_t               long_hash = sxs_table_hash(locations, n * sizeof(*locations), 14);
    uint32_t               hash = (uint32_t)long_hash, number;
    size_t                 at = hash;
    if (sxs_index_reserve(&s->index) != 0)
        sxs_must(NULL);
    for (; (number = sxs_index_next(&s->index, hash, &at)) != 0; at++) {
        const uint32_t *words = s->words + (number - 1) * STACK;
        if (words[1] == n && words[2] == (uint32_t)(long_hash >> 32) &&
            memcmp(t->lists + words[0], locations, n * sizeof(*locations)) == 0)
            return number - 1;
    }
    const uint32_t words[STACK] = {(uint32_t)t->n_lists, (uint32_t)n, (uint32_t)(long_hash >> 32),
                                   1};
    sxs_index_put(&s->index, at, hash, s->n);
    append(s, words);
    for (size_t i = 0; i < n; i++) {
        SXS_GROW(t->lists, t->n_lists, t->cap_lists);
        t->lists[t->n_lists++] = locations[i];
    }
    return (uint32_t)s->n - 1;
}

/* ---- the message ------------------------------------------------------------------------------ */

void *sxs_otlp_elements(size_t n, size_t size, void *list_out)
{
    char  *all = sxs_must_zeroed(n, size);
    void **list = sxs_must_zeroed(n + 1, sizeof(*list));
    for (size_t i = 0; i <= n; i++)
        list[i] = all + i * size;
    memcpy(list_out, &list, sizeof(list));
    return all;
}

void sxs_otlp_elements_free(void *list)
{
    if (list)
        free(*(void **)list);
    free(list);
}

static const uint32_t *element(const struct sxs_otlp_table *t, size_t i)
{
    return t->words + i * t->width;
}

static void put_functions(const struct sxs_otlp_tables *t, Sxs__Otlp__Dictionary *d)
{
    Sxs__Otlp__Function *all = sxs_otlp_elements(t->functions.n, sizeof(*all), &d->function_table);
    for (size_t i = 0; i < t->functions.n; i++) {
        const uint32_t *w = element(&t->functions, i);
        sxs__otlp__function__init(&all[i]);
        all[i].name_strindex = (int32_t)w[0];
        all[i].filename_strindex = (int32_t)w[1];
        all[i].start_line = w[2];
    }
    d->n_function_table = t->functions.n;
}

/* A location with its one line and its attributes, which lie after each other. */
struct location {
    Sxs__Otlp__Location message; /* first: the list points to it */
    Sxs__Otlp__Line     line, *lines[1];
    int32_t             attributes[2];
};

static void put_locations(const struct sxs_otlp_tables *t, Sxs__Otlp__Dictionary *d)
{
    struct location *all = sxs_otlp_elements(t->locations.n, sizeof(*all), &d->location_table);
    for (size_t i = 0; i < t->locations.n; i++) {
        const uint32_t      *w = element(&t->locations, i);
        Sxs__Otlp__Location *v = &all[i].message;
        sxs__otlp__location__init(v);
        sxs__otlp__line__init(&all[i].line);
        if (!i)
            continue;
        v->mapping_index = (int32_t)w[0];
        all[i].line.function_index = (int32_t)w[1];
        all[i].line.line = w[2];
        all[i].lines[0] = &all[i].line;
        v->lines = all[i].lines;
        v->n_lines = 1;
        v->attribute_indices = all[i].attributes;
        for (size_t k = 0; k < 2; k++)
            if (w[3 + k])
                all[i].attributes[v->n_attribute_indices++] = (int32_t)w[3 + k];
    }
    d->n_location_table = t->locations.n;
}

struct attribute {
    Sxs__Otlp__Attribute message; /* first: the list points to it */
    Sxs__Otlp__Value     value;
};

static void put_attributes(const struct sxs_otlp_tables *t, Sxs__Otlp__Dictionary *d)
{
    struct attribute *all = sxs_otlp_elements(t->attributes.n, sizeof(*all), &d->attribute_table);
    for (size_t i = 0; i < t->attributes.n; i++) {
        const uint32_t *w = element(&t->attributes, i);
        sxs__otlp__attribute__init(&all[i].message);
        sxs__otlp__value__init(&all[i].value);
        if (!i)
            continue;
        all[i].message.key_strindex = (int32_t)w[0];
        all[i].message.value = &all[i].value;
        if (w[2]) {
            all[i].value.value_case = SXS__OTLP__VALUE__VALUE_INT_VALUE;
            all[i].value.int_value = (int64_t)(w[3] | (uint64_t)w[4] << 32);
        } else {
            all[i].value.value_case = SXS__OTLP__VALUE__VALUE_STRING_VALUE;
            all[i].value.string_value = t->strings.all[w[1]].text;
        }
    }
    d->n_attribute_table = t->attributes.n;
}

static void put_stacks(const struct sxs_otlp_tables *t, Sxs__Otlp__Dictionary *d)
{
    Sxs__Otlp__Stack *all = sxs_otlp_elements(t->stacks.n, sizeof(*all), &d->stack_table);
    for (size_t i = 0; i < t->stacks.n; i++) {
        const uint32_t *w = element(&t->stacks, i);
        sxs__otlp__stack__init(&all[i]);
        all[i].n_location_indices = w[1];
        all[i].location_indices = w[1] ? (int32_t *)(t->lists + w[0]) : NULL;
    }
    d->n_stack_table = t->stacks.n;
}

static void put_mappings(const struct sxs_otlp_tables *t, Sxs__Otlp__Dictionary *d)
{
    Sxs__Otlp__Mapping *all = sxs_otlp_elements(t->mappings.n, sizeof(*all), &d->mapping_table);
    for (size_t i = 0; i < t->mappings.n; i++) {
        sxs__otlp__mapping__init(&all[i]);
        all[i].filename_strindex = (int32_t)*element(&t->mappings, i);
    }
    d->n_mapping_table = t->mappings.n;
}

Sxs__Otlp__Dictionary *sxs_otlp_dictionary(const struct sxs_otlp_tables *t)
{
    static uint8_t         no_trace[16], no_span[8];
    Sxs__Otlp__Dictionary *d = sxs_must_zeroed(1, sizeof(*d));
    sxs__otlp__dictionary__init(d);
    put_mappings(t, d);
    put_locations(t, d);
    put_functions(t, d);
    put_attributes(t, d);
    put_stacks(t, d);
    Sxs__Otlp__Link *link = sxs_otlp_elements(1, sizeof(*link), &d->link_table);
    sxs__otlp__link__init(link);
    link->trace_id = (ProtobufCBinaryData){sizeof(no_trace), no_trace};
    link->span_id = (ProtobufCBinaryData){sizeof(no_span), no_span};
    d->n_link_table = 1;
    d->string_table = sxs_must_zeroed(t->strings.n, sizeof(char *));
    for (size_t i = 0; i < t->strings.n; i++)
        d->string_table[i] = t->strings.all[i].text;
    d->n_string_table = t->strings.n;
    return d;
}

void sxs_otlp_dictionary_free(Sxs__Otlp__Dictionary *d)
{
    sxs_otlp_elements_free(d->mapping_table);
    sxs_otlp_elements_free(d->location_table);
    sxs_otlp_elements_free(d->function_table);
    sxs_otlp_elements_free(d->attribute_table);
    sxs_otlp_elements_free(d->stack_table);
    sxs_otlp_elements_free(d->link_table);
    free(d->string_table);
    free(d);
}
