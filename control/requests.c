/* SPDX-License-Identifier: MIT */
#include "control/requests.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mask.h"
#include "control/ring.h"
#include "control/runtimes.h"
#include "control/session_thread.h"
#include "manager/sessions.h"

#define MAX_LIMIT_MS UINT64_C(31622400000) /* a year */

static struct
{ /* used on the session thread only; `client` is also read by requests of the status, on other threads */
    _Atomic unsigned number; /* of the session that `client` has begun */
    _Atomic int      client;
} begun;

/* Written before the threads start. */
static int  may_load_code;
static char library[PATH_MAX]; /* the path by which the loader knows this library; "": not known */

void sxs_request_permit_code(void)
{
    may_load_code = 1;
}

void sxs_request_note_library(void)
{
    Dl_info self;
    if (dladdr((void *)(uintptr_t)sxs_request_note_library, &self) && self.dli_fname &&
        *self.dli_fname == '/' && strlen(self.dli_fname) < sizeof(library))
        memcpy(library, self.dli_fname, strlen(self.dli_fname) + 1);
}

enum sxs_request_verb sxs_request_verb_of(const char *text, char *why, size_t why_size)
{
    static const struct {
        const char           *name;
        enum sxs_request_verb verb;
    } verbs[] = {
        {"status", SXS_REQUEST_STATUS}, {"start", SXS_REQUEST_START},
        {"stop", SXS_REQUEST_STOP},     {"snapshot", SXS_REQUEST_SNAPSHOT},
        {"detach", SXS_REQUEST_DETACH},
    };
    static const char head[] = "sxsprof ";
    unsigned long     version;
    char             *verb;
    if (strncmp(text, head, strlen(head)) != 0) {
        snprintf(why, why_size, "not a request of sxsprof");
        return SXS_REQUEST_UNKNOWN;
    }
    version = strtoul(text + strlen(head), &verb, 10);
    if (version != SXS_CONTROL_VERSION || *verb != ' ') {
        snprintf(why, why_size,
                 "the command and the library are of different versions: the library (%s) takes "
                 "requests "
                 "of version %u",
                 SXS_VERSION, SXS_CONTROL_VERSION);
        return SXS_REQUEST_UNKNOWN;
    }
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
        if (strcmp(verb + 1, verbs[i].name) == 0)
            return verbs[i].verb;
    snprintf(why, why_size, "the library (%s) knows no request '%.40s'", SXS_VERSION, verb + 1);
    return SXS_REQUEST_UNKNOWN;
}

int sxs_request_asks(const struct sxs_message *message, const char *name)
{
    const char *value = sxs_message_get(message, name);
    return value && strcmp(value, "1") == 0;
}

/* Reads a decimal number from @min to @max. Returns 0 or -EINVAL. */
static int read_number(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
    char *end;
    if (*text < '0' || *text > '9')
        return -EINVAL;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return errno || *end || *out < min || *out > max ? -EINVAL : 0;
}

int sxs_request_limit(const struct sxs_message *message, uint64_t *ms, char *why, size_t why_size)
{
    const char *text = sxs_message_get(message, "duration_ms");
    *ms = 0;
    if (!text || read_number(text, 1, MAX_LIMIT_MS, ms) == 0)
        return 0;
    snprintf(why, why_size, "duration_ms=%.40s: expected 1 to %" PRIu64 " milliseconds", text,
             MAX_LIMIT_MS);
    return -EINVAL;
}

/* ---- answers --------------------------------------------------------------------------------- */

void sxs_request_refuse(struct sxs_message_writer *answer, const char *why)
{
    sxs_message_begin(answer, "error");
    sxs_message_add(answer, "why", why);
    sxs_message_end(answer);
}

static void add_session(struct sxs_message_writer *answer, const struct sxs_session_state *s)
{
    static const char *const phases[] = {"none", "on", "ending"};
    uint64_t                 left = sxs_session_thread_left_ms(s->number);
    char                     ring[PATH_MAX];
    sxs_message_add(answer, "phase", phases[s->phase]);
    sxs_message_addf(answer, "number", "%u", s->number);
    if (!s->number || (s->phase == SXS_SESSION_NONE && !s->tools[0]))
        return;
    sxs_message_add(answer, "id", s->id);
    sxs_message_add(answer, "tools", s->tools);
    sxs_message_add(answer, "out", s->out);
    sxs_message_add(answer, "mask", sxs_mask_name(sxs_mask()));
    sxs_message_addf(answer, "started_ns", "%" PRIu64, s->started_ns);
    if (sxs_session_thread_is_same(atomic_load(&begun.number), s->number) &&
        atomic_load(&begun.client))
        sxs_message_addf(answer, "client", "%d", atomic_load(&begun.client));
    if (sxs_ring_folder(ring, sizeof(ring)))
        sxs_message_add(answer, "ring", ring);
    if (s->phase == SXS_SESSION_ENDING && s->waits_for[0])
        sxs_message_add(answer, "waits_for", s->waits_for);
    if (left)
        sxs_message_addf(answer, "left_ms", "%" PRIu64, left);
}

/* Reads what goes on. If nothing does, nothing is said of an earlier session but its number. */
static void get_state(struct sxs_session_state *out)
{
    sxs_session_get_state(out);
    if (out->phase == SXS_SESSION_NONE)
        out->tools[0] = out->out[0] = out->id[0] = '\0';
}

/* Writes an answer: @text is "ok" or "error". @session: what is on, or was. */
static void write_answer(struct sxs_message_writer *answer, const char *text, const char *why,
                         const struct sxs_session_state *session)
{
    sxs_message_begin(answer, text);
    sxs_message_add(answer, "why", why && *why ? why : NULL);
    sxs_message_addf(answer, "pid", "%d", (int)getpid());
    sxs_message_add(answer, "version", SXS_VERSION);
    sxs_message_add(answer, "library", library[0] ? library : NULL);
    add_session(answer, session);
    sxs_control_add_runtimes(answer);
    sxs_message_end(answer);
}

void sxs_request_status(struct sxs_message_writer *answer)
{
    struct sxs_session_state state;
    get_state(&state);
    write_answer(answer, "ok", NULL, &state);
}

/* Writes the answer to a request that returned @err (0 or a negative errno value). */
static void answer_result(struct sxs_request *r, int err, const char *why,
                          const struct sxs_session_state *session)
{
    write_answer(r->answer, err ? "error" : "ok", err && !*why ? strerror(-err) : why, session);
}

/* ---- requests -------------------------------------------------------------------------------- */

/* Reads what shall be recorded. Returns 0 or -EINVAL. */
static int read_start(const struct sxs_message *m, struct sxs_session_request *out, char *why,
                      size_t why_size)
{
    const char *id = sxs_message_get(m, "id");
    out->tools = sxs_message_get(m, "tools");
    out->out = sxs_message_get(m, "out");
    out->pick = sxs_message_get(m, "pick");
    out->mask = sxs_message_get(m, "mask");
    out->id = id ? id : "";
    out->may_load_code = may_load_code;
    if (!out->tools || !*out->tools)
        snprintf(why, why_size, "tools is missing: expected NAME[:OPTIONS]");
    else if (!out->out || *out->out != '/')
        snprintf(why, why_size, "out is missing: expected the absolute path of a folder");
    else if (strlen(out->id) > 32)
        snprintf(why, why_size, "id: expected at most 32 characters");
    else
        return 0;
    return -EINVAL;
}

/* Tells whether the session that is on is the one that @id names. */
static int is_joined(const char *id)
{
    struct sxs_session_state state;
    get_state(&state);
    return *id && state.phase == SXS_SESSION_ON && strcmp(state.id, id) == 0;
}

static void run_start(struct sxs_request *r)
{
    struct sxs_session_request wanted = {0};
    struct sxs_keep_texts      keep;
    struct sxs_session_state   state;
    char                       why[SXS_SESSION_WHY] = "";
    uint64_t                   ms = 0;
    int                        err = read_start(r->message, &wanted, why, sizeof(why)), joined = 0;
    if (!err)
        err = sxs_request_limit(r->message, &ms, why, sizeof(why));
    if (!err)
        joined = is_joined(wanted.id);
    if (!err && !joined)
        err = sxs_ring_texts(r->message, &keep) ? sxs_ring_begin(&wanted, &keep, why)
                                                : sxs_session_begin(&wanted, why);
    get_state(&state);
    if (!err) {
        r->detach = sxs_request_asks(r->message, "detach");
        r->holds = sxs_request_asks(r->message, "hold") ? state.number : 0;
        if (!joined || !atomic_load(&begun.client)) {
            atomic_store(&begun.client, r->client);
            atomic_store(&begun.number, state.number);
        }
        if (ms || joined)
            sxs_session_thread_limit(state.number, ms, r->detach);
    }
    answer_result(r, err, why, &state);
}

/* The answer names the session that was ended. */
static void run_stop(struct sxs_request *r)
{
    struct sxs_session_state before, after;
    char                     why[SXS_SESSION_WHY] = "";
    int                      err;
    get_state(&before);
    err = sxs_session_end(why);
    if (sxs_ring_stop(0) && err == -ENOENT) {
        err = 0;
        why[0] = '\0';
    }
    get_state(&after);
    before.phase = after.number == before.number ? after.phase : SXS_SESSION_NONE;
    if (err == -ENOENT && !why[0])
        snprintf(why, sizeof(why), "nothing is recorded");
    write_answer(r->answer, err ? "error" : "ok", err && !why[0] ? strerror(-err) : why, &before);
}

static void run_snapshot(struct sxs_request *r)
{
    struct sxs_session_state state;
    char                     why[SXS_SESSION_WHY] = "";
    int                      err = 0;
    get_state(&state);
    if (state.phase != SXS_SESSION_ON) {
        err = -ENOENT;
        snprintf(why, sizeof(why), "nothing is recorded");
    } else if (!state.out[0]) {
        err = -ENOENT;
        snprintf(why, sizeof(why), "the session has no folder: it is kept in memory only");
    } else {
        err = sxs_session_settle();
    }
    answer_result(r, err, why, &state);
}

static void run_detach(struct sxs_request *r)
{
    struct sxs_session_state state;
    const char              *text = sxs_message_get(r->message, "timeout_ms");
    char                     why[SXS_SESSION_WHY] = "";
    uint64_t                 ms = SXS_DETACH_TIMEOUT_MS;
    int                      err = text ? read_number(text, 1, UINT32_MAX, &ms) : 0;
    if (err)
        snprintf(why, sizeof(why), "timeout_ms=%.40s: expected milliseconds", text);
    else
        err = sxs_runtimes_detach((unsigned)ms, why);
    sxs_ring_stop(0);
    get_state(&state);
    answer_result(r, err, why, &state);
}

void sxs_request_run(struct sxs_request *request)
{
    request->holds = 0;
    request->detach = 0;
    switch (request->verb) {
    case SXS_REQUEST_START: run_start(request); break;
    case SXS_REQUEST_STOP: run_stop(request); break;
    case SXS_REQUEST_SNAPSHOT: run_snapshot(request); break;
    case SXS_REQUEST_DETACH: run_detach(request); break;
    case SXS_REQUEST_STATUS: sxs_request_status(request->answer); break;
    case SXS_REQUEST_UNKNOWN: sxs_request_refuse(request->answer, "unknown request"); break;
    }
}
