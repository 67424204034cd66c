/* SPDX-License-Identifier: MIT */
/*
 * late_host.c - a program that hosts one runtime, loads libraries one after the other, and uses each at
 * once for a short time.
 * usage: late_host RUNTIME BLOCKS.DLL FOLDER MS keep|close LIBRARY...
 * RUNTIME: folder of a libcoreclr.so. FOLDER: for the files by which the runtime's thread and the main one
 * wait for each other. Each library exports late_spin(), which takes so many milliseconds.
 */
#include <pthread.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/hosts/one_clr.h"

static char **arguments;

static void *run_runtime(void *unused)
{
    char        ready[4096], until[4096];
    const char *words[] = {ready, until};
    (void)unused;
    snprintf(ready, sizeof(ready), "ready=%s/ready", arguments[3]);
    snprintf(until, sizeof(until), "until=%s/until", arguments[3]);
    return (void *)(intptr_t)one_clr_run(arguments[1], arguments[2], 2, words);
}

int main(int argc, char **argv)
{
    char        path[4096];
    struct stat st;
    pthread_t   thread;
    void       *result;
    long        ns = atol(argv[4]) * 1000000;
    arguments = argv;
    pthread_create(&thread, NULL, run_runtime, NULL);
    snprintf(path, sizeof(path), "%s/ready", argv[3]);
    while (stat(path, &st) != 0)
        usleep(10000);
    for (int i = 6; i < argc; i++) {
        void *library;
        void (*spin)(long);
        usleep(200000); /* until the library looks at files seldom again */
        library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            fprintf(stderr, "%s\n", dlerror());
            return 3;
        }
        *(void **)&spin = dlsym(library, "late_spin");
        spin(ns);
        if (strcmp(argv[5], "close") == 0)
            dlclose(library);
    }
    snprintf(path, sizeof(path), "%s/until", argv[3]);
    fclose(fopen(path, "w"));
    pthread_join(thread, &result);
    return (int)(intptr_t)result;
}
