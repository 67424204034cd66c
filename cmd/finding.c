/* SPDX-License-Identifier: MIT */
#include "cmd/finding.h"

#include "cmd/output/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Prints a line. The text may contain values of variables and contents of files, so it is cleaned
 * as a whole, after formatting. */
static void print_finding(const char *mark, const char *fmt, va_list ap)
{
    char *raw = NULL, *clean = NULL;
    int   n = vasprintf(&raw, fmt, ap);
    if (n < 0)
        return;
    size_t size = 3 * (size_t)n + 1;
    clean = malloc(size);
    if (clean) {
        sxs_text_clean(raw, clean, size);
        printf("  %-8s %s\n", mark, clean);
    }
    free(clean);
    free(raw);
}

void sxs_found_title(const char *title)
{
    printf("%s\n", title);
}

void sxs_found_ok(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    print_finding("ok", fmt, ap);
    va_end(ap);
}

void sxs_found_note(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    print_finding("note", fmt, ap);
    va_end(ap);
}

void sxs_found_problem(struct sxs_findings *f, const char *fmt, ...)
{
    va_list ap;
    f->n_problems++;
    va_start(ap, fmt);
    print_finding("problem", fmt, ap);
    va_end(ap);
}

void sxs_found_advice(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    print_finding("", fmt, ap);
    va_end(ap);
}
