/* SPDX-License-Identifier: MIT */
#include "cmd/attach/target.h"

#include "base/held.h"
#include "cmd/output/exits.h"
#include "cmd/processes/control_client.h"
#include "cmd/processes/deadline.h"
#include "cmd/processes/inside.h"
#include "include/sxsprof.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define PROFILER_SET       3u
#define ATTACH_COMMAND     1u
#define PROFILER_ACTIVE    0x8013136Au /* CORPROF_E_PROFILER_ALREADY_ACTIVE */
#define PROFILER_DETACHING 0x80131367u /* CORPROF_E_PROFILER_DETACHING */
#define AGAIN_MS           50          /* until a runtime that is being detached is asked again */
#define UNDO_MS            3000u       /* for a failed attach to be undone */
#define LOAD_MS            30000 /* for the runtime to be ready to load the library: the runtime's own limit */
#define MOST_MS            (4 * SXS_TARGET_MS) /* what the deadline becomes on a busy machine */
#define CLOSE_MS           1500u /* for what was made in the folders of the process to be removed */
#define STOP_MS            120000 /* for a session to end: its threads are joined, names looked up */
#define DETACH_MS          60000  /* for the runtimes to detach the library */
#define REPLY_MS           8000   /* for the process to say how far it is */
#define LOOK_MS            200u
#define EXIT_MS            5000  /* for a process that is ending to end: its memory is freed */
#define ORPHAN_MS          15000 /* if this command dies before it holds the session */
#define NO_LIMIT_MS        UINT64_C(31622400000)
/* In the library's reason why a runtime in which instrument was on cannot be detached; that was said
 * before the attach. */
#define IRREVERSIBLE "CORPROF_E_IRREVERSIBLE_INSTRUMENTATION_PRESENT"
#define SPARE_MS     10000 /* the library's own limit lies after that of this command */

/* Adds a sentence to @why. */
static void __attribute__((format(printf, 2, 3))) add_why(char *why, const char *format, ...)
{
    size_t  len = strlen(why);
    va_list ap;
    if (len && len + 2 < SXS_TARGET_WHY)
        len += (size_t)snprintf(why + len, SXS_TARGET_WHY - len, "; ");
    va_start(ap, format);
    if (len < SXS_TARGET_WHY)
        vsnprintf(why + len, SXS_TARGET_WHY - len, format, ap);
    va_end(ap);
}

/* Converts the text of the class ID to the bytes of a GUID. */
static void class_id(uint8_t out[16])
{
    static const char text[] = SXSPROF_CLSID;
    unsigned          a, b, c, d[8];
    sscanf(text, "{%8x-%4x-%4x-%2x%2x-%2x%2x%2x%2x%2x%2x}", &a, &b, &c, &d[0], &d[1], &d[2], &d[3],
           &d[4], &d[5], &d[6], &d[7]);
    for (int i = 0; i < 4; i++)
        out[i] = (uint8_t)(a >> (8 * i));
    for (int i = 0; i < 2; i++) {
        out[4 + i] = (uint8_t)(b >> (8 * i));
        out[6 + i] = (uint8_t)(c >> (8 * i));
    }
    for (int i = 0; i < 8; i++)
        out[8 + i] = (uint8_t)d[i];
}

/* ---- files of the process -------------------------------------------------------------------- */

/* Has the library end what was asked for by AttachProfiler, or not begin it. */
static void unmark_session(struct sxs_target *t)
{
    if (t->mark >= 0)
        close(t->mark);
    t->mark = -1;
}

/* Marks the session's folder as that of a command that lives, for as long as nobody else can tell. */
static void mark_session(struct sxs_target *t, const struct sxs_target_request *request,
                         bool staged)
{
    t->mark = openat(staged ? t->staging.dir : AT_FDCWD, staged ? "session" : request->out,
                     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (t->mark >= 0 && sxs_held_mark(t->mark) != 0)
        unmark_session(t);
}

/* Chooses where the process records, and from where it loads the library; makes the staging folder
 * if it needs one. @library: receives the path, PATH_MAX bytes. */
static int prepare_files(struct sxs_target *t, const struct sxs_target_request *request,
                         char *library, char why[SXS_TARGET_WHY])
{
    const struct sxs_process_profiler *own = sxs_process_own_profiler(&t->p);
    bool        apart = sxs_process_is_apart(&t->p), staged = apart || t->p.uid != geteuid();
    const char *copied = NULL, *path = request->library;
    char        reason[512] = "";
    if (*t->library) /* the very copy that is loaded: a second one must not be */
        path = t->library;
    else if (own)
        path = own->path;
    else if (apart || sxs_inside_can(&t->p, request->library, R_OK) != 0)
        copied = request->library;
    if (staged || copied) {
        int err = sxs_staging_open(&t->p, copied, &t->staging, reason, sizeof(reason));
        if (err) {
            add_why(why, "%d: no folder can be made for %s that the process can use: %s",
                    (int)t->p.pid, copied ? "the library and the session" : "the session",
                    *reason ? reason : strerror(err));
            return SXS_EXIT_USAGE;
        }
    }
    snprintf(library, PATH_MAX, "%s", copied ? t->staging.library : path);
    snprintf(t->inside, sizeof(t->inside), "%s", staged ? t->staging.session : request->out);
    mark_session(t, request, staged);
    return SXS_EXIT_OK;
}

/* ---- requests -------------------------------------------------------------------------------- */

static void write_request(struct sxs_message_writer *w, const struct sxs_target *t,
                          const struct sxs_target_request *request, const char *verb)
{
    memset(w, 0, sizeof(*w));
    sxs_control_request(w, verb);
    request->add_settings(request->arg, w);
    sxs_message_add(w, "out", t->inside);
    sxs_message_add(w, "id", t->id);
}

/* Begins the session in the library, or joins it, and holds it: it ends when this command dies. */
static int hold_session(struct sxs_target *t, const struct sxs_target_request *request,
                        char why[SXS_TARGET_WHY])
{
    static struct sxs_message_writer message;
    static struct sxs_control_answer answer;
    char                             reason[SXS_CONTROL_WHY];
    int                              err = sxs_process_find_profilers(&t->p);
    if (!err)
        err = sxs_control_connect(&t->p, &t->hold, reason);
    if (err) {
        t->hold = -1;
        add_why(why, "%d: %s", (int)t->p.pid, reason);
        return err;
    }
    write_request(&message, t, request, "start");
    sxs_message_add(&message, "hold", "1");
    if (!t->has_library)
        sxs_message_add(&message, "detach", "1");
    sxs_message_addf(
        &message, "duration_ms", "%llu",
        (unsigned long long)(request->duration_ms ? request->duration_ms + SPARE_MS : NO_LIMIT_MS));
    sxs_message_end(&message);
    err = sxs_control_ask(t->hold, &message, &answer, (int)sxs_deadline_left(MOST_MS), reason);
    if (!err &&
        !sxs_control_masks(&answer, request->mask)) { /* closing the socket ends the session */
        err = ENOTSUP;
        snprintf(
            reason, sizeof(reason),
            "--mask %s: its library does not mask these values, for example because it is older "
            "than this command; the session is ended at once",
            request->mask);
    }
    const char *left_out = err ? reason : sxs_message_get(&answer.message, "why");
    if (left_out && *left_out)
        add_why(why, "%d: %s", (int)t->p.pid, left_out);
    if (err) {
        close(t->hold);
        t->hold = -1;
    }
    return err;
}

/* Sends a request, over a connection of its own. The answer to one that ends a session may take
 * @timeout_ms, as long as the process answers others. Returns 0 or an errno value. */
static int ask(const struct sxs_process *p, const char *verb, int timeout_ms,
               struct sxs_control_answer *answer, char why[SXS_CONTROL_WHY])
{
    static struct sxs_message_writer request;
    const struct sxs_control_wait    wait = {.process = p};
    int                              fd, err = sxs_control_connect(p, &fd, why);
    if (err)
        return err;
    memset(&request, 0, sizeof(request));
    sxs_control_request(&request, verb);
    if (strcmp(verb, "detach") ==
        0) /* how long a runtime waits before it looks for the first time */
        sxs_message_addf(&request, "timeout_ms", "%u", LOOK_MS);
    sxs_message_end(&request);
    err = strcmp(verb, "status") == 0
              ? sxs_control_ask(fd, &request, answer, timeout_ms, why)
              : sxs_control_ask_watching(fd, &request, answer, timeout_ms, &wait, why);
    close(fd);
    return err;
}

static bool is_ending(const struct sxs_control_answer *answer)
{
    const char *phase = sxs_message_get(&answer->message, "phase");
    return phase && strcmp(phase, "ending") == 0;
}

/* Returns true when the process is not to be asked for anything new yet: it ends a session or lets the library
 * go, or it will soon, because nobody holds the session that an attach has begun. */
static bool will_end(const struct sxs_control_answer *answer)
{
    const struct sxs_message *m = &answer->message;
    const char               *phase = sxs_message_get(m, "phase"), *id = sxs_message_get(m, "id");
    bool unheld = phase && strcmp(phase, "on") == 0 && id && *id && !sxs_message_get(m, "client") &&
                  sxs_message_get(m, "left_ms");
    return unheld || is_ending(answer) || sxs_message_get(m, "detaching");
}

int sxs_target_wait_ended(const struct sxs_process *p, struct sxs_control_answer *answer,
                          unsigned wait_ms, char why[SXS_CONTROL_WHY])
{
    const struct timespec pause = {.tv_nsec = AGAIN_MS * 1000000};
    int64_t               until = sxs_deadline_now_ms() + sxs_deadline_left(wait_ms);
    for (;;) {
        int err = ask(p, "status", (int)sxs_deadline_left(REPLY_MS), answer, why);
        if (err || !will_end(answer) || sxs_deadline_now_ms() >= until || !sxs_deadline_left(1))
            return err;
        nanosleep(&pause, NULL);
    }
}

/* Names the other profilers in the process. */
static void name_others(const struct sxs_process *p, char *out, size_t size)
{
    size_t len = 0;
    *out = '\0';
    for (size_t i = 0; i < p->n_profilers && len < size; i++)
        if (!p->profilers[i].ours || p->n_profilers == 1)
            len += (size_t)snprintf(out + len, size - len, "%s%s", len ? ", " : ": ",
                                    p->profilers[i].path);
}

static void explain_failure(const struct sxs_target *t, const struct sxs_target_runtime *r, int err,
                            uint32_t hr, char why[SXS_TARGET_WHY])
{
    const char *text = err ? NULL : sxs_diag_hresult(hr);
    char        others[PATH_MAX + 16] = "", code[32];
    if (!err && hr == PROFILER_ACTIVE)
        name_others(&t->p, others, sizeof(others));
    snprintf(code, sizeof(code), "error 0x%08x", hr);
    add_why(why, "%d: runtime %s: %s%s", (int)t->p.pid, r->version,
            err == ETIMEDOUT ? "it did not answer in time"
            : err            ? strerror(err)
            : text           ? text
                             : code,
            others);
}

/* What came of AttachProfiler. */
struct attempt {
    int      err; /* errno value: there is no answer */
    uint32_t hr;  /* of the answer */
};

static struct attempt ask_to_load(struct sxs_target *t, const struct sxs_target_runtime *r,
                                  const uint8_t *request, size_t size)
{
    static uint8_t         buf[SXS_DIAG_MAX];
    struct sxs_diag_answer answer = {0};
    struct attempt         a = {.err = EMSGSIZE};
    if (size)
        a.err = sxs_ports_exchange(&t->p, &t->ports, (size_t)r->reached, request, size, MOST_MS,
                                   buf, &answer);
    a.hr = answer.failed ? answer.error
           : !a.err && answer.size >= 4
               ? answer.payload[0] | (uint32_t)answer.payload[1] << 8 |
                     (uint32_t)answer.payload[2] << 16 | (uint32_t)answer.payload[3] << 24
               : 0;
    return a;
}

/* Returns true when the runtime still has the library of an earlier attach, which it lets go soon: that
 * takes it some tenths of a second. Another profiler stays, and so does the library of a session that
 * another command has begun meanwhile. */
static bool is_leaving(const struct sxs_target *t, const struct attempt *a)
{
    static struct sxs_control_answer answer;
    char                             why[SXS_CONTROL_WHY];
    if (a->err || (a->hr != PROFILER_DETACHING && a->hr != PROFILER_ACTIVE))
        return false;
    if (a->hr == PROFILER_DETACHING)
        return true;
    int         err = ask(&t->p, "status", (int)sxs_deadline_left(REPLY_MS), &answer, why);
    const char *phase = err ? NULL : sxs_message_get(&answer.message, "phase");
    return phase && (strcmp(phase, "on") != 0 || will_end(&answer));
}

/* Asks one runtime to load the library. Returns 0, or -1 with the reason in @why. */
static int attach_runtime(struct sxs_target *t, const struct sxs_target_request *request,
                          size_t index, const char *library, char why[SXS_TARGET_WHY])
{
    static struct sxs_message_writer data;
    static uint8_t                   payload[SXS_DIAG_MAX], command[SXS_DIAG_MAX];
    const struct timespec            pause = {.tv_nsec = AGAIN_MS * 1000000};
    const struct sxs_target_runtime *r = &t->runtimes[index];
    uint8_t                          clsid[16];
    struct attempt                   a;
    write_request(&data, t, request, "attach");
    if (t->hold < 0) {
        sxs_message_addf(&data, "duration_ms", "%u", ORPHAN_MS);
        sxs_message_add(&data, "detach", "1");
    }
    sxs_message_add(&data, "held", t->mark >= 0 ? "1" : NULL);
    sxs_message_end(&data);
    class_id(clsid);
    size_t size = sxs_diag_attach_payload(payload, LOAD_MS, clsid, library, data.bytes, data.size);
    if (size && !data.full)
        size = sxs_diag_request(command, PROFILER_SET, ATTACH_COMMAND, payload, size);
    else
        size = 0;
    while (a = ask_to_load(t, r, command, size),
           is_leaving(t, &a) && sxs_deadline_left(2 * AGAIN_MS))
        nanosleep(&pause, NULL);
    if (!a.err && !a.hr)
        return 0;
    t->pending |= a.err == ETIMEDOUT || a.err == ECONNRESET;
    explain_failure(t, r, a.err, a.hr, why);
    return -1;
}

/* ---- attach and detach ----------------------------------------------------------------------- */

enum sxs_target_state sxs_target_poll(struct sxs_target *t)
{
    struct pollfd ready[2] = {{.fd = t->pidfd, .events = POLLIN},
                              {.fd = t->hold, .events = POLLIN}};
    if (poll(ready, 2, 0) <= 0)
        return SXS_TARGET_ON;
    return ready[0].revents ? SXS_TARGET_GONE : SXS_TARGET_ENDED;
}

/* Returns true when the process has ended. One that is ending does not return to its program some time before
 * its pidfd says so; how long depends on the kernel, on disks, and on debuggers of its threads. */
static bool has_ended(struct sxs_target *t)
{
    struct pollfd ended = {.fd = t->pidfd, .events = POLLIN};
    uint64_t      most = sxs_deadline_stretch(EXIT_MS);
    if (t->pidfd < 0)
        return false;
    for (uint64_t ms = 0; ms < most && sxs_target_poll(t) != SXS_TARGET_GONE; ms += LOOK_MS) {
        if (!sxs_process_has_program(&t->p)) {
            poll(&ended, 1, LOOK_MS); /* what its threads still write */
            return true;
        }
        if (sxs_process_is_same(&t->p))
            return false;
        poll(&ended, 1, LOOK_MS);
    }
    return sxs_target_poll(t) == SXS_TARGET_GONE;
}

static void choose_id(char id[33])
{
    uint64_t number = 0;
    if (getrandom(&number, sizeof(number), 0) != sizeof(number))
        number = (uint64_t)getpid();
    snprintf(id, 33, "%016llx", (unsigned long long)number);
}

/* Detaches the runtimes that were attached, because the session could not begin. Returns an exit status. */
static int leave_again(struct sxs_target *t, char why[SXS_TARGET_WHY])
{
    char reason[SXS_TARGET_WHY];
    unmark_session(t);
    if (sxs_target_release(&t->p, DETACH_MS, reason) == SXS_EXIT_OK)
        return SXS_EXIT_USAGE;
    if (has_ended(t)) { /* meanwhile; then nothing else is true of it */
        *why = '\0';
        add_why(why, "%d: it has ended before the session began", (int)t->p.pid);
        return SXS_EXIT_USAGE;
    }
    add_why(why, "%s", reason);
    return SXS_EXIT_PROBLEM;
}

/* Undoes an attach whose answer did not come: the runtime may still load the library, now or later.
 * The library ends what it has begun, and begins nothing later, when the folder is not marked any more;
 * what it has begun by now has ended when this returns, unless the process does not answer. */
static void undo_attach(struct sxs_target *t)
{
    static struct sxs_control_answer answer;
    char                             why[SXS_CONTROL_WHY];
    unmark_session(t);
    if (!t->pending)
        return;
    sxs_deadline_begin(UNDO_MS);
    sxs_target_wait_ended(&t->p, &answer, UNDO_MS, why);
}

int sxs_target_attach(struct sxs_target *t, const struct sxs_target_request *request,
                      char why[SXS_TARGET_WHY])
{
    char library[PATH_MAX];
    *why = '\0';
    if (!sxs_process_is_same(&t->p)) {
        add_why(why, "%d: it has ended, or has become another program", (int)t->p.pid);
        return SXS_EXIT_USAGE;
    }
    choose_id(t->id);
    t->stays = strstr(request->tools, "instrument") != NULL;
    int status = prepare_files(t, request, library, why);
    if (status)
        return status;
    int err = t->has_library ? hold_session(t, request, why) : 0;
    if (err) {
        unmark_session(t);
        return err == ENOTSUP ? SXS_EXIT_PROBLEM : SXS_EXIT_USAGE;
    }
    t->attached = t->has_library;
    for (size_t i = 0; i < t->n_runtimes; i++) {
        const struct sxs_target_runtime *r = &t->runtimes[i];
        if (!r->picked || r->live || r->reached < 0 ||
            attach_runtime(t, request, i, library, why) != 0)
            continue;
        if (t->hold < 0 && hold_session(t, request, why) != 0)
            return leave_again(t, why);
        t->attached = true;
    }
    if (!t->attached)
        undo_attach(t);
    return t->attached ? SXS_EXIT_OK : SXS_EXIT_USAGE;
}

/* Returns how many runtimes the answer calls live. */
static size_t count_live(const struct sxs_control_answer *answer)
{
    size_t n = 0;
    for (size_t i = 0; i < answer->message.n; i++)
        n += strcmp(answer->message.names[i], "runtime") == 0 &&
             strstr(answer->message.values[i], " live ") != NULL;
    return n;
}

/* Waits until no runtime calls the library any more, as long as the process answers. Returns 0, or an
 * errno value. */
static int wait_detached(const struct sxs_process *p, unsigned wait_ms)
{
    static struct sxs_control_answer answer;
    const struct timespec            pause = {.tv_nsec = 20000000};
    char                             why[SXS_CONTROL_WHY];
    int64_t                          deadline = sxs_deadline_now_ms() + wait_ms;
    while (sxs_deadline_now_ms() < deadline) {
        int err = ask(p, "status", REPLY_MS, &answer, why);
        if (err == ECONNREFUSED || err == ESRCH || (!err && count_live(&answer) == 0))
            return 0; /* nothing of the library runs, or the process has ended */
        if (err == ETIMEDOUT || err == EAGAIN)
            return err;
        nanosleep(&pause, NULL);
    }
    return ETIMEDOUT;
}

/* Asks for the end of the session. The library gives up waiting for it after a minute; the end goes on,
 * and its files are complete only then: those of a large heap take longer. Returns 0 or an errno
 * value; @verb is asked again if the session has ended meanwhile. */
static int ask_for_end(const struct sxs_process *p, const char *verb,
                       struct sxs_control_answer *answer, char why[SXS_CONTROL_WHY])
{
    static struct sxs_control_answer status;
    const struct timespec            pause = {.tv_nsec = 100000000};
    char                             ignored[SXS_CONTROL_WHY];
    int                              err = ask(p, verb, STOP_MS, answer, why);
    int64_t                          deadline = sxs_deadline_now_ms() + STOP_MS;
    if (err != EREMOTEIO || !is_ending(answer))
        return err;
    while (sxs_deadline_now_ms() < deadline && ask(p, "status", REPLY_MS, &status, ignored) == 0) {
        if (!is_ending(&status))
            return strcmp(verb, "stop") == 0 ? 0 : ask(p, verb, STOP_MS, answer, why);
        nanosleep(&pause, NULL);
    }
    return err;
}

int sxs_target_release(const struct sxs_process *p, unsigned wait_ms, char why[SXS_TARGET_WHY])
{
    static struct sxs_control_answer answer;
    char                             reason[SXS_CONTROL_WHY];
    *why = '\0';
    sxs_deadline_begin(0);
    int err = ask_for_end(p, "detach", &answer, reason);
    if (err) {
        add_why(why, "%d: %s", (int)p->pid, reason);
        return SXS_EXIT_PROBLEM;
    }
    const char *remains = sxs_message_get(&answer.message, "why");
    if (remains && *remains)
        add_why(why, "%d: %s", (int)p->pid, remains);
    else if (wait_detached(p, wait_ms) != 0)
        add_why(
            why,
            "%d: a runtime has not let the library go yet, because a thread is inside of a call "
            "of it; it will, and nothing is recorded",
            (int)p->pid);
    return *why ? SXS_EXIT_PROBLEM : SXS_EXIT_OK;
}

static int stop_session(struct sxs_target *t, char why[SXS_TARGET_WHY])
{
    static struct sxs_control_answer answer;
    char                             reason[SXS_CONTROL_WHY];
    if (!t->has_library) {
        int status = sxs_target_release(&t->p, DETACH_MS, why);
        return t->stays && strstr(why, IRREVERSIBLE) ? SXS_EXIT_OK : status;
    }
    int err = ask_for_end(&t->p, "stop", &answer, reason);
    if (err)
        add_why(why, "%d: %s", (int)t->p.pid, reason);
    return err ? SXS_EXIT_PROBLEM : SXS_EXIT_OK;
}

/* Copies the session out of the folder of the process. Returns true when all of it was copied. */
static bool fetch_session(struct sxs_target *t, char why[SXS_TARGET_WHY])
{
    struct sxs_copy_result result;
    int                    err = sxs_staging_fetch(&t->staging, t->p.uid, t->out, &result);
    if (err) {
        add_why(why, "%d: the session could not be copied out of %s: %s", (int)t->p.pid,
                t->staging.folder, strerror(err));
        sxs_staging_keep(&t->p, &t->staging); /* it is the only whole copy */
    } else if (result.n_skipped) {
        add_why(why,
                "%d: left out of the copy of the session: %zu of its files or folders, first %s",
                (int)t->p.pid, result.n_skipped, result.skipped);
    }
    return !err && !result.n_skipped;
}

int sxs_target_detach(struct sxs_target *t, char why[SXS_TARGET_WHY])
{
    int status = SXS_EXIT_OK;
    *why = '\0';
    sxs_deadline_begin(0);
    enum sxs_target_state state = sxs_target_poll(t);
    unmark_session(t); /* a runtime that answers only now begins nothing */
    if (t->attached && state == SXS_TARGET_ON)
        status = stop_session(t, why);
    if (status && has_ended(t)) { /* meanwhile */
        status = SXS_EXIT_OK;
        *why = '\0';
    }
    t->attached = false;
    if (t->hold >= 0)
        close(t->hold);
    t->hold = -1;
    if (strcmp(t->inside, t->out) != 0 && t->staging.dir >= 0 && !fetch_session(t, why))
        status = SXS_EXIT_PROBLEM;
    return status;
}

void sxs_target_close(struct sxs_target *t)
{
    if (t->hold >= 0)
        close(t->hold);
    if (t->pidfd >= 0)
        close(t->pidfd);
    t->hold = t->pidfd = -1;
    unmark_session(t);
    sxs_deadline_begin(CLOSE_MS);
    sxs_ports_close(&t->p, &t->ports);
    sxs_staging_close(&t->p, &t->staging);
    sxs_process_free(&t->p);
}
