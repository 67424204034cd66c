/* SPDX-License-Identifier: MIT */
/*
 * closefrom.c - a host that closes all descriptors except pipes while a runtime runs, then opens
 * its own files, which receive the same numbers. These files must not change.
 *
 * usage: closefrom RUNTIME_DIR APP.dll FOLDER [ARGUMENT...]      FOLDER: for the host's files
 *
 * Then, for HOST_HUNTS seconds (default 0), it starts and ends threads, closes each descriptor that
 * appears at once, and opens a file of its own that receives the same number.
 *
 * Prints "host: N of 64 files are as they were" after everything else has ended. Status 0 when all
 * files are unchanged.
 */
#include <dirent.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "harness/clr.h"
#include "harness/properties.h"

#define N_FILES 64
#define FIRST   3 /* the lowest descriptor that the host closes */

static struct {
    int  fd;
    char text[32];
} files[N_FILES];

static _Atomic int done;

/* Waits until the first perf event is open, for a second at most: the profiler opens perf events
 * some time after the start of their threads. */
static void wait_for_perf_events(void)
{
    for (int i = 0; i < 100; i++) {
        DIR *list = opendir("/proc/self/fd");
        int  found = 0;
        for (struct dirent *e; list && (e = readdir(list));) {
            char    target[64] = "";
            ssize_t n = readlinkat(dirfd(list), e->d_name, target, sizeof(target) - 1);
            found |= n > 0 && strstr(target, "perf_event") != NULL;
        }
        if (list)
            closedir(list);
        if (found)
            return;
        usleep(10000);
    }
}

/* Closes descriptors and opens the host's files. Pipes stay open, because the runtime uses one to
 * wake a thread. */
static void replace_all(const char *folder)
{
    for (int fd = FIRST; fd < 1024; fd++) {
        struct stat st;
        if (fstat(fd, &st) == 0 && !S_ISFIFO(st.st_mode))
            close(fd);
    }
    for (int i = 0; i < N_FILES; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof(path), "%s/%d", folder, i);
        snprintf(files[i].text, sizeof(files[i].text), "file %d of the host", i);
        files[i].fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
        if (files[i].fd < 0 ||
            write(files[i].fd, files[i].text, sizeof(files[i].text)) != sizeof(files[i].text))
            exit(99);
    }
}

static void *end_at_once(void *arg)
{
    return arg;
}

static int is_own(int fd)
{
    for (int i = 0; i < N_FILES; i++)
        if (files[i].fd == fd)
            return 1;
    return 0;
}

static int n_hunted, n_lost;

/* Whether @what is a library that a runtime loads, a file that the JIT compiler reads when it is
 * loaded, or one of the files that the C library reads on any thread: free() before it returns
 * memory of a thread's heap to the kernel for the first time (overcommit_memory), malloc() when a
 * ninth thread gets a heap of its own (cpu/online). */
static int is_of_others(const char *what)
{
    static const char *const parts[] = {
        ".so", ".dll", "/mountinfo", "cgroup", "/meminfo", "/overcommit_memory", "/cpu/online"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (strstr(what, parts[i]))
            return 1;
    return 0;
}

/* Closes @fd unless it belongs to the host, to a runtime or to the C library, and opens a file of the host that
 * receives the same number. Counts the file as lost if it is closed soon after, because then the
 * descriptor's owner has closed the host's file. */
static void hunt(int fd, const char *folder)
{
    char        path[64], what[PATH_MAX];
    struct stat st, own;
    ssize_t     n;
    int         folder_fd;
    if (is_own(fd) || fstat(fd, &st) != 0 || S_ISFIFO(st.st_mode))
        return;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    n = readlink(path, what, sizeof(what) - 1);
    what[n > 0 ? n : 0] = '\0';
    if (!*what || is_of_others(what))
        return;
    close(fd);
    folder_fd = open(folder, O_RDONLY | O_DIRECTORY);
    fstat(folder_fd, &own);
    n_hunted++;
    usleep(2000);
    if (fstat(folder_fd, &st) == 0 && st.st_dev == own.st_dev && st.st_ino == own.st_ino) {
        close(folder_fd);
        return;
    }
    printf("host: lost the number of %s\n", what);
    n_lost++;
}

static void hunt_for(int seconds, const char *folder)
{
    time_t end = time(NULL) + seconds;
    while (time(NULL) < end) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, end_at_once, NULL) == 0)
            pthread_join(thread, NULL);
        for (int fd = FIRST; fd < FIRST + N_FILES + 16; fd++)
            hunt(fd, folder);
    }
    printf("host: %d descriptors taken over, %d lost\n", n_hunted, n_lost);
}

/* An exit handler. It is registered first and therefore called last, after the library has
 * ended. */
static void count_files(void)
{
    int whole = 0;
    if (!done)
        return;
    for (int i = 0; i < N_FILES; i++) {
        char        text[sizeof(files[i].text)];
        struct stat st;
        int         flags = fcntl(files[i].fd, F_GETFL);
        if (fstat(files[i].fd, &st) == 0 && st.st_size == sizeof(text) &&
            pread(files[i].fd, text, sizeof(text), 0) == sizeof(text) &&
            memcmp(text, files[i].text, sizeof(text)) == 0 && !(flags & O_ASYNC))
            whole++;
    }
    printf("host: %d of %d files are as they were\n", whole, N_FILES);
    fflush(stdout);
    if (whole != N_FILES)
        _exit(1);
}

static void *sleep_a_while(void *arg)
{
    (void)arg;
    while (!done)
        usleep(1000);
    return NULL;
}

int main(int argc, char **argv)
{
    struct sxs_clr        clr = {0};
    struct sxs_properties properties;
    pthread_t             threads[4];
    char                  why[512] = "", app_dir[PATH_MAX];
    int                   code = 0;
    if (argc < 4)
        return 2;
    atexit(count_files);
    snprintf(app_dir, sizeof(app_dir), "%s", argv[2]);
    if (sxs_properties_fill(&properties, argv[1], dirname(app_dir)) ||
        sxs_clr_load(&clr, argv[1], why, sizeof(why)) ||
        sxs_clr_start(&clr, &properties, why, sizeof(why))) {
        fprintf(stderr, "host: %s\n", why);
        return 3;
    }
    for (int i = 0; i < 4; i++) /* they exist before and after the descriptors are closed */
        pthread_create(&threads[i], NULL, sleep_a_while, NULL);
    if (getenv("HOST_WAITS_FOR_PERF"))
        wait_for_perf_events();
    replace_all(argv[3]);
    if (getenv("HOST_HUNTS"))
        hunt_for(atoi(getenv("HOST_HUNTS")), argv[3]);
    if (sxs_clr_execute(&clr, argv[2], argc - 4, (const char **)(void *)(argv + 4), &code, why,
                        sizeof(why)) ||
        code) {
        fprintf(stderr, "host: %s, exit code %d\n", why, code);
        return 4;
    }
    done = 1;
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return sxs_clr_stop(&clr, &code, why, sizeof(why)) ? 5 : code;
}
