/* SPDX-License-Identifier: MIT */
#include "callback/attach.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "base/log.h"
#include "control/control.h"
#include "control/message/message.h"
#include "control/ring.h"
#include "manager/sessions.h"
#include "session/write/log_write.h"

static const char first_line[] = "sxsprof 1 attach";

static int begin(const struct sxs_message *m)
{
    /* The port by which this came has made the runtime load a library. */
    const struct sxs_session_request request = {.may_load_code = 1,
                                                .tools = sxs_message_get(m, "tools"),
                                                .out = sxs_message_get(m, "out"),
                                                .pick = sxs_message_get(m, "pick"),
                                                .mask = sxs_message_get(m, "mask"),
                                                .id = sxs_message_get(m, "id")};
    char                             why[SXS_SESSION_WHY] = "";
    struct sxs_keep_texts            keep;
    size_t                           mark = sxs_log_file_mark();
    int                              err;
    if (sxs_env_is_secure()) {
        sxs_error("attached: %s", SXS_ATTACH_RAISED);
        return 0;
    }
    if (sxs_ring_texts(m, &keep))
        err = sxs_ring_begin(&request, &keep, why);
    else
        err = sxs_session_begin(&request, why);
    if (err) {
        sxs_error("attached, but nothing is recorded: %s", why);
        sxs_log_file_forget(mark);
        sxs_control_not_begun(m); /* the command may be gone */
    } else if (sxs_control_begun(m, why, sizeof(why)) != 0) {
        sxs_error("the time limit of the attach: %s", why);
    }
    return 0;
}

/* Calls @with with the request in the client data, if there is one. Returns its result, or 0. */
static int with_request(const void *data, size_t size, int (*with)(const struct sxs_message *m))
{
    struct sxs_message m;
    char               why[SXS_SESSION_WHY] = "";
    char              *copy;
    size_t             whole;
    int                result = 0;
    if (!data || size < sizeof(first_line) || size > SXS_CONTROL_MAX ||
        memcmp(data, first_line, sizeof(first_line) - 1) != 0)
        return 0;
    copy = malloc(size);
    if (!copy)
        return 0;
    memcpy(copy, data, size);
    whole = sxs_message_size(copy, size);
    if (whole == 0 || whole == (size_t)-1)
        sxs_error("the data of the attach are no whole message");
    else if (sxs_message_parse(copy, whole, &m, why, sizeof(why)) != 0)
        sxs_error("the data of the attach: %s", why);
    else if (strcmp(m.text, first_line) == 0)
        result = with(&m);
    free(copy);
    return result;
}

void sxs_attach_begin(const void *data, size_t size)
{
    with_request(data, size, begin);
}

static _Atomic int at_start; /* 1: a runtime has loaded the library at its start */

void sxs_attach_begun_at_start(void)
{
    at_start = 1;
}

static int take_log(const struct sxs_message *m)
{
    (void)m;
    if (!at_start)
        sxs_log_file_divert();
    return 0;
}

void sxs_attach_take_log(const void *data, size_t size)
{
    with_request(data, size, take_log);
}

int sxs_attach_is_abandoned(const void *data, size_t size)
{
    return with_request(data, size, sxs_control_is_abandoned);
}
