/* SPDX-License-Identifier: MIT */
/* observes - a host whose SIGSEGV handler is installed after the runtimes have started. It counts the
 * faults that it sees, and passes them on to the handler that it has replaced.
 *
 * Prints how many NullReferenceExceptions there were and how many of their faults the handler saw. */
#include <signal.h>
#include <stdatomic.h>

#include "tests/hosts/hosting.h"

enum { FAULTS = 100 };

static struct sigaction earlier;
static atomic_int       n_seen;

static void on_fault(int sig, siginfo_t *info, void *context)
{
    atomic_fetch_add(&n_seen, 1);
    if (earlier.sa_flags & SA_SIGINFO)
        earlier.sa_sigaction(sig, info, context);
    else
        signal(sig, SIG_DFL);
}

int main(void)
{
    struct sigaction act = {.sa_sigaction = on_fault,
                            .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    int              n = 0;

    hosting_start();
    sigaction(SIGSEGV, &act, &earlier);
    for (int i = 0; i < hosting_len(); i++)
        n += hosting_guest(i)->faults(FAULTS);
    hosting_claim(n == FAULTS * hosting_len(), "%d of %d exceptions are caught", n,
                  FAULTS * hosting_len());
    hosting_say("observes: %d faults, the handler saw %d", n, atomic_load(&n_seen));
    return hosting_n_wrong() != 0;
}
