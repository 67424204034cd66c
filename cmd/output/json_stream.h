/* SPDX-License-Identifier: MIT */
/**
 * json_stream.h - write a JSON object piece by piece, so that long lists need not be in memory.
 *
 * The output is that of sxs_json_dump() of the whole object with JSON_INDENT(2).
 */
#ifndef SXS_CMD_OUTPUT_JSON_STREAM_H
#define SXS_CMD_OUTPUT_JSON_STREAM_H

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

/** An object that is being written. To begin one, set `to` and zero all other members. */
struct sxs_json_stream {
    FILE *to;   /* borrowed */
    bool  keys; /* a key was written */
    bool  rows; /* of the list that is being written: it has a row */
};

/** sxs_json_stream_object - write the keys and values of @o, borrowed. Returns 0, or -1 when out of
 *  memory or when the output failed. */
int sxs_json_stream_object(struct sxs_json_stream *s, const json_t *o);

/**
 * Write a list: sxs_json_stream_array() begins the value of @key, sxs_json_stream_row() adds a row to
 * it, and sxs_json_stream_end() ends it. @row: owned by the function; NULL: out of memory.
 * Return 0, or -1 as above.
 */
int sxs_json_stream_array(struct sxs_json_stream *s, const char *key);
int sxs_json_stream_row(struct sxs_json_stream *s, json_t *row);
int sxs_json_stream_end(struct sxs_json_stream *s);

/** sxs_json_stream_text_row - begin a row of a list, which the caller then writes as text: a JSON value on one line.
 *  Returns where to, borrowed. For rows of which there may be very many. */
FILE *sxs_json_stream_text_row(struct sxs_json_stream *s);

/** sxs_json_stream_close - end the object. Returns 0, or -1 when the output failed. */
int sxs_json_stream_close(struct sxs_json_stream *s);

#endif
