/* SPDX-License-Identifier: MIT */
#include "cmd/finding.h"

#include "cmd/output/print.h"

#include <stdarg.h>
#include <stdio.h>

static void print_finding(const char *mark, const char *fmt, va_list ap)
{
    sxs_print("  %-8s ", mark);
    sxs_vprint_to(stdout, fmt, ap);
    putchar('\n');
}

void sxs_found_title(const char *title)
{
    sxs_print("%s\n", title);
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
