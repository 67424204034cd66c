/* SPDX-License-Identifier: MIT */
#include "guests/crash.h"

#include <stdatomic.h>
#include <string.h>

#include "base/imports.h"
#include "base/log.h"
#include "guests/guest.h"
#include "guests/thread_state.h"
#include "signals/signals.h"

static struct {
    uintptr_t           from, to; /* addresses of the guest's library */
    const struct guest *guest;
} libraries[GUEST_MAX];
static _Atomic unsigned n_libraries;

/* The line, put together in a signal handler: without snprintf(). */
struct crash_line {
    char   text[300];
    size_t len;
};

SXS_SIGSAFE static void put(struct crash_line *line, const char *text)
{
    for (; *text && line->len < sizeof(line->text) - 1; text++)
        line->text[line->len++] = *text;
    line->text[line->len] = '\0';
}

SXS_SIGSAFE static void put_number(struct crash_line *line, unsigned n)
{
    char digits[12] = "";
    int  at = (int)sizeof(digits) - 1;
    do {
        digits[--at] = (char)('0' + n % 10);
        n /= 10;
    } while (n && at > 0);
    put(line, digits + at);
}

SXS_SIGSAFE static const struct guest *owner_of(uintptr_t ip)
{
    unsigned n = atomic_load_explicit(&n_libraries, memory_order_acquire);
    for (unsigned i = 0; i < n; i++)
        if (ip >= libraries[i].from && ip < libraries[i].to)
            return libraries[i].guest;
    return NULL;
}

/* Writes "sxsprof: signal 11 in guest libname.so, in a callback of runtime 2". */
SXS_SIGSAFE static void crashed(int sig, uintptr_t ip, uintptr_t sp)
{
    const struct guest_instance *inside = guest_current();
    const struct guest          *code = owner_of(ip);
    struct crash_line            line = {.len = 0};
    (void)sp;
    if (!inside && !code)
        return;
    put(&line, "sxsprof: signal ");
    put_number(&line, (unsigned)sig);
    put(&line, code ? " in the code of " : " below ");
    put(&line, code ? code->title : inside ? inside->guest->title : "");
    if (inside) {
        put(&line, code && code != inside->guest ? ", called by " : ", in a callback of runtime ");
        if (code && code != inside->guest) {
            put(&line, inside->guest->title);
            put(&line, " in a callback of runtime ");
        }
        put_number(&line, sxs_runtime_number(inside->rt));
    }
    sxs_log_last(line.text);
}

void guest_crash_watch(const struct guest *guest)
{
    const struct sxs_signals *signals = sxs_signals();
    unsigned                  n = atomic_load(&n_libraries);
    if (n < GUEST_MAX && sxs_module_range((uintptr_t)guest->get_class_object, &libraries[n].from,
                                          &libraries[n].to) == 0) {
        libraries[n].guest = guest;
        atomic_store_explicit(&n_libraries, n + 1, memory_order_release);
    }
    if (signals->size > offsetof(struct sxs_signals, watch_crashes))
        signals->watch_crashes(crashed);
}
