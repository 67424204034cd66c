/* SPDX-License-Identifier: MIT */
/* called.c - functions that instrumentation files call. They count their calls; the sums are
 * printed when the library is unloaded. */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#include "bridge.h"
#include "include/sxsprof.h"

static _Atomic long before, sum, threw, texts, starts, finishes, bad;
static _Atomic long entered, left, left_thrown;

static void check_method(const struct sxsprof_method *method)
{
    if (!method || !method->runtime || !method->version[0] || !method->name[0])
        bad++;
}

SXSBRIDGE_API void sxsbridge_before(const struct sxsprof_method *method, int n)
{
    check_method(method);
    before++;
    sum += n;
}

SXSBRIDGE_API void sxsbridge_after(const struct sxsprof_method *method, int result, intptr_t thrown)
{
    check_method(method);
    threw += thrown;
    sum += result;
}

SXSBRIDGE_API void *sxsbridge_start(const struct sxsprof_method *method, int n)
{
    check_method(method);
    starts++;
    return (void *)(intptr_t)(n + 1);
}

SXSBRIDGE_API void sxsbridge_finish(const struct sxsprof_method *method, void *state, int result,
                                    intptr_t thrown)
{
    check_method(method);
    finishes++;
    if (!thrown && (intptr_t)state != result)
        bad++;
}

SXSBRIDGE_API int sxsbridge_replaced(const struct sxsprof_method *method)
{
    return 5000 + (method ? 1 : 0);
}

SXSBRIDGE_API void sxsbridge_text(const struct sxsprof_method *method, const uint16_t *text)
{
    check_method(method);
    texts += text && text[0] ? 1 : 0;
}

SXSBRIDGE_API const void *sxsbridge_entered(const struct sxsprof_method *method)
{
    check_method(method);
    entered++;
    return method;
}

SXSBRIDGE_API void sxsbridge_left(const struct sxsprof_method *method, const void *state,
                                  intptr_t thrown)
{
    if (state != method)
        bad++;
    left++;
    left_thrown += thrown;
}

__attribute__((destructor)) static void say(void)
{
    if (before || starts || texts || threw)
        printf("called: before %ld sum %ld threw %ld starts %ld finishes %ld texts %ld bad %ld\n",
               before, sum, threw, starts, finishes, texts, bad);
    if (entered)
        printf("called: entered %ld left %ld thrown %ld bad %ld\n", entered, left, left_thrown,
               bad);
}
