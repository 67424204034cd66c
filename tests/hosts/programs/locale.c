/* SPDX-License-Identifier: MIT */
/* locale - a host whose locale writes numbers with a comma. It sets the locale before the runtimes
 * start, and one thread sets another locale by uselocale. The locale de_DE.UTF-8 is in the folder
 * LOCPATH; tests/hosts/wrap_locale.sh makes it. */
#include <locale.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/hosts/hosting.h"

static bool writes_commas(void)
{
    char text[32];

    snprintf(text, sizeof(text), "%.2f", 0.5);
    return !strcmp(text, "0,50") && strtod("0,25", NULL) == 0.25;
}

static void *own_locale(void *argument)
{
    locale_t here = newlocale(LC_ALL_MASK, "C", NULL);
    char     text[32];
    intptr_t wrong = 0;

    (void)argument;
    uselocale(here);
    for (int i = 0; i < hosting_len(); i++)
        wrong += hosting_guest(i)->all(1);
    snprintf(text, sizeof(text), "%.2f", 0.5);
    wrong += strcmp(text, "0.50") != 0;
    uselocale(LC_GLOBAL_LOCALE);
    freelocale(here);
    return (void *)wrong;
}

int main(void)
{
    pthread_t thread;
    void     *wrong = NULL;

    hosting_claim(setlocale(LC_ALL, "de_DE.UTF-8") != NULL, "the locale is there");
    hosting_claim(writes_commas(), "numbers have commas");
    hosting_start();
    hosting_claim(hosting_work(2) == 0, "work");
    pthread_create(&thread, NULL, own_locale, NULL);
    pthread_join(thread, &wrong);
    hosting_claim(!wrong, "a thread with a locale of its own");
    hosting_claim(writes_commas(), "numbers still have commas");
    return hosting_end();
}
