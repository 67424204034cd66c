/* SPDX-License-Identifier: MIT */
/* clr.c - starts a CLR and runs an app in it, for the Go program in this folder. */
#include <libgen.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/clr.h"
#include "harness/properties.h"

int run_app(char *dir, char *app, int argc, char **argv);
int call_managed(void);

static int (*_Atomic collection_count)(int generation); /* System.GC.CollectionCount */

/* Calls a managed method; from then on the runtime treats the calling thread as one of its own.
 * Returns the result of the method, or -1 when no app runs. Any thread. */
int call_managed(void)
{
    int (*count)(int) = collection_count;
    return count ? count(0) : -1;
}

/* Stores the function. Returns 0, or -1 when @count is NULL. */
static int keep_count(int (*count)(int))
{
    atomic_store(&collection_count, count);
    return count ? 0 : -1;
}

/* Runs the app. Returns its exit status, or 4 after printing a line to standard error. Once; any
 * thread. */
int run_app(char *dir, char *app, int argc, char **argv)
{
    struct sxs_clr        clr = {0};
    struct sxs_properties properties = {0};
    void                 *count = NULL;
    char                  why[512] = "out of memory";
    char                 *copy = strdup(app);
    int                   status = 4;
    if (!copy || sxs_properties_fill(&properties, dir, dirname(copy)) != 0 ||
        sxs_clr_load(&clr, dir, why, sizeof(why)) != 0 ||
        sxs_clr_start(&clr, &properties, why, sizeof(why)) != 0 ||
        clr.create_delegate(clr.host, clr.domain, "System.Private.CoreLib", "System.GC",
                            "CollectionCount", &count) < 0 ||
        keep_count((int (*)(int))count) != 0 ||
        sxs_clr_execute(&clr, app, argc, (const char **)(void *)argv, &status, why, sizeof(why)) !=
            0 ||
        sxs_clr_stop(&clr, &status, why, sizeof(why)) != 0) {
        fprintf(stderr, "go host: %s\n", why);
        status = 4;
    }
    sxs_properties_free(&properties);
    free(copy);
    return status;
}

/* Include the sources, because cgo compiles only the files of this folder. */
#include "harness/clr.c"
#include "harness/library.c"
#include "harness/properties.c"
#include "harness/self.c"
