/* SPDX-License-Identifier: MIT */
/* case_filter.c - linked into each unit test: CASE=TEXT in the environment selects the cases whose
 * names contain the text. A blank stands for the underscore of a name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

__attribute__((constructor)) static void select_cases(void)
{
    static char pattern[256];
    const char *text = getenv("CASE");
    if (!text || !text[0])
        return;
    (void)snprintf(pattern, sizeof(pattern), "*%s*", text);
    for (char *at = pattern; *at; at++)
        if (*at == ' ')
            *at = '_';
    cmocka_set_test_filter(pattern);
}
