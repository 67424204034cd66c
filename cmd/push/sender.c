/* SPDX-License-Identifier: MIT */
#include "cmd/push/sender.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "cmd/output/must.h"
#include "cmd/output/print.h"
#include "cmd/output/strings.h"

#define SECOND_NS UINT64_C(1000000000)
enum { LONGEST_S = 60, LONGEST_ASKED_S = 600 };

uint64_t sxs_push_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

uint64_t sxs_push_delay_ns(unsigned failures, long asked_s, unsigned random)
{
    uint64_t seconds = failures > 6 ? LONGEST_S : UINT64_C(1) << (failures ? failures - 1 : 0);
    seconds = seconds > LONGEST_S ? LONGEST_S : seconds;
    uint64_t ns = seconds * SECOND_NS, part = ns / 2 / 1000 * (random % 1001);
    ns -= part;
    if (asked_s > 0) {
        uint64_t asked = (uint64_t)(asked_s > LONGEST_ASKED_S ? LONGEST_ASKED_S : asked_s);
        ns = asked * SECOND_NS > ns ? asked * SECOND_NS : ns;
    }
    return ns;
}

enum sxs_push_verdict sxs_push_judge(long status)
{
    if (status / 100 == 2)
        return SXS_PUSH_ACCEPTED;
    if (status / 100 == 5 || status == 408 || status == 425 || status == 429)
        return SXS_PUSH_LATER;
    if (status / 100 == 3 || status == 401 || status == 403 || status == 404 || status == 405 ||
        status == 407)
        return SXS_PUSH_STOP;
    return SXS_PUSH_REFUSED;
}

/* Prints a line, once for each failure. */
static void tell(struct sxs_push_sender *s, const char *text)
{
    char line[sizeof(s->reported)];
    snprintf(line, sizeof(line), "%s", text);
    sxs_strings_clean(line, strlen(line));
    if (strcmp(line, s->reported) == 0)
        return;
    memcpy(s->reported, line, sizeof(line));
    sxs_print_to(stderr, "sxsprof: push: %s\n", line);
}

/* Writes why a request was not accepted: the beginning of the answer says it, if the target does
 * not. */
static void explain(const struct sxs_push_sender *s, const struct sxs_http_answer *a,
                    const char *judged, char *out, size_t size)
{
    if (!a->status)
        snprintf(out, size, "%s: %s", s->base, a->why);
    else if (a->status / 100 == 3)
        snprintf(out, size,
                 "%s: it sends requests to %s; expected that address with --server if it is "
                 "right",
                 s->base, a->redirect[0] ? a->redirect : "another address");
    else
        snprintf(out, size, "%s: HTTP status %ld%s%.200s", s->base, a->status,
                 *judged || a->size ? ": " : "", *judged ? judged : a->body);
}

static enum sxs_push_verdict judge(const struct sxs_push_sender *s, const struct sxs_http_answer *a,
                                   char *why, size_t size)
{
    const struct sxs_push_answer answer = {.status = a->status, .body = a->body, .size = a->size};
    why[0] = '\0';
    if (!a->status)
        return a->hopeless ? SXS_PUSH_STOP : SXS_PUSH_LATER;
    return s->target->judge ? s->target->judge(&answer, why, size) : sxs_push_judge(a->status);
}

static unsigned random_number(void)
{
    unsigned n = 0;
    if (getrandom(&n, sizeof(n), GRND_NONBLOCK) != sizeof(n))
        n = (unsigned)sxs_push_now_ns();
    return n;
}

static void note_failure(struct sxs_push_sender *s, const struct sxs_http_answer *a,
                         enum sxs_push_verdict verdict)
{
    uint64_t now = sxs_push_now_ns();
    s->failures++;
    s->stopped = verdict == SXS_PUSH_STOP;
    s->failing_ns = s->failing_ns ? s->failing_ns : now;
    s->next_ns =
        now + (s->stopped ? LONGEST_S * SECOND_NS
                          : sxs_push_delay_ns(s->failures, a->retry_after_s, random_number()));
}

/* ---- batches ---------------------------------------------------------------------------------- */

/* Batches that are sent as one. */
struct batch_group {
    struct sxs_push_entry      entries[SXS_PUSH_GROUP]; /* owned */
    size_t                     n;
    struct sxs_push_out        joined;   /* owned */
    const struct sxs_push_out *requests; /* `joined`, or those of the only batch */
};

static void free_group(struct batch_group *g)
{
    for (; g->n; g->n--)
        sxs_push_out_free(&g->entries[g->n - 1].requests);
    sxs_push_out_free(&g->joined);
}

/* Reads the oldest batches into an empty group. Returns false when there is none. */
static bool read_group(const struct sxs_push_sender *s, struct batch_group *g)
{
    uint64_t size, total = 0;
    size_t   max = s->joining && !s->alone ? SXS_PUSH_GROUP : 1;
    g->n = sxs_push_queue_head(s->queue, &g->entries[0]);
    while (g->n && g->n < max && total < SXS_PUSH_GROUP_BYTES &&
           sxs_push_queue_peek(s->queue, g->n, &g->entries[g->n], &size)) {
        total += size;
        g->n++;
    }
    return g->n > 0;
}

/* Makes the requests of a group. Returns SXS_PUSH_REFUSED when that is not possible. */
static enum sxs_push_verdict join(struct sxs_push_sender *s, struct batch_group *g)
{
    const struct sxs_push_out *all[SXS_PUSH_GROUP];
    for (size_t i = 0; i < g->n; i++)
        all[i] = &g->entries[i].requests;
    g->requests = &g->entries[0].requests;
    int err = s->joining ? s->target->joining->join(s->joining, all, g->n, &g->joined) : -ENOTSUP;
    if (!err)
        g->requests = &g->joined;
    if (!err || (err == -ENOTSUP && g->n == 1))
        return SXS_PUSH_ACCEPTED;
    if (g->n == 1)
        tell(s, "a batch of the queue is damaged: it is not sent");
    return SXS_PUSH_REFUSED;
}

/* Sends request @i of a group. */
static enum sxs_push_verdict send_request(struct sxs_push_sender *s, const struct batch_group *g,
                                          size_t i, struct sxs_http_answer *a)
{
    const struct sxs_push_kept *k = &g->requests->requests[i];
    char                        why[300], text[sizeof(s->reported)], batch[64], *url = NULL;
    snprintf(batch, sizeof(batch), "Sxsprof-Batch: %s", g->entries[0].batch);
    if (asprintf(&url, "%s%s", s->base, k->path) < 0)
        sxs_must(NULL);
    const struct sxs_http_request r = {
        .url = url,
        .body = g->requests->bytes ? (const void *)(g->requests->bytes + k->at) : "",
        .size = k->size,
        .content_type = k->content_type,
        .encoding = k->encoding,
        .header = batch,
    };
    sxs_http_send(s->http, &r, a);
    free(url);
    enum sxs_push_verdict verdict = judge(s, a, why, sizeof(why));
    if (verdict != SXS_PUSH_ACCEPTED || why[0]) {
        explain(s, a, why, text, sizeof(text));
        tell(s, text);
    }
    return verdict;
}

static enum sxs_push_verdict send_group(struct sxs_push_sender *s, struct batch_group *g,
                                        struct sxs_http_answer *a)
{
    enum sxs_push_verdict verdict = join(s, g);
    bool                  joined = g->requests == &g->joined;
    for (size_t i = 0; verdict == SXS_PUSH_ACCEPTED && i < g->requests->n; i++) {
        verdict = send_request(s, g, i, a);
        if (verdict == SXS_PUSH_ACCEPTED && joined)
            s->target->joining->accepted(s->joining, i);
    }
    if (verdict != SXS_PUSH_ACCEPTED && joined)
        s->target->joining->failed(s->joining);
    return verdict;
}

/* Removes the batches of a group, which the server has accepted or refused. */
static void finish(struct sxs_push_sender *s, const struct batch_group *g, bool accepted)
{
    for (size_t i = 0; i < g->n; i++)
        sxs_push_queue_remove(s->queue, accepted);
    s->alone -= s->alone < g->n ? s->alone : g->n;
    s->failures = 0;
    s->failing_ns = s->next_ns = 0;
    s->stopped = false;
    if (accepted)
        s->reported[0] = '\0';
}

bool sxs_push_send(struct sxs_push_sender *s)
{
    struct sxs_http_answer *a = sxs_must_zeroed(1, sizeof(*a));
    struct batch_group     *g = sxs_must_zeroed(1, sizeof(*g));
    bool                    going = true;
    while (going && read_group(s, g)) {
        enum sxs_push_verdict verdict = send_group(s, g, a);
        going = verdict == SXS_PUSH_ACCEPTED || verdict == SXS_PUSH_REFUSED;
        if (!going)
            note_failure(s, a, verdict);
        else if (verdict == SXS_PUSH_REFUSED && g->n > 1)
            s->alone = g->n;
        else
            finish(s, g, verdict == SXS_PUSH_ACCEPTED);
        free_group(g);
    }
    free(g);
    free(a);
    return going;
}
