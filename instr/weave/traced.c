/* SPDX-License-Identifier: MIT */
#include "instr/weave/traced.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "session/write/traced_write.h"

enum { ARGUMENTS, RESULT, THROWN, N_TEXTS };

/* A thread's text buffers for the beginning or the end of one call. ARGUMENTS: the arguments at the
 * beginning, or the by-ref ones at the end. */
struct words {
    struct sxs_line lines[N_TEXTS];
    uint64_t        entered, ended; /* ticks */
    uint8_t         ends, threw;    /* 1: the call ends; an exception leaves the method */
    char            text[N_TEXTS][SXS_TRACED_TEXT];
};

static SXS_TLS struct words *mine; /* NULL: not allocated yet */
static pthread_key_t         key;
static pthread_once_t        once = PTHREAD_ONCE_INIT;

static void thread_ended(void *words)
{
    mine = NULL;
    free(words);
}

static void make_key(void)
{
    pthread_key_create(&key, thread_ended);
}

static void clear(struct words *w)
{
    w->ends = w->threw = 0;
    for (int i = 0; i < N_TEXTS; i++)
        w->lines[i] = sxs_line_in(w->text[i], SXS_TRACED_TEXT);
}

static struct words *words_of_thread(void)
{
    struct words *w = mine;
    if (w)
        return w;
    pthread_once(&once, make_key);
    w = calloc(1, sizeof(*w));
    if (!w)
        return NULL;
    clear(w);
    pthread_setspecific(key, w);
    mine = w;
    return w;
}

void sxs_traced_value(const struct sxs_traced *t, uint32_t which, const void *at, ClassID cls)
{
    struct words *w = t->recipe && sxs_traced_on() ? words_of_thread() : NULL;
    int           err = errno;
    if (w)
        sxs_recipe_put(t->recipe, which, at, cls, w->ends,
                       &w->lines[which == SXS_VALUE_RESULT      ? RESULT
                                 : which == SXS_VALUE_EXCEPTION ? THROWN
                                                                : ARGUMENTS]);
    errno = err;
}

static struct sxs_traced_text text_of(const struct words *w, int which)
{
    return (struct sxs_traced_text){w->lines[which].text.bytes, w->lines[which].text.len};
}

uint64_t sxs_traced_entered(const struct sxs_traced *t)
{
    struct words *w = mine;
    uint64_t      now = sxs_callout_enter(t->marker);
    if (w && w->lines[ARGUMENTS].text.len) {
        sxs_traced_enter(t->marker->site, now, text_of(w, ARGUMENTS));
        clear(w);
    }
    return now;
}

static void end(const struct sxs_traced *t, uint64_t entered, int threw)
{
    uint64_t      now = sxs_callout_end(t->marker, entered, threw);
    struct words *w = sxs_traced_on() ? words_of_thread() : NULL;
    if (!w)
        return;
    w->entered = entered;
    w->ended = now;
    w->ends = 1;
    w->threw = (uint8_t)threw;
}

void sxs_traced_leaves(const struct sxs_traced *t, uint64_t entered)
{
    end(t, entered, 0);
}

void sxs_traced_throws(const struct sxs_traced *t, uint64_t entered)
{
    end(t, entered, 1);
}

void sxs_traced_ended(const struct sxs_traced *t)
{
    struct words *w = mine;
    if (!w)
        return;
    sxs_traced_end(t->marker->site, w->entered, w->ended, w->threw, text_of(w, RESULT),
                   text_of(w, ARGUMENTS), text_of(w, THROWN));
    clear(w);
}
