/* SPDX-License-Identifier: MIT */
#include "cmd/heap_process.h"

#include "base/clock.h"
#include "cmd/command.h"
#include "cmd/heap/snapshots.h"
#include "cmd/process_session.h"
#include "cmd/processes/inside.h"
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
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAX_TOOLS  (1u << 17) /* bytes of a setting; the kernel permits no longer one */
#define MAX_STATUS (1u << 20) /* bytes of /proc/PID/status */

/* ---- what the process has ---- */

/* Finds the library and the session of the process. Returns an exit status. */
static int find_session(pid_t pid, struct sxs_heap_asked *out)
{
    int status = sxs_process_session_open(pid, &out->session);
    if (status != SXS_EXIT_OK)
        return status;
    if (!out->session.library || !out->session.dir)
        return sxs_wrong_input(
            "process %d: %s; expected a program that was started with the tool heap, as by sxsprof "
            "heap -o DIR -- COMMAND, or: sxsprof record heap:now -p %d -d 10s -o DIR",
            (int)pid,
            out->session.library ? "it records no session" : "libsxsprof.so is not loaded",
            (int)pid);
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
static int signal_of(const struct sxs_process *p)
{
    static char             tools[MAX_TOOLS];
    struct sxs_heap_options options;
    char                    why[256];
    int                     number = sxs_heap_signal(SXS_HEAP_SIGNAL_NAME);
    if (sxs_process_variable(p, "SXSPROF_TOOLS", tools, sizeof(tools)) != 0)
        return number;
    char *text = options_of_heap(tools);
    if (text && sxs_heap_options_parse(text, &options, why, sizeof(why)) == 0)
        number = options.signal;
    return number;
}

/* Returns whether the process has a handler for the signal. Without one, it would end. */
static bool catches(const struct sxs_process *p, int number)
{
    char              *status = sxs_proc_text(p->dir, "status", MAX_STATUS, NULL);
    const char        *value = status ? sxs_status_value(status, "SigCgt") : NULL;
    unsigned long long caught = value ? strtoull(value, NULL, 16) : 0;
    free(status);
    return number > 0 && caught >> (number - 1) & 1;
}

/* ---- waiting ---- */

/* Returns whether the snapshot is complete, or will never be. */
static bool is_complete(int folder_fd, uint32_t number)
{
    struct sxs_heap_reader r;
    char                   why[256];
    if (sxs_heap_reader_open(&r, SXS_FILES_OF(folder_fd), number, why, sizeof(why)) != 0)
        return false;
    bool complete = r.head.ended_ns || r.head.error;
    sxs_heap_reader_close(&r);
    return complete;
}

static uint64_t now_ms(void)
{
    return sxs_now_ns(CLOCK_MONOTONIC) / 1000000;
}

/* Waits for a snapshot with a higher number than @before. Returns an exit status. */
static int wait_for(struct sxs_process *p, int folder_fd, uint32_t before, unsigned timeout,
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
        alive = sxs_process_has_program(p);
        nanosleep(&pause, NULL);
    }
    if (alive)
        sxs_complain("process %d: no heap snapshot in %u s; --timeout waits longer", (int)p->pid,
                     timeout);
    else
        sxs_complain("process %d ended without a heap snapshot", (int)p->pid);
    return SXS_EXIT_PROBLEM;
}

/* ---- in a child that is the user of the process ---- */

struct opened {
    int         session; /* descriptor of the session's folder */
    const char *folder;
};

/* Opens the process's folder in its session. It must be one of the process's user. */
static int open_folder(int root, void *arg, int *fd)
{
    const struct opened *o = arg;
    struct stat          st;
    (void)root;
    *fd = openat(o->session, o->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (*fd < 0 || fstat(*fd, &st) != 0)
        return errno;
    return st.st_uid == geteuid() ? 0 : EPERM;
}

struct snapshot_request {
    int         folder;
    const char *text;
    pid_t       asker; /* PID of this command: its requests have names of their own */
};

/* Puts a request for values into the process's folder, all of it at once. Returns 0 or an errno
 * value. */
static int put_request(int root, void *arg, int *fd)
{
    const struct snapshot_request *r = arg;
    char                           name[64];
    size_t                         size = strlen(r->text);
    int                            err = 0;
    (void)root;
    (void)fd;
    snprintf(name, sizeof(name), SXS_HEAP_ASK_FILE ".%d", (int)r->asker);
    int to = openat(r->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (to < 0)
        return errno;
    if (write(to, r->text, size) != (ssize_t)size)
        err = errno ? errno : ENOSPC;
    if (close(to) != 0 && !err)
        err = errno;
    if (!err && renameat(r->folder, name, r->folder, SXS_HEAP_ASK_FILE) != 0)
        err = errno;
    if (err)
        unlinkat(r->folder, name, 0);
    return err;
}

/* ---- asking ---- */

/* Opens the process's folder in its session. Returns a descriptor, or -1 after a message. */
static int open_session(const struct sxs_process *p, const struct sxs_heap_asked *found)
{
    struct opened                o = {found->session.fd, found->session.folder};
    const struct sxs_inside_work work = {
        .run = open_folder, .arg = &o, .keep = &o.session, .n_keep = 1};
    int fd = -1, err = sxs_inside_run(p, &work, &fd);
    if (!err)
        return fd;
    if (fd >= 0)
        close(fd);
    sxs_wrong_input("process %d: %s/%s: %s", (int)p->pid, found->session.dir, o.folder,
                    err == EPERM ? "not a folder of the process's user" : strerror(err));
    return -1;
}

struct sending {
    int dir; /* /proc/PID */
    int number;
};

/* In the child: sends the signal to the very process that was read. If it becomes a program with other rights
 * now, the kernel refuses what the process's user could not do to it. */
static int put_signal(int root, void *arg, int *fd)
{
    const struct sending *s = arg;
    (void)root;
    (void)fd;
    return syscall(SYS_pidfd_send_signal, s->dir, s->number, NULL, 0) == 0 ? 0 : errno;
}

static int send_signal(const struct sxs_process *p, int number)
{
    struct sending s = {p->dir, number};
    return sxs_inside_call(p, 0, put_signal, &s, NULL);
}

static int ask_process(struct sxs_process *p, unsigned timeout, const char *request,
                       struct sxs_heap_asked *out)
{
    const char *problem = sxs_identity_problem(&p->identity);
    int         number = signal_of(p);
    if (problem)
        return sxs_wrong_input("process %d: %s", (int)p->pid, problem);
    if (!catches(p, number))
        return sxs_wrong_input("process %d: no signal asks it for a heap snapshot; start it with "
                               "sxsprof record heap -o DIR",
                               (int)p->pid);
    int folder = open_session(p, out);
    if (folder < 0)
        return SXS_EXIT_USAGE;
    struct snapshot_request      r = {folder, request, getpid()};
    const struct sxs_inside_work work = {
        .run = put_request, .arg = &r, .keep = &folder, .n_keep = 1};
    uint32_t before = sxs_heap_newest_number(folder);
    int      err = request ? sxs_inside_run(p, &work, NULL) : 0, status;
    if (err)
        status = sxs_wrong_input("%s/%s: %s", out->session.dir, out->session.folder, strerror(err));
    else if ((err = send_signal(p, number)))
        status = sxs_wrong_input("process %d: %s", (int)p->pid, strerror(err));
    else
        status = wait_for(p, folder, before, timeout, out);
    close(folder);
    return status;
}

int sxs_heap_ask(pid_t pid, unsigned timeout, const char *request, struct sxs_heap_asked *out)
{
    struct sxs_process p;
    int err = sxs_process_read(pid, &p); /* first: the session is that of this process */
    int status = find_session(pid, out);
    if (status == SXS_EXIT_OK && err)
        status = sxs_wrong_input("process %d: %s", (int)pid, strerror(err));
    if (status == SXS_EXIT_OK)
        status = ask_process(&p, timeout, request, out);
    sxs_process_free(&p);
    return status;
}

void sxs_heap_asked_free(struct sxs_heap_asked *a)
{
    sxs_process_session_free(&a->session);
    a->number = 0;
}
