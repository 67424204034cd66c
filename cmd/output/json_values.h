/* SPDX-License-Identifier: MIT */
/** json_values.h - convert values of a session, which may be garbled, to JSON. */
#ifndef SXS_CMD_OUTPUT_JSON_VALUES_H
#define SXS_CMD_OUTPUT_JSON_VALUES_H

#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

/**
 * sxs_json_number - convert a counter to a JSON integer.
 * JSON integers are signed 64-bit in jansson: a larger @v can only come from a garbled file and
 * becomes INT64_MAX.
 * Returns a new reference, or NULL when out of memory.
 */
json_t *sxs_json_number(uint64_t v);

/**
 * sxs_json_text - convert a string to a JSON string of valid UTF-8 without control characters.
 * @s: zero-terminated; borrowed. The result is cut to 12 KiB.
 * Returns a new reference, or NULL when out of memory.
 */
json_t *sxs_json_text(const char *s);

/** Set the value of @key in object @o, converted as above. Return 0, or -1 when out of memory. */
int sxs_json_set_number(json_t *o, const char *key, uint64_t v);
int sxs_json_set_text(json_t *o, const char *key, const char *s);

/**
 * sxs_json_whole - return @o when it is complete, else release it and return NULL.
 * @o: owned by this function. @err: not 0 when a value could not be added to @o.
 */
json_t *sxs_json_whole(json_t *o, int err);

/**
 * sxs_json_dump - write a value as json_dumpf() does; what a terminal does not show
 * (base/displayed.h) is escaped as \uXXXX.
 * @flags: those of jansson. Returns 0, or -1 when out of memory or when the output failed.
 */
int sxs_json_dump(const json_t *o, FILE *to, size_t flags);

/** sxs_json_dump_at - the same, with @indent spaces before each line but the first. */
int sxs_json_dump_at(const json_t *o, FILE *to, size_t flags, int indent);

/** sxs_json_escape - write the character @c as \uXXXX, or as two of them. */
void sxs_json_escape(FILE *to, uint32_t c);

/**
 * sxs_json_print - print an object on standard output, indented, with a line feed after it.
 * @o: owned by this function. @err: not 0 when a value could not be added to @o: then only the line
 * feed is printed.
 * Returns @err, or -1 when out of memory or when the output failed.
 */
int sxs_json_print(json_t *o, int err);

/** How many traced calls of each process JSON contains, unless --single says otherwise. */
#define SXS_JSON_TRACE_ENTRIES 5000u

#endif
