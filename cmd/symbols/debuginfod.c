/* SPDX-License-Identifier: MIT */
#include "cmd/symbols/debuginfod.h"

#include "cmd/output/print.h"
#include "cmd/output/text.h"

#include "base/env.h"

#include <dlfcn.h>
#include <elfutils/debuginfod.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_S = 15, MAX_WAIT_S = 3600, LONGEST_S = 900, MAX_FILES = 1024 };

/* Smallest growth of the progress value that is a piece of a file: before the first piece,
 * libdebuginfod counts its own rounds in the same value. */
#define PIECE 64

static struct {
    bool               loaded, shown;
    unsigned           asked;        /* how many files */
    debuginfod_client *client;       /* owned, for the life of the process */
    const char        *name;         /* borrowed; of the file being looked up */
    long               seen;         /* the last progress value */
    time_t             began, moved; /* seconds; of this download, of its last piece */
    debuginfod_client *(*begin)(void);
    int (*find_debuginfo)(debuginfod_client *, const unsigned char *, int, char **);
    void (*set_progressfn)(debuginfod_client *, debuginfod_progressfn_t);
} state;

bool sxs_debuginfod_enabled(void)
{
    const char *urls = sxs_env_named(DEBUGINFOD_URLS_ENV_VAR);
    return urls && *urls;
}

static time_t now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return now.tv_sec;
}

static long wait_s(void)
{
    const char *text = sxs_env_named(DEBUGINFOD_TIMEOUT_ENV_VAR);
    long        n = text ? strtol(text, NULL, 10) : 0;
    return n > 0 && n <= MAX_WAIT_S ? n : WAIT_S;
}

/* Loads the library, at first. Returns false when it is missing. */
static bool load(void)
{
    if (state.loaded)
        return state.client != NULL;
    state.loaded = true;
    void *library = dlopen(DEBUGINFOD_SONAME, RTLD_LAZY | RTLD_LOCAL);
    if (library) {
        *(void **)&state.begin = dlsym(library, "debuginfod_begin");
        *(void **)&state.set_progressfn = dlsym(library, "debuginfod_set_progressfn");
        *(void **)&state.find_debuginfo = dlsym(library, "debuginfod_find_debuginfo");
    }
    if (state.begin && state.set_progressfn && state.find_debuginfo)
        state.client = state.begin();
    if (state.client)
        return true;
    sxs_print_to(stderr, "sxsprof: DEBUGINFOD_URLS: %s cannot be loaded: no server is asked\n",
            DEBUGINFOD_SONAME);
    sxs_debuginfod_disable();
    return false;
}

static void give_up(const char *why, long seconds)
{
    sxs_debuginfod_done();
    sxs_print_to(stderr, "sxsprof: debuginfod: %s %ld s: no server is asked again\n", why, seconds);
    sxs_debuginfod_disable();
}

static void show(long done, long whole)
{
    const char *term = sxs_env_named("TERM"), *slash = strrchr(state.name, '/');
    if (!isatty(STDERR_FILENO) || !term || !*term || strcmp(term, "dumb") == 0)
        return;
    sxs_print_to(stderr, "\rdebuginfod: %.60s", slash ? slash + 1 : state.name);
    if (whole > 0)
        sxs_print_to(stderr, " %s of %s", SXS_BYTES(done), SXS_BYTES(whole));
    fputs("\033[K", stderr);
    fflush(stderr);
    state.shown = true;
}

/* Called by libdebuginfod about once a second. Returns 1 to cancel the download. */
static int on_progress(debuginfod_client *client, long done, long whole)
{
    time_t now = now_s();
    (void)client;
    if (!sxs_debuginfod_enabled())
        return 1;
    if (done >= state.seen + PIECE)
        state.moved = now;
    state.seen = done;
    show(done, whole);
    if (now - state.moved > wait_s()) {
        give_up("no answer within", wait_s());
        return 1;
    }
    if (now - state.began > LONGEST_S) {
        give_up("a download was not complete after", LONGEST_S);
        return 1;
    }
    return 0;
}

int sxs_debuginfod_find(const char *name, const uint8_t *build_id, size_t size)
{
    if (!size || state.asked >= MAX_FILES || !sxs_debuginfod_enabled() || !load())
        return -1;
    state.asked++;
    state.name = name;
    state.seen = 0;
    state.began = state.moved = now_s();
    state.set_progressfn(state.client, on_progress);
    int fd = state.find_debuginfo(state.client, build_id, (int)size, NULL);
    return fd < 0 ? -1 : fd;
}

void sxs_debuginfod_disable(void)
{
    unsetenv(DEBUGINFOD_URLS_ENV_VAR);
}

void sxs_debuginfod_done(void)
{
    if (!state.shown)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    state.shown = false;
}
