/* SPDX-License-Identifier: MIT */
#include "instr/weave/traced.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/session_state.h"
#include "session/write/traced_write.h"

enum { ARGUMENTS, RESULT, THROWN, N_TEXTS };

/* In the time at which a call began, which its method keeps: the call is not recorded. No time in
 * ticks has this bit. */
#define SKIPPED (UINT64_C(1) << 63)

/* A thread's text buffers for the beginning or the end of one call. ARGUMENTS: the arguments at the
 * beginning, or the by-ref ones at the end. */
struct text_buffer {
    struct sxs_line lines[N_TEXTS];
    uint64_t        entered, ended; /* ticks */
    uint8_t         ends, threw;    /* 1: the call ends; an exception leaves the method */
    uint8_t         asked, skips;   /* 1: whether the call is recorded was asked; it is not */
    char            text[N_TEXTS][SXS_TRACED_TEXT];
};

static SXS_TLS struct text_buffer *own_buffer; /* NULL: not allocated yet */
static pthread_key_t         key;
static pthread_once_t        once = PTHREAD_ONCE_INIT;
SXS_SESSION_KEEPS(key);
SXS_SESSION_KEEPS(once);

static void thread_ended(void *text_buffer)
{
    own_buffer = NULL;
    free(text_buffer);
}

static void make_key(void)
{
    pthread_key_create(&key, thread_ended);
}

static void clear_texts(struct text_buffer *w)
{
    w->ends = w->threw = w->asked = w->skips = 0;
    for (int i = 0; i < N_TEXTS; i++)
        w->lines[i] = sxs_line_in(w->text[i], SXS_TRACED_TEXT);
}

static struct text_buffer *buffer_of_thread(void)
{
    struct text_buffer *w = own_buffer;
    if (w)
        return w;
    pthread_once(&once, make_key);
    w = calloc(1, sizeof(*w));
    if (!w)
        return NULL;
    clear_texts(w);
    pthread_setspecific(key, w);
    own_buffer = w;
    return w;
}

void sxs_traced_value(const struct sxs_traced *t, uint32_t which, const void *at, ClassID cls)
{
    struct text_buffer *w = t->formatter && sxs_traced_on() ? buffer_of_thread() : NULL;
    int           err = errno;
    if (w && !w->asked) {
        w->asked = 1;
        w->skips = !sxs_traced_take();
    }
    if (w && !w->skips)
        sxs_formatter_put(t->formatter, which, at, cls, w->ends,
                          &w->lines[which == SXS_VALUE_RESULT      ? RESULT
                                    : which == SXS_VALUE_EXCEPTION ? THROWN
                                                                   : ARGUMENTS]);
    errno = err;
}

static struct sxs_traced_text text_of(const struct text_buffer *w, int which)
{
    return (struct sxs_traced_text){w->lines[which].text.bytes, w->lines[which].text.len};
}

uint64_t sxs_traced_entered(const struct sxs_traced *t)
{
    struct text_buffer *w = own_buffer;
    int                 skips = w && w->asked ? w->skips : !sxs_traced_take();
    uint64_t      now = sxs_callout_enter(t->marker);
    if (w && w->lines[ARGUMENTS].text.len && !skips)
        sxs_traced_enter(t->marker->method_number, now, text_of(w, ARGUMENTS));
    if (w)
        clear_texts(w);
    return skips ? now | SKIPPED : now;
}

static void end_call(const struct sxs_traced *t, uint64_t entered, int threw)
{
    uint8_t             skips = (entered & SKIPPED) != 0;
    uint64_t            now = sxs_callout_end(t->marker, entered & ~SKIPPED, threw);
    struct text_buffer *w = sxs_traced_on() ? buffer_of_thread() : NULL;
    if (!w)
        return;
    w->entered = entered;
    w->ended = now;
    w->ends = w->asked = 1;
    w->skips = skips;
    w->threw = (uint8_t)threw;
}

void sxs_traced_leaves(const struct sxs_traced *t, uint64_t entered)
{
    end_call(t, entered, 0);
}

void sxs_traced_throws(const struct sxs_traced *t, uint64_t entered)
{
    end_call(t, entered, 1);
}

void sxs_traced_ended(const struct sxs_traced *t)
{
    struct text_buffer *w = own_buffer;
    if (!w)
        return;
    if (!w->skips)
        sxs_traced_end(t->marker->method_number, w->entered, w->ended, w->threw, text_of(w, RESULT),
                       text_of(w, ARGUMENTS), text_of(w, THROWN));
    clear_texts(w);
}
