/* SPDX-License-Identifier: MIT */
#include "cmd/command.h"

#include "cmd/output/print.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void print_complaint(const char *fmt, va_list ap)
{
    flockfile(stderr);
    fputs("sxsprof: ", stderr);
    sxs_vprint_to(stderr, fmt, ap);
    putc('\n', stderr);
    funlockfile(stderr);
}

void sxs_complain(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    print_complaint(fmt, ap);
    va_end(ap);
}

int sxs_wrong_input(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    print_complaint(fmt, ap);
    va_end(ap);
    return SXS_EXIT_USAGE;
}

int sxs_finish_output(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return SXS_EXIT_OK;
    sxs_complain("standard output: %s", strerror(errno));
    return SXS_EXIT_PROBLEM;
}
