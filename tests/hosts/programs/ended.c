/* SPDX-License-Identifier: MIT */
/* ended - a host that shuts some of its runtimes down, goes on, and gets a signal.
 *
 * ended [wait=S] [own] [notes] SIGNAL [INDEX...]: starts the runtimes one after the other, shuts those with these
 * indexes down in this order, and sends itself SIGNAL (a number). Each runtime prints a line when it
 * raises ProcessExit. "own": the host has a handler for the signal, registered before the runtimes
 * start, and ends with status 5 when it was called. "notes": the app of each runtime has a registration
 * for the signal. If nothing ends the process within S seconds (60), it ends with status
 * 9. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/hosts/hosting.h"

static volatile sig_atomic_t called;

static void handle(int sig)
{
    called = sig;
}

int main(int argc, char **argv)
{
    int  at = 1, sig, seconds = 60;
    bool own = false, notes = false;

    if (at < argc && sscanf(argv[at], "wait=%d", &seconds) == 1)
        at++;
    if (at < argc && !strcmp(argv[at], "own"))
        own = at++;
    if (at < argc && !strcmp(argv[at], "notes"))
        notes = at++;
    if (at == argc)
        return 2;
    sig = atoi(argv[at++]);
    signal(sig, own ? handle : SIG_DFL); /* the parent may ignore it */
    for (int i = 0; i < hosting_len(); i++) {
        hosting_start_one(i);
        hosting_guest(i)->notes_exit(i);
        if (notes)
            hosting_guest(i)->notes_signal(sig);
    }
    for (; at < argc; at++)
        hosting_claim(!hosting_stop_one(atoi(argv[at])), "runtime %s was shut down", argv[at]);
    hosting_say("sends the signal");
    kill(getpid(), sig);
    for (int ms = 0; ms < seconds * 1000 && !called; ms += 10)
        usleep(10000);
    hosting_say(called ? "own handler called" : "still alive");
    _exit(called ? 5 : 9);
}
