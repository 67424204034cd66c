/* SPDX-License-Identifier: MIT */
/*
 * number_locale.c - a host that sets the locale given by its environment, as programs with a user
 * interface do, and runs one app.
 *
 * usage: number_locale RUNTIME_DIR APP.dll [ARGUMENT...]      Prints "host: 0,5", one half in that locale.
 */
#include <libgen.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>

#include "harness/clr.h"
#include "harness/properties.h"

int main(int argc, char **argv)
{
    struct sxs_clr        clr = {0};
    struct sxs_properties properties;
    char                  why[512] = "", app_dir[PATH_MAX];
    int                   code = 0;
    if (argc < 3 || !setlocale(LC_ALL, ""))
        return 2;
    printf("host: %.1f\n", 0.5);
    fflush(stdout);
    snprintf(app_dir, sizeof(app_dir), "%s", argv[2]);
    if (sxs_properties_fill(&properties, argv[1], dirname(app_dir)) ||
        sxs_clr_load(&clr, argv[1], why, sizeof(why)) ||
        sxs_clr_start(&clr, &properties, why, sizeof(why)) ||
        sxs_clr_execute(&clr, argv[2], argc - 3, (const char **)(void *)(argv + 3), &code, why,
                        sizeof(why))) {
        fprintf(stderr, "host: %s\n", why);
        return 3;
    }
    return sxs_clr_stop(&clr, &code, why, sizeof(why)) ? 4 : code;
}
