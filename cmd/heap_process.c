/* SPDX-License-Identifier: MIT */
#include "cmd/heap_process.h"

#include "cmd/command.h"
#include "cmd/heap/snapshots.h"
#include "cmd/process_session.h"
#include "session/read/heap_read.h"
#include "tools/options/heap_options.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- what the process has ---- */

static FILE *open_proc(pid_t pid, const char *name)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    return fopen(path, "re");
}

/* Finds the library and the session of the process. Returns an exit status. */
static int find_session(pid_t pid, struct sxs_heap_asked *out)
{
    struct sxs_process_session found;
    int                        status = sxs_process_session_open(pid, &found);
    out->dir = found.dir;
    out->folder = found.folder;
    if (status != SXS_EXIT_OK)
        return status;
    if (!found.library)
        return sxs_wrong_input("process %d: libsxsprof.so is not loaded; start the program with "
                               "sxsprof run --tool heap -o DIR",
                               (int)pid);
    if (!out->dir)
        return sxs_wrong_input("process %d: it records no session; start it with -o DIR", (int)pid);
    return SXS_EXIT_OK;
}

/* Returns the options of the tool heap in @tools: "NAME:OPTIONS;NAME:OPTIONS"; NULL: it has no such
 * tool. Changes @tools. */
static char *options_of_heap(char *tools)
{
    char *rest = NULL;
    for (char *t = strtok_r(tools, ";", &rest); t; t = strtok_r(NULL, ";", &rest)) {
        char *colon = strchr(t, ':');
        if (colon)
            *colon = '\0';
        if (strcmp(t, "heap") == 0)
            return colon ? colon + 1 : t + strlen(t);
    }
    return NULL;
}

/* Reads which signal asks for a snapshot from the settings that the process began with. A process
 * whose settings say nothing may have got them later: then it is the default. Returns the signal;
 * 0: none. */
static int signal_of(pid_t pid)
{
    struct sxs_heap_options options;
    char                   *line = NULL, why[256];
    size_t                  cap = 0;
    FILE                   *environ_file = open_proc(pid, "environ");
    int                     number = sxs_heap_signal(SXS_HEAP_SIGNAL_NAME);
    while (environ_file && getdelim(&line, &cap, '\0', environ_file) > 0) {
        if (strncmp(line, "SXSPROF_TOOLS=", 14) != 0)
            continue;
        char *text = options_of_heap(line + 14);
        if (text && sxs_heap_options_parse(text, &options, why, sizeof(why)) == 0)
            number = options.signal;
    }
    free(line);
    if (environ_file)
        fclose(environ_file);
    return number;
}

/* Returns whether the process has a handler for the signal. Without one, it would end. */
static bool catches(pid_t pid, int number)
{
    char               line[256];
    unsigned long long caught = 0;
    FILE              *status = open_proc(pid, "status");
    while (status && fgets(line, sizeof(line), status))
        sscanf(line, "SigCgt: %llx", &caught);
    if (status)
        fclose(status);
    return number > 0 && caught >> (number - 1) & 1;
}

/* ---- asking ---- */

/* Returns whether the snapshot is complete, or will never be. */
static bool is_complete(int folder_fd, uint32_t number)
{
    struct sxs_heap_reader r;
    char                   why[256];
    if (sxs_heap_reader_open(&r, folder_fd, number, why, sizeof(why)) != 0)
        return false;
    bool complete = r.head.ended_ns || r.head.error;
    sxs_heap_reader_close(&r);
    return complete;
}

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Waits for a snapshot with a higher number than @before. Returns an exit status. */
static int wait_for(pid_t pid, int folder_fd, uint32_t before, unsigned timeout,
                    struct sxs_heap_asked *out)
{
    const struct timespec pause = {.tv_nsec = 20000000};
    uint64_t              end = now_ms() + timeout * UINT64_C(1000);
    bool                  alive = true;
    for (;;) {
        uint32_t newest = sxs_heap_newest_number(folder_fd);
        if (newest > before && (is_complete(folder_fd, newest) || !alive)) {
            out->number = newest;
            return SXS_EXIT_OK;
        }
        if (!alive || now_ms() > end)
            break;
        alive = kill(pid, 0) == 0;
        nanosleep(&pause, NULL);
    }
    if (alive)
        sxs_complain("process %d: no heap snapshot in %u s; --timeout waits longer", (int)pid,
                     timeout);
    else
        sxs_complain("process %d ended without a heap snapshot", (int)pid);
    return SXS_EXIT_PROBLEM;
}

/* Puts a request for values into the process's folder, all of it at once. Returns 0 or an errno
 * value. The process may belong to another user. */
static int put_request(int folder_fd, const char *request)
{
    char   name[64];
    size_t size = strlen(request);
    int    err = 0;
    snprintf(name, sizeof(name), SXS_HEAP_ASK_FILE ".%d", (int)getpid());
    int fd = openat(folder_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0)
        return errno;
    if (fchmod(fd, 0644) != 0 || write(fd, request, size) != (ssize_t)size)
        err = errno ? errno : ENOSPC;
    if (close(fd) != 0 && !err)
        err = errno;
    if (!err && renameat(folder_fd, name, folder_fd, SXS_HEAP_ASK_FILE) != 0)
        err = errno;
    if (err)
        unlinkat(folder_fd, name, 0);
    return err;
}

int sxs_heap_ask(pid_t pid, unsigned timeout, const char *request, struct sxs_heap_asked *out)
{
    char path[PATH_MAX];
    int  status = find_session(pid, out);
    if (status != SXS_EXIT_OK)
        return status;
    int number = signal_of(pid);
    if (!catches(pid, number))
        return sxs_wrong_input("process %d: no signal asks it for a heap snapshot; start it with "
                               "sxsprof run --tool heap -o DIR",
                               (int)pid);
    snprintf(path, sizeof(path), "%s/%s", out->dir, out->folder);
    int folder_fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder_fd < 0)
        return sxs_wrong_input("process %d: %s: %s", (int)pid, path, strerror(errno));
    uint32_t before = sxs_heap_newest_number(folder_fd);
    int      err = request ? put_request(folder_fd, request) : 0;
    if (err)
        status = sxs_wrong_input("%s: %s", path, strerror(err));
    else if (kill(pid, number) != 0)
        status = sxs_wrong_input("process %d: %s", (int)pid, strerror(errno));
    else
        status = wait_for(pid, folder_fd, before, timeout, out);
    close(folder_fd);
    return status;
}

void sxs_heap_asked_free(struct sxs_heap_asked *a)
{
    free(a->dir);
    free(a->folder);
    *a = (struct sxs_heap_asked){0};
}
