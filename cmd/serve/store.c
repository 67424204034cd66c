/* SPDX-License-Identifier: MIT */
#include "cmd/serve/store.h"
#include "cmd/output/temporary.h"

#include "cmd/output/strings.h"
#include "cmd/pack/private_folder.h"
#include "cmd/serve/child.h"
#include "cmd/serve/content.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_ENTRIES = 32,
    MAX_MS = 120000,      /* a child may take this long */
    RUNNING_MS = 2000,    /* what was made of a running session is new for this long at least */
    FAILED_MS = 1000,     /* how long a failure is kept */
    MAX_BYTES_SHIFT = 30, /* limit of everything that is kept: 1 GiB */
};

struct sxs_serve_store {
    const struct sxs_serve_options *o;
    struct sxs_serve_entry          entries[MAX_ENTRIES];
};

uint64_t sxs_serve_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* ---- entries ---- */

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Frees what the entry has. Nothing waits for it, and no child makes it. */
static void clear_entry(struct sxs_serve_entry *e)
{
    close_fd(&e->source_fd);
    close_fd(&e->out_fd);
    close_fd(&e->err_fd);
    close_fd(&e->pipe_fd);
    e->state = SXS_SERVE_UNUSED;
    e->size = e->hash = 0;
    e->complete = e->running = false;
}

static void wake(struct sxs_serve_entry *e)
{
    struct sxs_serve_waiter *w = e->waiters, *next;
    e->waiters = NULL;
    for (; w; w = next) {
        next = w->next;
        w->next = NULL;
        w->entry = NULL;
        w->wake(w);
    }
}

struct sxs_serve_store *sxs_serve_store_new(const struct sxs_serve_options *o)
{
    struct sxs_serve_store *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->o = o;
    for (size_t i = 0; i < MAX_ENTRIES; i++)
        s->entries[i].source_fd = s->entries[i].out_fd = s->entries[i].err_fd =
            s->entries[i].pipe_fd = -1;
    return s;
}

void sxs_serve_store_free(struct sxs_serve_store *s)
{
    for (size_t i = 0; s && i < MAX_ENTRIES; i++) {
        struct sxs_serve_entry *e = &s->entries[i];
        if (e->state == SXS_SERVE_MAKING) {
            kill(e->pid, SIGKILL);
            waitpid(e->pid, NULL, 0);
            sxs_private_clean();
        }
        clear_entry(e);
    }
    free(s);
}

void sxs_serve_store_wait(struct sxs_serve_entry *e, struct sxs_serve_waiter *w)
{
    w->entry = e;
    w->next = e->waiters;
    e->waiters = w;
}

void sxs_serve_store_leave(struct sxs_serve_waiter *w)
{
    struct sxs_serve_waiter **at = w->entry ? &w->entry->waiters : NULL;
    while (at && *at && *at != w)
        at = &(*at)->next;
    if (at && *at)
        *at = w->next;
    w->entry = NULL;
    w->next = NULL;
}

void sxs_serve_store_wake_all(struct sxs_serve_store *s)
{
    for (size_t i = 0; i < MAX_ENTRIES; i++)
        wake(&s->entries[i]);
}

/* ---- finding ---- */

static bool is_same(const struct sxs_serve_wanted *a, const struct sxs_serve_wanted *b)
{
    return a->kind == b->kind && strcmp(a->name, b->name) == 0 && strcmp(a->data, b->data) == 0 &&
           strcmp(a->format, b->format) == 0;
}

/* Returns true when what was made is new enough. */
static bool is_fresh(const struct sxs_serve_entry *e, int source_fd)
{
    uint64_t age = sxs_serve_now_ms() - e->made_ms, took = e->made_ms - e->began_ms;
    if (e->wanted.kind == SXS_SERVE_LIST || e->running)
        return age < (took * 3 > RUNNING_MS ? took * 3 : RUNNING_MS);
    if (!e->complete && age > FAILED_MS)
        return false;
    return e->stamp == sxs_serve_stamp(source_fd);
}

/* Frees the entry that was asked for longest ago, among those that were made. Returns it; NULL:
 * there is none. @but: stays. */
static struct sxs_serve_entry *drop_oldest(struct sxs_serve_store       *s,
                                           const struct sxs_serve_entry *but)
{
    struct sxs_serve_entry *oldest = NULL;
    for (size_t i = 0; i < MAX_ENTRIES; i++) {
        struct sxs_serve_entry *e = &s->entries[i];
        if (e != but && e->state == SXS_SERVE_MADE && (!oldest || e->asked_ms < oldest->asked_ms))
            oldest = e;
    }
    if (oldest)
        clear_entry(oldest);
    return oldest;
}

/* Returns the entry of @wanted, or one that is not used. */
static struct sxs_serve_entry *find_entry(struct sxs_serve_store        *s,
                                          const struct sxs_serve_wanted *wanted)
{
    struct sxs_serve_entry *unused = NULL;
    for (size_t i = 0; i < MAX_ENTRIES; i++) {
        struct sxs_serve_entry *e = &s->entries[i];
        if (e->state == SXS_SERVE_UNUSED)
            unused = e;
        else if (is_same(&e->wanted, wanted))
            return e;
    }
    return unused ? unused : drop_oldest(s, NULL);
}

struct sxs_serve_entry *sxs_serve_store_get(struct sxs_serve_store        *s,
                                            const struct sxs_serve_wanted *wanted, int source_fd)
{
    struct sxs_serve_entry *e = find_entry(s, wanted);
    if (!e || e->state == SXS_SERVE_QUEUED || e->state == SXS_SERVE_MAKING ||
        (e->state == SXS_SERVE_MADE && is_fresh(e, source_fd))) {
        close(source_fd);
    } else {
        clear_entry(e);
        e->wanted = *wanted;
        memset(e->wanted.token, 0, sizeof(e->wanted.token));
        e->source_fd = source_fd;
        e->state = SXS_SERVE_QUEUED;
    }
    if (e)
        e->asked_ms = sxs_serve_now_ms();
    return e;
}

/* ---- making ---- */

/* Opens a temporary file without a name. Returns -1 when that fails. */
static int open_temporary(void)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/sxsprof-serve-XXXXXX", sxs_temporary_folder());
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

/* The entry has failed before a child could begin: err_fd may have a message. */
static void fail(struct sxs_serve_entry *e, const char *what)
{
    if (e->err_fd >= 0)
        dprintf(e->err_fd, "sxsprof: %s: %s\n", what, strerror(errno));
    e->state = SXS_SERVE_MADE;
    e->made_ms = sxs_serve_now_ms();
    wake(e);
}

static void begin(struct sxs_serve_store *s, struct sxs_serve_entry *e)
{
    int ends[2];
    e->began_ms = sxs_serve_now_ms();
    e->stamp = sxs_serve_stamp(e->source_fd);
    e->err_fd = open_temporary();
    e->out_fd = open_temporary();
    if (e->err_fd < 0 || e->out_fd < 0) {
        fail(e, "a temporary file");
        return;
    }
    if (pipe2(ends, O_CLOEXEC) != 0) {
        fail(e, "a pipe");
        return;
    }
    struct sxs_serve_child child = {.o = s->o,
                                    .wanted = &e->wanted,
                                    .source_fd = e->source_fd,
                                    .out_fd = e->out_fd,
                                    .err_fd = e->err_fd,
                                    .tell_fd = ends[1]};
    e->pid = sxs_serve_child_start(&child);
    close(ends[1]);
    if (e->pid < 0) {
        close(ends[0]);
        fail(e, "a process");
        return;
    }
    e->pipe_fd = ends[0];
    e->state = SXS_SERVE_MAKING;
    close_fd(&e->source_fd);
}

static uint64_t hash_file(int fd, uint64_t size)
{
    void *bytes = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    if (bytes == MAP_FAILED)
        return 0;
    uint64_t hash = sxs_hash_bytes(bytes, size, 0);
    munmap(bytes, size);
    return hash;
}

/* Drops the oldest entries until the sizes of the others are below the limit. */
static void bound_bytes(struct sxs_serve_store *s, const struct sxs_serve_entry *but)
{
    uint64_t sum;
    do {
        sum = 0;
        for (size_t i = 0; i < MAX_ENTRIES; i++)
            sum += s->entries[i].size;
    } while (sum >> MAX_BYTES_SHIFT && drop_oldest(s, but));
}

/* The child has ended. */
static void take(struct sxs_serve_store *s, struct sxs_serve_entry *e)
{
    struct stat st;
    int         status = 0;
    close_fd(&e->pipe_fd);
    while (waitpid(e->pid, &status, 0) < 0 && errno == EINTR)
        ;
    e->size = fstat(e->out_fd, &st) == 0 ? (uint64_t)st.st_size : 0;
    bool report = e->wanted.kind == SXS_SERVE_REPORT || e->wanted.kind == SXS_SERVE_HEAP;
    e->complete = WIFEXITED(status) && e->size > 0 &&
                  (WEXITSTATUS(status) == 0 || (report && WEXITSTATUS(status) == 1));
    if (WIFSIGNALED(status))
        dprintf(e->err_fd, "sxsprof: the process that made this ended by signal %d (%s)\n",
                WTERMSIG(status), strsignal(WTERMSIG(status)));
    if (WIFSIGNALED(status))
        sxs_private_clean(); /* it could not remove what it had unpacked */
    e->hash = hash_file(e->out_fd, e->size);
    e->made_ms = sxs_serve_now_ms();
    e->state = SXS_SERVE_MADE;
    bound_bytes(s, e);
    wake(e);
}

/* Reads what the child says. Returns true when it has ended. */
static bool read_state(struct sxs_serve_entry *e)
{
    struct pollfd ready = {.fd = e->pipe_fd, .events = POLLIN};
    char          said;
    while (poll(&ready, 1, 0) > 0) {
        ssize_t n = read(e->pipe_fd, &said, 1);
        if (n == 0 || (n < 0 && errno != EINTR))
            return true;
        if (n > 0)
            e->running = said == SXS_SERVE_IS_RUNNING;
    }
    return false;
}

size_t sxs_serve_store_fds(const struct sxs_serve_store *s, struct pollfd *fds)
{
    size_t n = 0;
    for (size_t i = 0; i < MAX_ENTRIES && n < SXS_SERVE_CHILDREN; i++)
        if (s->entries[i].state == SXS_SERVE_MAKING)
            fds[n++] = (struct pollfd){.fd = s->entries[i].pipe_fd, .events = POLLIN};
    return n;
}

/* Returns the entry that has been waiting longest for a child; NULL: none. */
static struct sxs_serve_entry *next_queued(struct sxs_serve_store *s)
{
    struct sxs_serve_entry *next = NULL;
    for (size_t i = 0; i < MAX_ENTRIES; i++) {
        struct sxs_serve_entry *e = &s->entries[i];
        if (e->state == SXS_SERVE_QUEUED && (!next || e->asked_ms < next->asked_ms))
            next = e;
    }
    return next;
}

void sxs_serve_store_work(struct sxs_serve_store *s)
{
    uint64_t now = sxs_serve_now_ms();
    size_t   working = 0;
    for (size_t i = 0; i < MAX_ENTRIES; i++) {
        struct sxs_serve_entry *e = &s->entries[i];
        if (e->state != SXS_SERVE_MAKING)
            continue;
        if (now - e->began_ms > MAX_MS)
            kill(e->pid, SIGKILL);
        if (read_state(e))
            take(s, e);
        else
            working++;
    }
    for (struct sxs_serve_entry *e; working < SXS_SERVE_CHILDREN && (e = next_queued(s));) {
        begin(s, e);
        working += e->state == SXS_SERVE_MAKING;
    }
}
