/* SPDX-License-Identifier: MIT */
/** options.h - the command line of runsxs. */
#ifndef SXS_HARNESS_OPTIONS_H
#define SXS_HARNESS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/* One runtime to run, as given on the command line. All strings are borrowed from argv. */
struct app_job {
    const char *version;
    const char *app;
    const char *args;
};

struct sxs_options {
    bool            serial;  /* /st: run one runtime after the other */
    bool            turns;   /* --turns: one coreclr_initialize at a time */
    bool            bridge;  /* --bridge: load libsxsbridge.so and tell it the number of apps */
    const char     *churn;   /* --churn: the stress beside the apps; NULL: none; borrowed */
    unsigned        timeout; /* seconds; 0: none */
    struct app_job *jobs;    /* owned; freed with sxs_options_free() */
    size_t          n_jobs;
};

enum sxs_options_next {
    SXS_OPTIONS_RUN,   /* @out is filled */
    SXS_OPTIONS_DONE,  /* --help was given, and the help text printed */
    SXS_OPTIONS_WRONG, /* the command line is wrong; a message has been printed to stderr */
};

/* Reads the command line into @out; free it with sxs_options_free(). Main thread, before other
 * threads start. */
enum sxs_options_next sxs_options_parse(int argc, char **argv, struct sxs_options *out);

/* Frees what sxs_options_parse() allocated; a zeroed object is allowed. */
void sxs_options_free(struct sxs_options *options);

#endif
