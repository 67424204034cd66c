/* SPDX-License-Identifier: MIT */
#include "control/control.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/env.h"
#include "base/fork.h"
#include "base/held.h"
#include "base/log.h"
#include "base/proc.h"
#include "base/thread.h"
#include "control/duration_env.h"
#include "control/message/name.h"
#include "control/requests.h"
#include "control/ring.h"
#include "control/server.h"
#include "control/session_thread.h"
#include "control/socket.h"
#include "manager/sessions.h"

/* Descriptors in the table of base/descriptors.h; written before the threads start. */
static int listener = -1, woken = -1;

struct setup {
    unsigned long long start; /* this process's start time */
    char               why[200];
};

static int write_woken(void *arg)
{
    static const uint64_t one = 1;
    (void)arg;
    return write(woken, &one, sizeof(one)) == sizeof(one) ? 0 : -errno;
}

/* Called on the session thread, whose descriptors are the host's. */
static void wake_control(void)
{
    if (woken >= 0)
        sxs_descriptors_call(write_woken, NULL);
}

static void run_control(void)
{
    sxs_server_init(listener, woken);
    for (;;)
        sxs_server_turn(-1);
}

/* Runs on the thread of base/descriptors.h. A thread that it starts shares its descriptor table. */
static int open_socket(void *arg)
{
    static const struct sxs_thread control = {SXS_CONTROL_THREAD, run_control};
    struct setup                  *s = arg;
    int                            fd;
    if (!sxs_descriptors_are_own()) {
        snprintf(s->why, sizeof(s->why),
                 "the system refuses a descriptor table of the library's own (close_range)");
        return -ENOTSUP;
    }
    fd = sxs_control_listen(s->start, s->why, sizeof(s->why));
    if (fd < 0)
        return fd;
    woken = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    listener = fd;
    if (woken >= 0 && sxs_thread_start(&control) == 0)
        return 0;
    snprintf(s->why, sizeof(s->why), "no thread can be started");
    close(fd);
    if (woken >= 0)
        close(woken);
    listener = woken = -1;
    return -EAGAIN;
}

/* Reads SXSPROF_CONTROL. Returns 1 if it is off. With raised rights nothing can be recorded, so
 * nothing is answered. */
static int is_off(void)
{
    const char *value = sxs_env_get(SXS_ENV_CONTROL);
    if (sxs_env_is_secure())
        return 1;
    if (!value || strcmp(value, "on") == 0)
        return 0;
    if (strcmp(value, "code") == 0) {
        sxs_request_permit_code();
        return 0;
    }
    if (strcmp(value, "off") == 0)
        return 1;
    sxs_error("SXSPROF_CONTROL=%s: expected on, off or code; going on with on", value);
    return 0;
}

static int read_start_time(unsigned long long *out)
{
    char    text[1024];
    ssize_t n = sxs_proc_read("/proc/self/stat", text, sizeof(text) - 1);
    if (n <= 0)
        return -1;
    text[n] = '\0';
    return sxs_control_start_time(text, out);
}

static void start(void)
{
    struct setup s = {0};
    int          err, off = is_off();
    if (off && !sxs_ring_is_wanted() && !sxs_duration_is_set())
        return;
    sxs_request_note_library();
    err = sxs_session_thread_start(wake_control);
    if (!err)
        sxs_ring_start();
    if (!err)
        sxs_duration_start();
    if (off && !err)
        return;
    if (err)
        snprintf(s.why, sizeof(s.why), "no thread can be started (%s)", strerror(err));
    else if (read_start_time(&s.start) != 0)
        snprintf(s.why, sizeof(s.why), "/proc/self/stat cannot be read");
    else
        sxs_descriptors_call(open_socket, &s);
    if (s.why[0])
        sxs_warn(
            "no control socket: %s; sxsprof stop, status and snapshot cannot reach this process",
            s.why);
}

void sxs_control_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start);
}

/* ---- an attach whose command may have ended -------------------------------------------------- */

/* The folder that the command of an attach marks as in use (base/held.h) until it holds the session. */
static struct {
    pthread_mutex_t lock;
    char            folder[PATH_MAX];
} held = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(held.lock);

static int find_unheld(void *arg)
{
    return sxs_held_is(AT_FDCWD, arg) == SXS_HELD_NO;
}

static int is_unheld(void)
{
    char folder[PATH_MAX];
    pthread_mutex_lock(&held.lock);
    memcpy(folder, held.folder, sizeof(folder));
    pthread_mutex_unlock(&held.lock);
    return sxs_proc_call(find_unheld, folder);
}

int sxs_control_is_abandoned(const struct sxs_message *request)
{
    char        folder[PATH_MAX];
    const char *out = sxs_message_get(request, "out");
    if (!sxs_request_asks(request, "held") || !out || strlen(out) >= sizeof(folder))
        return 0;
    memcpy(folder, out, strlen(out) + 1);
    return sxs_proc_call(find_unheld, folder);
}

/* Ends the session soon after the end of the command, unless a request has held it by then. */
static void watch(const struct sxs_message *request)
{
    const char *out = sxs_message_get(request, "out");
    if (!sxs_request_asks(request, "held") || !out || strlen(out) >= sizeof(held.folder))
        return;
    pthread_mutex_lock(&held.lock);
    memcpy(held.folder, out, strlen(out) + 1);
    pthread_mutex_unlock(&held.lock);
    sxs_session_thread_watch(is_unheld);
}

int sxs_control_begun(const struct sxs_message *request, char *why, size_t why_size)
{
    struct sxs_session_state state;
    const char              *id = sxs_message_get(request, "id");
    uint64_t                 ms;
    int                      err = sxs_request_limit(request, &ms, why, why_size);
    if (err || !ms)
        return err;
    sxs_session_get_state(&state);
    if (state.phase != SXS_SESSION_ON || strcmp(state.id, id ? id : "") != 0)
        return 0; /* it has ended already */
    err = sxs_session_thread_limit(state.number, ms, sxs_request_asks(request, "detach"));
    if (err)
        snprintf(why, why_size, "SXSPROF_CONTROL=off");
    else
        watch(request);
    return err;
}

void sxs_control_not_begun(const struct sxs_message *request)
{
    struct sxs_session_state state;
    char                     why[80];
    uint64_t                 ms;
    sxs_session_get_state(&state);
    if (state.phase == SXS_SESSION_ON)
        return; /* the client that has begun the session detaches; the session keeps its time limit */
    if (sxs_request_limit(request, &ms, why, sizeof(why)) == 0 && ms &&
        sxs_request_asks(request, "detach"))
        sxs_session_thread_limit(0, ms, 1);
}
