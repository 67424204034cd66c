/* SPDX-License-Identifier: MIT */
#include "cmd/processes/process.h"

#include "cmd/processes/container.h"
#include "cmd/processes/inspect.h"
#include "cmd/processes/process_internal.h"

#include "base/clock.h"
#include "base/stat_field.h"
#include "base/tree.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAX_TEXT    (1u << 20) /* bytes of /proc/PID/status */
#define MAX_ENVIRON (4u << 20)
#define MAX_READS   5 /* of a process that changes its identity meanwhile */

/* Reads the first @size - 1 bytes of a file of /proc/PID. Returns the number of bytes, or -errno. */
static ssize_t read_file(const struct sxs_process *p, const char *name, char *text, size_t size)
{
    int     fd = openat(p->dir, name, O_RDONLY | O_CLOEXEC);
    size_t  len = 0;
    ssize_t n = fd < 0 ? -1 : 0;
    while (fd >= 0 && len < size - 1 && (n = read(fd, text + len, size - 1 - len)) > 0)
        len += (size_t)n;
    int err = errno;
    if (fd >= 0)
        close(fd);
    text[len] = '\0';
    return n < 0 ? -err : (ssize_t)len;
}

/* Parses state and start time of /proc/PID/stat. Returns 0 or an errno value. */
/* @started_ns: CLOCK_REALTIME. */
static int read_stat(const struct sxs_process *p, char *state, uint64_t *started_ns)
{
    char    text[1024];
    ssize_t n = read_file(p, "stat", text, sizeof(text));
    if (n < 0)
        return (int)-n;
    *state = sxs_stat_state(text);
    *started_ns = sxs_now_ns(CLOCK_REALTIME) - sxs_stat_age_ns(text);
    return sxs_stat_field(text, SXS_STAT_START) ? 0 : ESRCH;
}

/* Reads the names of the process: its own, and its PID as it sees it itself. */
static int read_status(struct sxs_process *p)
{
    char *text = sxs_proc_text(p->dir, "status", MAX_TEXT, NULL);
    if (!text)
        return errno;
    const char *name = sxs_status_value(text, "Name"), *pids = sxs_status_value(text, "NSpid");
    if (name)
        snprintf(p->name, sizeof(p->name), "%.*s", (int)strcspn(name, "\n"), name);
    p->ns_pid = p->pid;
    for (const char *end = pids ? pids + strcspn(pids, "\n") : NULL; pids && pids < end;) {
        p->ns_pid = (pid_t)strtol(pids, NULL, 10); /* the last is the innermost */
        pids += strcspn(pids, "\t\n");
        pids += pids < end;
    }
    free(text);
    return 0;
}

static void read_command(struct sxs_process *p)
{
    ssize_t n = read_file(p, "cmdline", p->command, sizeof(p->command));
    while (n > 0 && p->command[n - 1] == '\0')
        n--;
    for (ssize_t i = 0; i < n; i++)
        if (p->command[i] == '\0')
            p->command[i] = ' ';
}

static void read_container(struct sxs_process *p)
{
    char text[8192];
    if (read_file(p, "cgroup", text, sizeof(text)) > 0)
        sxs_container_name(text, p->container, sizeof(p->container));
}

/* Compares a namespace or the root folder with that of this command. A file system that another process
 * serves is not asked: it might never answer. */
static bool is_other(const struct sxs_process *p, const char *name)
{
    char         own[64];
    struct statx a, b;
    snprintf(own, sizeof(own), "/proc/self/%s", name);
    return statx(p->dir, name, AT_STATX_DONT_SYNC, STATX_INO, &a) == 0 &&
           statx(AT_FDCWD, own, AT_STATX_DONT_SYNC, STATX_INO, &b) == 0 &&
           (a.stx_ino != b.stx_ino || a.stx_dev_major != b.stx_dev_major ||
            a.stx_dev_minor != b.stx_dev_minor);
}

static void read_namespaces(struct sxs_process *p)
{
    p->other.mnt = is_other(p, "ns/mnt");
    p->other.pid = is_other(p, "ns/pid");
    p->other.net = is_other(p, "ns/net");
    p->other.user = is_other(p, "ns/user");
    p->other.root = !p->other.mnt && is_other(p, "root");
}

static void read_user(struct sxs_process *p)
{
    static char   last[sizeof(p->user)];
    static uid_t  last_uid;
    char          buf[4096];
    struct passwd pw, *found = NULL;
    if (!*last || last_uid != p->uid) { /* looking up a user may be slow: remember the last */
        if (getpwuid_r(p->uid, &pw, buf, sizeof(buf), &found) == 0 && found)
            snprintf(last, sizeof(last), "%s", found->pw_name);
        else
            snprintf(last, sizeof(last), "%u", (unsigned)p->uid);
        last_uid = p->uid;
    }
    memcpy(p->user, last, sizeof(last));
}

static int open_process(pid_t pid, struct sxs_process *out)
{
    char path[32];
    memset(out, 0, sizeof(*out));
    out->pid = pid;
    out->root = -1;
    snprintf(path, sizeof(path), "/proc/%d", (int)pid);
    out->dir = pid > 0 ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    return out->dir < 0 ? pid > 0 && errno != ENOENT ? errno : ESRCH : 0;
}

/* Returns true when a thread of the process is named as runtimes name theirs. The names of threads
 * may be read by everybody. */
static bool has_runtime_thread(const struct sxs_process *p)
{
    char comm[32], path[64];
    for (int i = 1; i < 24; i++) { /* a runtime starts its threads first, so their IDs are near */
        snprintf(path, sizeof(path), "task/%d/comm", (int)p->pid + i);
        if (read_file(p, path, comm, sizeof(comm)) > 0 && strncmp(comm, ".NET ", 5) == 0)
            return true;
    }
    return false;
}

/* Returns true when it may not be read and a thread is named as those of runtimes. */
static bool seems_to_have_runtime(const struct sxs_process *p)
{
    return (p->problem == EACCES || p->problem == EPERM) && has_runtime_thread(p);
}

int sxs_process_read_files(struct sxs_process *p)
{
    int err = read_stat(p, &p->state, &p->started_ns);
    if (!err)
        err = read_status(p);
    if (err)
        return err;
    p->start_ticks = p->identity.start_ticks;
    p->uid = p->identity.uids[1];
    p->gid = p->identity.gids[1];
    read_command(p);
    read_container(p);
    read_namespaces(p);
    read_user(p);
    return p->problem ? 0 : sxs_process_find_profilers(p);
}

/* Which processes are read completely; NULL: each one. */
struct choice {
    sxs_process_filter *named; /* NULL: by no name */
    const char         *name;
};

/* Returns true when the process has another name. Does not look at its mappings, so a command that looks for
 * one process spends no time on the others. */
static bool is_named_otherwise(struct sxs_process *p, const struct choice *choice)
{
    if (!choice || !choice->named || read_status(p) != 0)
        return false;
    read_command(p);
    return !choice->named(p, choice->name);
}

/* Reads the process once. @only: leaves out the rest when it is not chosen, or has no runtime and seems to
 * have none. Returns 0 or an errno value: EAGAIN when it has changed its identity meanwhile. */
static int read_once(pid_t pid, struct sxs_process *out, const struct choice *only)
{
    int err = open_process(pid, out);
    if (!err)
        err = sxs_identity_read(out->dir, &out->identity);
    if (!err && is_named_otherwise(out, only))
        return 0;
    if (!err)
        err = sxs_process_find_runtimes(out);
    if (!err && only && !out->n_runtimes && !seems_to_have_runtime(out))
        return 0;
    if (!err)
        err = sxs_process_read_files(out);
    if (!err && !only)
        out->root = openat(out->dir, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (!err && !sxs_process_is_same(out))
        err = EAGAIN;
    return err;
}

/* Reads it again while it changes its identity meanwhile. */
static int read_steady(pid_t pid, struct sxs_process *out, const struct choice *only)
{
    int err = read_once(pid, out, only);
    for (int i = 1; err == EAGAIN && i < MAX_READS; i++) {
        sxs_process_free(out);
        err = read_once(pid, out, only);
    }
    return err == ENOENT ? ESRCH : err;
}

int sxs_process_read(pid_t pid, struct sxs_process *out)
{
    int err = read_steady(pid, out, NULL);
    sxs_inspect_end();
    return err;
}

void sxs_process_close(struct sxs_process *p)
{
    if (p->dir >= 0)
        close(p->dir);
    if (p->root >= 0)
        close(p->root);
    p->dir = p->root = -1;
}

void sxs_process_free(struct sxs_process *p)
{
    sxs_process_close(p);
    for (size_t i = 0; i < p->n_runtimes; i++)
        free(p->runtimes[i].path);
    for (size_t i = 0; i < p->n_profilers; i++)
        free(p->profilers[i].path);
    free(p->runtimes);
    free(p->profilers);
    p->runtimes = NULL;
    p->profilers = NULL;
    p->n_runtimes = p->n_profilers = 0;
}

bool sxs_process_lives(struct sxs_process *p)
{
    uint64_t started_ns;
    return read_stat(p, &p->state, &started_ns) == 0 && p->state != 'Z' && p->state != 'X';
}

bool sxs_process_is_same(const struct sxs_process *p)
{
    struct sxs_identity now;
    return sxs_identity_read(p->dir, &now) == 0 && sxs_identity_is_same(&p->identity, &now);
}

/* Returns true for the errors with which /proc has no such process, thread or program. */
static bool is_gone(int err)
{
    return err == ENOENT || err == ESRCH;
}

/* Returns true when thread "task/TID" has been killed, or is exiting, or has gone: it never returns to its program,
 * but may have to wait in the kernel before it gives up its memory. False when that cannot be seen. */
static bool is_dying(const struct sxs_process *p, const char *task)
{
    static const unsigned exiting = 0x4, signaled = 0x400; /* PF_EXITING, PF_SIGNALED */
    char                  path[sizeof("task//status") + NAME_MAX];
    snprintf(path, sizeof(path), "task/%s/status", task);
    char *text = sxs_proc_text(p->dir, path, MAX_TEXT, NULL);
    if (!text)
        return is_gone(errno);
    const char *pending = sxs_status_value(text, "SigPnd");
    bool        dying = pending && strtoull(pending, NULL, 16) & 1u << (SIGKILL - 1);
    free(text);
    if (dying)
        return true;
    snprintf(path, sizeof(path), "task/%s/stat", task);
    text = sxs_proc_text(p->dir, path, MAX_TEXT, NULL);
    if (!text)
        return is_gone(errno);
    dying = sxs_stat_number(text, SXS_STAT_FLAGS) & (exiting | signaled);
    free(text);
    return dying;
}

bool sxs_process_has_program(const struct sxs_process *p)
{
    char           path[sizeof("task//exe") + NAME_MAX], to[2];
    DIR           *tasks = sxs_tree_list(p->dir, "task");
    bool           has = !tasks && !is_gone(errno);
    struct dirent *e;
    while (tasks && !has && (e = readdir(tasks))) {
        if (*e->d_name == '.')
            continue;
        snprintf(path, sizeof(path), "task/%s/exe", e->d_name);
        has = (readlinkat(p->dir, path, to, sizeof(to)) >= 0 || !is_gone(errno)) &&
              !is_dying(p, e->d_name);
    }
    if (tasks)
        closedir(tasks);
    return has;
}

bool sxs_process_is_apart(const struct sxs_process *p)
{
    return p->other.mnt || p->other.root;
}

const struct sxs_process_profiler *sxs_process_own_profiler(const struct sxs_process *p)
{
    for (size_t i = 0; i < p->n_profilers; i++)
        if (p->profilers[i].ours)
            return &p->profilers[i];
    return NULL;
}

int sxs_process_variable(const struct sxs_process *p, const char *name, char *value, size_t size)
{
    size_t used = 0, len = strlen(name);
    char  *text = sxs_proc_text(p->dir, "environ", MAX_ENVIRON, &used);
    int    err = text ? ENOENT : errno;
    for (const char *at = text; text && err && at < text + used; at += strlen(at) + 1)
        if (strncmp(at, name, len) == 0 && at[len] == '=') {
            snprintf(value, size, "%s", at + len + 1);
            err = 0;
        }
    free(text);
    return err;
}

void sxs_process_file(const struct sxs_process *p, const char *path, char out[PATH_MAX])
{
    snprintf(out, PATH_MAX, "/proc/%d/root%s", (int)p->pid, path);
}

static int by_pid(const void *a, const void *b)
{
    const struct sxs_process *x = a, *y = b;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

/* Returns the bytes that a process takes in the list. */
static size_t size_of(const struct sxs_process *p)
{
    size_t bytes = sizeof(*p);
    for (size_t i = 0; i < p->n_runtimes; i++)
        bytes += sizeof(*p->runtimes) + strlen(p->runtimes[i].path);
    for (size_t i = 0; i < p->n_profilers; i++)
        bytes += sizeof(*p->profilers) + strlen(p->profilers[i].path);
    return bytes;
}

static int add_process(struct sxs_process_list *list, struct sxs_process *p)
{
    struct sxs_process *grown = realloc(list->items, (list->n + 1) * sizeof(*list->items));
    if (!grown)
        return ENOMEM;
    list->items = grown;
    grown[list->n++] = *p;
    return 0;
}

/* Adds process @pid if it is chosen, and has a runtime, or seems to and may not be read. */
static int consider(struct sxs_process_list *list, pid_t pid, const struct choice *choice)
{
    struct sxs_process p;
    int                err = read_steady(pid, &p, choice);
    if (err == EAGAIN) /* it is shown as it was seen last */
        err = 0;
    bool hidden = !err && (p.problem == EACCES || p.problem == EPERM);
    list->n_unreadable += hidden;
    list->n_partly += !err && p.partly;
    bool shown = !err && (p.n_runtimes || seems_to_have_runtime(&p));
    bool fits = shown && list->bytes + size_of(&p) <= SXS_PROCESS_LIST_BYTES;
    list->n_left_out += shown && !fits;
    if (fits) {
        sxs_process_close(&p);
        list->bytes += size_of(&p);
        err = add_process(list, &p);
        if (!err)
            return 0;
    }
    sxs_process_free(&p);
    return err == ENOMEM ? ENOMEM : 0; /* other processes ended meanwhile */
}

int sxs_process_list_read(struct sxs_process_list *out, sxs_process_filter *named, const char *name)
{
    const struct choice choice = {named, name};
    memset(out, 0, sizeof(*out));
    int  fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *proc = fd >= 0 ? fdopendir(fd) : NULL;
    int  err = proc ? 0 : errno;
    for (struct dirent *e; proc && !err && (e = readdir(proc));)
        if (isdigit((unsigned char)e->d_name[0]))
            err = consider(out, (pid_t)strtol(e->d_name, NULL, 10), &choice);
    if (proc)
        closedir(proc);
    sxs_inspect_end();
    if (out->n)
        qsort(out->items, out->n, sizeof(*out->items), by_pid);
    return err;
}

void sxs_process_list_free(struct sxs_process_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        sxs_process_free(&list->items[i]);
    free(list->items);
    memset(list, 0, sizeof(*list));
}
