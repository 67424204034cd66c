/* SPDX-License-Identifier: MIT */
#include "cmd/symbols/worker_serve.h"

#include "cmd/confined/descriptors.h"
#include "cmd/symbols/worker_limits.h"
#include "cmd/symbols/worker_message.h"

#include <stdlib.h>
#include <unistd.h>

static int      to_command = -1; /* -1: this process is no worker */
static bool     is_limited;
static uint32_t left_ms; /* when the request came */

static void set_limits(bool limited)
{
    is_limited = limited;
    sxs_symbol_worker_limit_memory(limited);
    sxs_symbol_worker_limit_time(limited, left_ms);
}

bool sxs_symbol_worker_limited(bool limited)
{
    const uint8_t tell = limited ? SXS_TELL_LIMITED : SXS_TELL_FREE;
    bool          was = is_limited;
    if (to_command < 0 || limited == was)
        return was;
    set_limits(limited);
    if (sxs_confined_send(to_command, &tell, 1, -1) != 0)
        _exit(0);
    return was;
}

/* sxs_must() calls exit(): nothing that this process has in common with its parent is done then. */
static void end_at_once(void)
{
    _exit(SXS_SYMBOL_NO_MEMORY);
}

int sxs_symbol_worker_serve(void *served)
{
    static struct sxs_symbol_message request, answer;
    const struct sxs_symbol_served  *s = served;
    to_command = s->fd;
    if (atexit(end_at_once) != 0)
        return 1;
    sxs_symbol_worker_prepare();
    for (;;) {
        int     passed;
        ssize_t n = sxs_confined_receive(to_command, &request, sizeof(request), &passed);
        if (n < (ssize_t)SXS_SYMBOL_HEAD)
            return 0;
        left_ms = request.left_ms;
        set_limits(request.tell == SXS_TELL_LIMITED);
        size_t size = s->job.answer(s->job.arg, request.bytes, (size_t)n - SXS_SYMBOL_HEAD,
                                    answer.bytes, &passed);
        sxs_symbol_worker_limit_memory(false);
        sxs_symbol_worker_limit_time(false, 0);
        answer.tell = SXS_TELL_ANSWER;
        if (sxs_confined_send(to_command, &answer, SXS_SYMBOL_HEAD + size, passed) != 0)
            return 0;
        if (passed >= 0)
            close(passed);
    }
}
