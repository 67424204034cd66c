/* SPDX-License-Identifier: MIT */
/**
 * sessions_stub.h - stands in for manager/sessions.h and control/ring.h: counts what the control socket asks for, and
 * lets a test keep the end of a session from returning. Also for the fuzz driver of the server.
 */
#ifndef SXS_TESTS_SESSIONS_STUB_H
#define SXS_TESTS_SESSIONS_STUB_H

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "control/ring.h"
#include "control/runtimes.h"
#include "manager/sessions.h"

static struct {
    pthread_mutex_t          lock;
    pthread_cond_t           opened;
    struct sxs_session_state state;
    unsigned                 begins, ends, detaches, settles, rings;
    int                      gate;    /* 1: sxs_session_end() waits until it is 0 */
    _Atomic int              between; /* 1: a ring is between two segments */
} stub = {.lock = PTHREAD_MUTEX_INITIALIZER, .opened = PTHREAD_COND_INITIALIZER};

int sxs_session_begin(const struct sxs_session_request *r, char why[SXS_SESSION_WHY])
{
    int err = 0;
    pthread_mutex_lock(&stub.lock);
    if (strcmp(r->tools, "none") == 0) {
        snprintf(why, SXS_SESSION_WHY, "there is no tool none");
        err = -EINVAL;
    } else if (stub.state.phase != SXS_SESSION_NONE) {
        snprintf(why, SXS_SESSION_WHY, "another session is on");
        err = -EBUSY;
    } else {
        stub.begins++;
        stub.state.phase = SXS_SESSION_ON;
        stub.state.number++;
        stub.state.started_ns = 1;
        snprintf(stub.state.id, sizeof(stub.state.id), "%s", r->id);
        snprintf(stub.state.tools, sizeof(stub.state.tools), "%s", r->tools);
        snprintf(stub.state.out, sizeof(stub.state.out), "%s/1", r->out);
    }
    pthread_mutex_unlock(&stub.lock);
    return err;
}

int sxs_session_end(char why[SXS_SESSION_WHY])
{
    int err = -ENOENT;
    why[0] = '\0';
    pthread_mutex_lock(&stub.lock);
    if (stub.state.phase == SXS_SESSION_ON) {
        stub.state.phase = SXS_SESSION_ENDING;
        while (stub.gate)
            pthread_cond_wait(&stub.opened, &stub.lock);
        stub.state.phase = SXS_SESSION_NONE;
        stub.ends++;
        err = 0;
    }
    pthread_mutex_unlock(&stub.lock);
    return err;
}

void sxs_session_get_state(struct sxs_session_state *out)
{
    pthread_mutex_lock(&stub.lock);
    *out = stub.state;
    pthread_mutex_unlock(&stub.lock);
}

int sxs_session_settle(void)
{
    pthread_mutex_lock(&stub.lock);
    stub.settles++;
    pthread_mutex_unlock(&stub.lock);
    return 0;
}

int sxs_runtimes_detach(unsigned timeout_ms, char why[SXS_SESSION_WHY])
{
    (void)timeout_ms;
    sxs_session_end(why);
    pthread_mutex_lock(&stub.lock);
    stub.detaches++;
    pthread_mutex_unlock(&stub.lock);
    return 0;
}

int sxs_ring_is_wanted(void)
{
    return 0;
}

int sxs_ring_start(void)
{
    return 0;
}

int sxs_ring_stop(unsigned number)
{
    int between = stub.between;
    (void)number;
    stub.between = 0;
    return between;
}

int sxs_ring_folder(char *out, size_t size)
{
    (void)out, (void)size;
    return 0;
}

int sxs_ring_texts(const struct sxs_message *m, struct sxs_keep_texts *out)
{
    out->keep = sxs_message_get(m, "keep");
    return out->keep != NULL;
}

int sxs_ring_begin(const struct sxs_session_request *request, const struct sxs_keep_texts *texts,
                   char why[SXS_SESSION_WHY])
{
    (void)texts;
    stub.rings++;
    return sxs_session_begin(request, why);
}

void sxs_control_add_runtimes(struct sxs_message_writer *answer)
{
    sxs_message_add(answer, "runtime", "1 8.0.0 picked live /x/libcoreclr.so");
    sxs_message_add(answer, "runtime", "2 9.0.0 picked live /y/libcoreclr.so");
}

#endif
