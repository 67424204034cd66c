/* SPDX-License-Identifier: MIT */
#ifndef SXS_HARNESS_OPTIONS_H
#define SXS_HARNESS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/* One runtime to run, as it was written on the command line. All borrowed from argv. */
struct sxs_job {
    const char *version;
    const char *app;
    const char *args;
};

struct sxs_options {
    bool            serial;  /* /st: one after the other */
    bool            turns;   /* --turns: coreclr_initialize one at a time */
    bool            bridge; /* --bridge: load libsxsbridge.so and tell it how many apps there are */
    const char     *churn;  /* --churn: what unrest beside the apps; NULL for none; borrowed */
    unsigned        timeout; /* seconds; 0 for none */
    struct sxs_job *jobs;    /* owned; freed with sxs_options_free() */
    size_t          n_jobs;
};

enum sxs_options_next {
    SXS_OPTIONS_RUN,   /* @out is filled */
    SXS_OPTIONS_DONE,  /* --help was asked for and printed */
    SXS_OPTIONS_WRONG, /* what was expected has been printed to stderr */
};

/* Reads the command line. Main thread, before anything starts. */
enum sxs_options_next sxs_options_parse(int argc, char **argv, struct sxs_options *out);

/* Frees what sxs_options_parse() allocated; a zeroed object is fine. */
void sxs_options_free(struct sxs_options *options);

#endif
