/* SPDX-License-Identifier: MIT */
/** config_fixture.h - parses instrumentation files that tests give as strings. */
#ifndef SXS_TESTS_CONFIG_FIXTURE_H
#define SXS_TESTS_CONFIG_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "instr/config/config.h"

#define INSTRUMENTATION(rules) \
    "<instrumentation xmlns=\"urn:sxsprof:instrumentation:1\">" rules "</instrumentation>"
#define EXTENSION(factories)                                                  \
    "<extension xmlns=\"urn:newrelic-extension\"><instrumentation>" factories \
    "</instrumentation></extension>"

/** Parses a copy in a heap block of exactly @size bytes, so that a sanitizer detects reads past
 * it. */
static inline struct sxs_config *parse_bytes(const char *bytes, size_t size)
{
    char              *copy = malloc(size ? size : 1);
    struct sxs_config *config;
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    config = sxs_config_parse("t.xml", copy, size);
    free(copy);
    assert_non_null(config);
    return config;
}

static inline struct sxs_config *parse(const char *text)
{
    return parse_bytes(text, strlen(text));
}

/** Parses a file that must have no problems. */
static inline struct sxs_config *parse_good(const char *text)
{
    struct sxs_config *config = parse(text);
    if (config->n_problems) {
        char said[512];
        sxs_config_put_problem(&config->problems[0], said, sizeof(said));
        fail_msg("%s", said);
    }
    return config;
}

/** Asserts that a file is wrong: it has no rules, and its first problem is @expected. */
static inline void assert_says(const char *text, const char *expected)
{
    struct sxs_config *config = parse(text);
    char               said[512] = "";
    assert_int_equal(config->n_rules, 0);
    assert_true(config->n_errors > 0);
    sxs_config_put_problem(&config->problems[0], said, sizeof(said));
    assert_string_equal(said, expected);
    sxs_config_free(config);
}

#endif
