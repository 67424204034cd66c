/* SPDX-License-Identifier: MIT */
/**
 * json_values.h - values of a session, which may be garbled, as JSON.
 */
#ifndef SXS_REPORT_JSON_VALUES_H
#define SXS_REPORT_JSON_VALUES_H

#include <stdint.h>

#include <jansson.h>

/** sxs_json_number - JSON numbers are signed 64-bit here: a counter beyond that is garbage, and stays
 *  a number. NULL without memory; a new reference. */
json_t *sxs_json_number(uint64_t v);

/** sxs_json_text - @s as valid UTF-8 without control characters, 12 KiB at most. NULL without memory;
 *  a new reference. */
json_t *sxs_json_text(const char *s);

/** The same as the value of @key in @o. Return 0, or -1 without memory. */
int sxs_json_set_number(json_t *o, const char *key, uint64_t v);
int sxs_json_set_text(json_t *o, const char *key, const char *s);

/** sxs_json_whole - @o, or NULL when @err says that something in it is missing; it is released then. */
json_t *sxs_json_whole(json_t *o, int err);

/** Single calls of each process in JSON, unless asked for otherwise. */
#define SXS_JSON_SINGLES 5000u

#endif
