/* SPDX-License-Identifier: MIT */
/* plain - a host that starts the runtimes, works, and ends. Used with different environments.
 *
 * plain [exit|_exit|abort|segv|unhandled|vanish]: how the host ends. "exit" is the default;
 * "vanish" also removes the session folder between two rounds of work. */
#include <dirent.h>
#include <ftw.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/hosts/hosting.h"

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
    (void)status;
    (void)type;
    (void)ftw;
    return remove(path);
}

static void remove_session(void)
{
    const char *folder = getenv("SXSPROF_OUT");

    if (folder)
        nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Causes a fault, at an address that the compiler does not know. */
static void raise_fault(void)
{
    volatile uintptr_t address = 8;

    *(volatile int *)address = 0;
}

static void die(const char *how)
{
    hosting_say("ends by %s", how);
    if (!strcmp(how, "_exit"))
        _exit(5);
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "segv"))
        raise_fault();
    if (!strcmp(how, "unhandled"))
        hosting_guest(0)->unhandled(7);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "exit";

    hosting_start();
    for (int i = 0; i < hosting_len(); i++)
        hosting_guest(i)->print(i + 1);
    hosting_claim(hosting_work(1) == 0, "the first round");
    if (!strcmp(how, "vanish"))
        remove_session();
    hosting_claim(hosting_work(2) == 0, "two more rounds");
    if (strcmp(how, "exit") != 0 && strcmp(how, "vanish") != 0)
        die(how);
    return hosting_end();
}
