/* SPDX-License-Identifier: MIT */
/* report_main.c - writes reports without the rest of the command: report_main FORMAT DIR OUTPUT
 * [KEY=VALUE]..., or report_main diff A OUTPUT B. Exit status: enum sxs_profile_result. report_main missing
 * prints the table of counters of what is missing: file, where, offset, key, noun, words after it. */
#include "cmd/output/missing.h"
#include "cmd/report/data_kind.h"
#include "cmd/report/profile.h"
#include "session/format/calls.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int print_missing(void)
{
    size_t                            n;
    const struct sxs_missing_counter *all = sxs_missing_counters(&n);
    for (size_t i = 0; i < n; i++)
        printf("%s\t%s\t%u\t%s\t%s\t%s\n", all[i].file, all[i].by_thread ? "thread" : "header",
               all[i].offset, all[i].key, all[i].one, all[i].what);
    printf("%s\tthreads\t%zu\t-\t-\t-\n", SXS_CALLS_FILE,
           offsetof(struct sxs_calls_header, threads));
    return 0;
}

/* Writes the report of a session, or what changed from it to @b. Returns enum sxs_profile_result. */
static int report(const char *a, const char *b, const char *format,
                  const struct sxs_report_options *o)
{
    struct sxs_opened sessions[2] = {{.fd = -1}, {.fd = -1}};
    int               err = sxs_opened_open(a, &o->period, &sessions[0]);
    if (!err && b)
        err = sxs_opened_open(b, &o->period, &sessions[1]);
    int result = err ? (int)SXS_PROFILE_FAILED
                 : b ? (int)sxs_profile_diff(&sessions[0], &sessions[1], format, o)
                     : (int)sxs_profile_report(&sessions[0], format, o);
    if (err)
        fprintf(stderr, "sxsprof: %s: %s; expected a folder made by sxsprof run -o DIR\n", a,
                strerror(err));
    sxs_opened_close(&sessions[0]);
    sxs_opened_close(&sessions[1]);
    return result;
}

int main(int argc, char **argv)
{
    struct sxs_report_options o = {0};
    if (argc == 2 && strcmp(argv[1], "missing") == 0)
        return print_missing();
    if (argc < 4)
        return 64;
    o.output = argv[3];
    if (strcmp(argv[1], "diff") == 0)
        return report(argv[2], argv[4], "html", &o);
    for (int i = 4; i < argc; i++) {
        if (strncmp(argv[i], "runtime=", 8) == 0)
            o.runtime = (uint32_t)strtoul(argv[i] + 8, NULL, 10);
        else if (strncmp(argv[i], "thread=", 7) == 0)
            o.thread = argv[i] + 7;
        else if (strncmp(argv[i], "process=", 8) == 0)
            o.process = argv[i] + 8;
        else if (strncmp(argv[i], "most=", 5) == 0)
            o.max_items = strtoul(argv[i] + 5, NULL, 10);
        else if (strncmp(argv[i], "data=", 5) == 0)
            o.data = sxs_data_named(argv[i] + 5);
        else if (strcmp(argv[i], "by-count") == 0)
            o.by_count = true;
        else if (strcmp(argv[i], "only=native") == 0)
            o.only = SXS_ONLY_NATIVE;
        else if (strcmp(argv[i], "only=managed") == 0)
            o.only = SXS_ONLY_MANAGED;
        else
            return 64;
    }
    return report(argv[2], NULL, argv[1], &o);
}
