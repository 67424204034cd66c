/* SPDX-License-Identifier: MIT */
/*
 * native_new_host.c - a program that hosts one runtime and calls native_new.cpp while it runs.
 * usage: host RUNTIME BLOCKS.DLL FOLDER [LIBRARY]
 * RUNTIME: folder of a libcoreclr.so. FOLDER: for the files by which the runtime's thread and the main one
 * wait for each other. LIBRARY: native_new.cpp as a library, else it is linked with this program.
 */
#include <pthread.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/hosts/one_clr.h"

extern void news_use(size_t first, int n) __attribute__((weak));
extern void news_use_aligned(size_t first, int n) __attribute__((weak));
extern int  news_fail(void) __attribute__((weak));
extern void news_use_jemalloc(size_t first, int n) __attribute__((weak));

static const char *const *arguments;

static void *run_runtime(void *unused)
{
    char        ready[4096], until[4096];
    const char *words[] = {ready, until};
    (void)unused;
    snprintf(ready, sizeof(ready), "ready=%s/ready", arguments[3]);
    snprintf(until, sizeof(until), "until=%s/until", arguments[3]);
    return (void *)(intptr_t)one_clr_run(arguments[1], arguments[2], 2, words);
}

static void *function(void *library, const char *name, void *linked)
{
    void *found = library ? dlsym(library, name) : linked;
    if (!found) {
        fprintf(stderr, "no %s\n", name);
        exit(3);
    }
    return found;
}

int main(int argc, char **argv)
{
    void (*use)(size_t, int);
    void (*use_aligned)(size_t, int);
    void (*use_jemalloc)(size_t, int);
    int (*fail)(void);
    char        path[4096];
    struct stat st;
    pthread_t   thread;
    void       *library = NULL, *result;
    int         failed;
    arguments = (const char *const *)argv;
    pthread_create(&thread, NULL, run_runtime, NULL);
    snprintf(path, sizeof(path), "%s/ready", argv[3]);
    while (stat(path, &st) != 0)
        usleep(10000);
    if (argc > 4 && !(library = dlopen(argv[4], RTLD_NOW | RTLD_LOCAL)))
        fprintf(stderr, "%s\n", dlerror());
    *(void **)&use = function(library, "news_use", (void *)(uintptr_t)news_use);
    *(void **)&use_aligned =
        function(library, "news_use_aligned", (void *)(uintptr_t)news_use_aligned);
    *(void **)&use_jemalloc =
        function(library, "news_use_jemalloc", (void *)(uintptr_t)news_use_jemalloc);
    *(void **)&fail = function(library, "news_fail", (void *)(uintptr_t)news_fail);
    use(100001, 40);
    use_aligned(256 * 1000, 40);
    if (dlsym(RTLD_DEFAULT, "mallctl"))
        use_jemalloc(200001, 40);
    failed = dlsym(RTLD_DEFAULT, "mi_malloc") ? 0 : fail(); /* mimalloc ends the process */
    snprintf(path, sizeof(path), "%s/until", argv[3]);
    fclose(fopen(path, "w"));
    pthread_join(thread, &result);
    return failed ? 4 : (int)(intptr_t)result;
}
