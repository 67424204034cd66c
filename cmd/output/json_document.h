/* SPDX-License-Identifier: MIT */
/**
 * json_document.h - the JSON documents that the command writes. Each begins with the keys "format", "sxsprof-NAME", and
 * "version", a number. docs/formats/NAME.schema.json describes the keys that follow, and docs/formats/README.md says
 * which changes raise the version. tests/command/json_schema.sh compares this list with the schemas.
 */
#ifndef SXS_CMD_OUTPUT_JSON_DOCUMENT_H
#define SXS_CMD_OUTPUT_JSON_DOCUMENT_H

#include <stdio.h>

#include <jansson.h>

/* X(identifier, name, version): which command writes it */
#define SXS_JSON_DOCUMENTS(X)                                                 \
    X(REPORT, "report", 1)                 /* report */                       \
    X(TOP, "top", 1)                       /* top: each line is a document */ \
    X(HEAP, "heap", 1)                     /* heap */                         \
    X(HEAP_DIFF, "heap-diff", 1)           /* heap --diff */                  \
    X(HEAP_VALUES, "heap-values", 1)       /* heap --object, --static */      \
    X(PS, "ps", 1)                         /* ps */                           \
    X(STATUS, "status", 1)                 /* status */                       \
    X(RUNTIMES, "runtimes", 1)             /* runtimes */                     \
    X(FLEET_TOP, "fleet-top", 1)           /* fleet top */                    \
    X(FLEET_DIFF, "fleet-diff", 1)         /* fleet diff */                   \
    X(FLEET_SERIES, "fleet-series", 1)     /* fleet series */                 \
    X(FLEET_CHANGES, "fleet-changes", 1)   /* fleet diff --by */              \
    X(SERVE_SESSIONS, "serve-sessions", 1) /* serve: its list of sessions */  \
    X(SERVE_DATA, "serve-data", 1)         /* serve: the data of its pages */

enum sxs_json_document {
#define X(identifier, name, version) SXS_JSON_##identifier,
    SXS_JSON_DOCUMENTS(X)
#undef X
};

/** sxs_json_document_new - return an object with the two keys. The caller owns it. NULL: out of memory. */
json_t *sxs_json_document_new(enum sxs_json_document document);

/** sxs_json_document_begin - write "{" and the two keys to @to, for a writer that goes on with "," and further keys. */
void sxs_json_document_begin(FILE *to, enum sxs_json_document document);

#endif
