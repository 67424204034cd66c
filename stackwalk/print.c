/* SPDX-License-Identifier: MIT */
/* Prints the stack of the calling thread as text.
 *
 * The calling thread walks its own stack. A thread of the library finds the names and writes the
 * lines, because a runtime refuses metadata calls to its own threads outside of callbacks, but
 * allows them to threads that it does not know. All signals are blocked on the library's thread,
 * so that a closed pipe raises no SIGPIPE in the host and no signal handler of a runtime runs on
 * that small stack. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "include/sxsprof.h"
#include "symbols/name_internal.h"
#include "stackwalk/shadow.h"

#define LINE_BYTES 8192
#define PRINTER_STACK_BYTES ((size_t)1024 * 1024)

struct print_job {
    struct sxs_walk    *walk; /* borrowed */
    int                 fd;
    const char         *mode;
    int                 result; /* number of frames printed, or -errno */
    struct sxs_name_scopes names;
    struct sxs_symbols  symbols;
    char                line[LINE_BYTES], file[512], name[LINE_BYTES - 1024];
};

static int write_all(int fd, const char *bytes, size_t len)
{
    while (len) {
        ssize_t n = write(fd, bytes, len);
        if (n >= 0) {
            bytes += n;
            len -= (size_t)n;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            struct pollfd ready = { .fd = fd, .events = POLLOUT };
            if (poll(&ready, 1, -1) < 0 && errno != EINTR)
                return -errno;
        } else if (errno != EINTR) {
            return -errno;
        }
    }
    return 0;
}

static void put_owner(struct sxs_text *out, const struct sxs_runtime *rt, const char *file)
{
    const char *version = rt ? sxs_runtime_version(rt) : NULL;

    if (!rt)
        sxs_text_putf(out, "native:%s", file);
    else
        sxs_text_putf(out, "clr%u:%s", sxs_runtime_number(rt), version[0] ? version : "?");
}

static int print_frame(struct print_job *job, size_t i)
{
    struct sxs_frame *frame = &job->walk->frames[i];
    /* leave one byte for the newline */
    struct sxs_text   line = sxs_text_in(job->line, sizeof(job->line) - 1);
    struct sxs_text   file = sxs_text_in(job->file, sizeof(job->file));
    struct sxs_text   name = sxs_text_in(job->name, sizeof(job->name));

    if (!frame->fn.rt)
        sxs_symbol_name(&job->symbols, frame->at.rip, frame->exact_ip, &file, &name);
    if (!frame->fn.rt && name.bytes[0] == '[' &&
        sxs_name_find_dynamic(job->walk->rts, job->walk->n_rts, frame))
        name = sxs_text_in(job->name, sizeof(job->name));
    if (frame->fn.rt)
        sxs_name_managed(&job->names, &name, frame);
    sxs_text_putf(&line, "%zu\t0x%zx\t0x%zx\t", i, (size_t)frame->at.rsp, (size_t)frame->at.rip);
    put_owner(&line, frame->fn.rt, job->file);
    sxs_text_put(&line, "\t");
    sxs_text_put(&line, name.bytes[0] ? name.bytes : "[unknown]");
    job->line[line.len++] = '\n';
    return write_all(job->fd, job->line, line.len);
}

static int print_end(struct print_job *job)
{
    const struct sxs_walk *walk = job->walk;
    struct sxs_text        line = sxs_text_in(job->line, sizeof(job->line) - 1);

    sxs_text_putf(&line, "# %s: %zu frames, end: %s", job->mode, walk->len,
                  sxs_walk_end_text(walk->end));
    if (walk->n_seeded)
        sxs_text_putf(&line, "; seeded: %u", walk->n_seeded);
    if (walk->n_jumps)
        sxs_text_putf(&line, "; native steps mended: %u", walk->n_jumps);
    for (size_t i = 0; i < walk->n_rts; i++) {
        HRESULT hr = walk->rts[i] == walk->refused ? walk->refused_hr : walk->hrs[i];
        if (!FAILED(hr))
            continue;
        sxs_text_put(&line, "; ");
        put_owner(&line, walk->rts[i], "");
        sxs_text_putf(&line, " refused: %s (0x%08x)", sxs_hresult_name(hr), (unsigned)hr);
    }
    job->line[line.len++] = '\n';
    return write_all(job->fd, job->line, line.len);
}

static void *print_all(void *arg)
{
    struct print_job *job = arg;
    int               err = 0;
    size_t            i;

    for (i = 0; i < job->walk->len && !err; i++)
        err = print_frame(job, i);
    if (!err)
        err = print_end(job);
    job->result = err ? err : (int)i;
    sxs_names_free(&job->names);
    sxs_symbols_free(&job->symbols);
    return NULL;
}

/**
 * Runs print_all() on a new thread. All signals are blocked there from its first instruction on. */
static int print_on_thread(struct print_job *job)
{
    pthread_attr_t attr;
    pthread_t      thread;
    sigset_t       all, old;

    if (pthread_attr_init(&attr) != 0)
        return -ENOMEM;
    pthread_attr_setstacksize(&attr, PRINTER_STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    int err = pthread_create(&thread, &attr, print_all, job);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    if (err)
        return -err;
    pthread_join(thread, NULL);
    return job->result;
}

static int is_writable(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && !(flags & O_PATH);
}

static int is_mode(const char *mode)
{
    return strcmp(mode, "mixed") == 0 || strcmp(mode, "managed") == 0 ||
           strcmp(mode, "shadow") == 0 || strcmp(mode, "logical") == 0;
}

static int print_walk(struct sxs_walk *walk, int fd, const char *mode)
{
    struct print_job *job = calloc(1, sizeof(*job));
    if (!job)
        return -ENOMEM;
    job->walk = walk;
    job->fd = fd;
    job->mode = mode;
    int result = print_on_thread(job);
    free(job);
    return result;
}

SXS_EXPORT __attribute__((noinline)) int sxsprof_print_stack(int fd, const char *mode)
{
    /* The caller's SP. Our return address and the saved RBP lie below it. */
    uintptr_t       from_sp = (uintptr_t)__builtin_frame_address(0) + 2 * sizeof(uintptr_t);
    int             saved_errno = errno, result = -EINVAL, cancel_state;
    struct sxs_walk walk;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    if (mode && is_mode(mode) && is_writable(fd)) {
        result = 0;
        if (strcmp(mode, "mixed") == 0)
            sxs_walk_mixed(&walk, from_sp);
        else if (strcmp(mode, "managed") == 0)
            sxs_walk_managed(&walk, 0); /* 0: runtimes never report frames of the library */
        else
            result = sxs_walk_shadow(&walk, strcmp(mode, "logical") == 0);
        if (!result)
            result = print_walk(&walk, fd, mode);
        sxs_walk_free(&walk);
    }
    pthread_setcancelstate(cancel_state, NULL);
    errno = saved_errno;
    return result;
}
