/* SPDX-License-Identifier: MIT */
#include "session/write/log_write.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/env.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/session_state.h"
#include "session/format/session.h"
#include "session/write/file_write.h"

enum {
    WAITING = 4096, /* bytes of lines that wait for a session */
    TAIL = 64,      /* bytes for the line that counts the lines without room */
};

/* Lines, and after them, if there was no room for all, one that counts the others. */
struct log_lines {
    char    *text; /* NULL: there is no such place */
    size_t   size; /* of the place */
    size_t   used; /* by lines, without the tail */
    size_t   tail;
    unsigned left_out;
};

static char            waiting_text[WAITING];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards file, waiting and mapped */
SXS_FORK_RESETS(lock);
static int              diverted;
static struct sxs_file  file;   /* valid if mapped.text is not NULL */
static struct log_lines mapped; /* of the file */
static struct log_lines waiting = {.text = waiting_text, .size = WAITING};
SXS_SESSION_KEEPS(waiting_text);
SXS_SESSION_KEEPS(lock);
SXS_SESSION_KEEPS(diverted);
SXS_SESSION_KEEPS(file);
SXS_SESSION_KEEPS(mapped);
SXS_SESSION_KEEPS(waiting);

static int has_line(const struct log_lines *l, const char *line, size_t len)
{
    const char *at = l->text, *end = l->text + l->used;
    while ((at = memmem(at, (size_t)(end - at), line, len)) && at > l->text && at[-1] != '\n')
        at++;
    return at != NULL;
}

static void count_left_out(struct log_lines *l, unsigned more)
{
    char tail[TAIL];
    l->left_out += more;
    l->tail = (size_t)snprintf(tail, sizeof(tail), "sxsprof: %u more line%s had no room\n",
                               l->left_out, l->left_out == 1 ? "" : "s");
    memcpy(l->text + l->used, tail, l->tail);
}

/* Takes an error or a warning. A line that is there already is not repeated. Once a line has no room, all
 * that follow are counted only: the first lines say what went wrong. */
static void take_line(const char *line, size_t len)
{
    struct log_lines *l;
    pthread_mutex_lock(&lock);
    l = mapped.text ? &mapped : &waiting;
    if (has_line(l, line, len))
        ;
    else if (l->left_out || len > l->size - TAIL - l->used) {
        count_left_out(l, 1);
    } else {
        memcpy(l->text + l->used, line, len);
        l->used += len;
    }
    pthread_mutex_unlock(&lock);
}

/* Takes the line of a signal handler, which may have interrupted what holds the lock: then only standard error
 * has it. */
SXS_SIGSAFE static void take_last(const char *line, size_t len)
{
    if (pthread_mutex_trylock(&lock) != 0)
        return;
    if (mapped.text && !mapped.left_out && len <= mapped.size - TAIL - mapped.used) {
        memcpy(mapped.text + mapped.used, line, len);
        mapped.used += len;
    }
    pthread_mutex_unlock(&lock);
}

static void forget(struct log_lines *l)
{
    l->used = l->tail = l->left_out = 0;
}

/* The file belongs to the parent. */
static void child_forked(void)
{
    mapped.text = NULL;
    forget(&waiting);
}

void sxs_log_file_keep(void)
{
    static struct sxs_fork_part part = {.child = child_forked};
    sxs_fork_register(&part);
    sxs_log_keep(take_line);
    sxs_log_keep_last(take_last);
}

void sxs_log_file_divert(void)
{
    if (diverted) {
        pthread_mutex_lock(&lock);
        forget(&waiting); /* of an attach whose session could not begin: its command has printed why */
        pthread_mutex_unlock(&lock);
    }
    if (diverted || sxs_env_get(SXS_ENV_LOG))
        return;
    diverted = 1;
    sxs_log_file_keep();
    sxs_log_divert();
}

size_t sxs_log_file_mark(void)
{
    size_t mark;
    pthread_mutex_lock(&lock);
    mark = waiting.used;
    pthread_mutex_unlock(&lock);
    return mark;
}

void sxs_log_file_forget(size_t mark)
{
    pthread_mutex_lock(&lock);
    if (waiting.used > mark && !waiting.left_out)
        waiting.used = mark;
    pthread_mutex_unlock(&lock);
}

void sxs_log_file_open(const struct sxs_folder *folder)
{
    struct sxs_file next;
    unsigned char  *map;
    if (mapped.text ||
        sxs_file_create(&next, folder, SXS_LOG_FILE, SXS_LOG_BYTES, SXS_LOG_BYTES, &map) != 0)
        return;
    pthread_mutex_lock(&lock);
    file = next;
    mapped = (struct log_lines){.text = (char *)map, .size = SXS_LOG_BYTES, .used = waiting.used};
    memcpy(mapped.text, waiting.text, waiting.used);
    if (waiting.left_out)
        count_left_out(&mapped, waiting.left_out);
    forget(&waiting);
    pthread_mutex_unlock(&lock);
}

static void complete(struct sxs_file *f, const struct log_lines *last)
{
    size_t size = last->used + last->tail;
    if (last->text && size) {
        munmap(last->text, SXS_LOG_BYTES);
        sxs_file_shorten(f, size);
        sxs_file_close(f);
    } else if (last->text) {
        sxs_file_undo(f, (unsigned char *)last->text, SXS_LOG_BYTES);
    }
}

/* Lets go of the file. The lock is held. */
static struct log_lines take_file(struct sxs_file *f)
{
    struct log_lines last = mapped;
    *f = file;
    mapped.text = NULL;
    return last;
}

void sxs_log_file_close(void)
{
    struct sxs_file  f;
    struct log_lines last;
    pthread_mutex_lock(&lock);
    last = take_file(&f);
    pthread_mutex_unlock(&lock);
    complete(&f, &last);
}

/* The program ends in the regular way. Runs after the destructors of the tools, which may still have something
 * to say. */
__attribute__((destructor(101))) static void ended(void)
{
    struct sxs_file  f;
    struct log_lines last;
    if (pthread_mutex_trylock(&lock) != 0)
        return; /* the thread that holds it may not go on */
    last = take_file(&f);
    pthread_mutex_unlock(&lock);
    complete(&f, &last);
}
