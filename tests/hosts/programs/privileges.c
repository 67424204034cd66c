/* SPDX-License-Identifier: MIT */
/* privileges - a host that is started by root and gives up rights.
 *
 * privileges setuid|chroot|unshare|pid-namespace before|after (the start of the runtimes)
 *   setuid         becomes user 65534
 *   chroot         makes HOSTS_TMP/work its root folder (after only, because nothing can be loaded
 *                  from there)
 *   unshare        enters a new mount namespace
 *   pid-namespace  makes a new one for its children; a child hosts the runtimes (before only) */
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/hosts/hosting.h"

static bool give_up_rights(const char *what)
{
    if (!strcmp(what, "setuid"))
        return !setgroups(0, NULL) && !setgid(65534) && !setuid(65534);
    if (!strcmp(what, "chroot"))
        return !chroot(".") && !chdir("/");
    if (!strcmp(what, "unshare"))
        return !unshare(CLONE_NEWNS);
    return !unshare(CLONE_NEWPID);
}

static int host(const char *what, bool before)
{
    hosting_start();
    hosting_claim(hosting_work(1) == 0, "work with the rights there are");
    if (!before)
        hosting_claim(give_up_rights(what), "%s", what);
    hosting_claim(hosting_work(2) == 0, "work without them");
    return hosting_end();
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[1] : "setuid";
    bool        before = argc > 2 && !strcmp(argv[2], "before");
    int         status = 0;

    if (before)
        hosting_claim(give_up_rights(what), "%s", what);
    if (strcmp(what, "pid-namespace") != 0)
        return host(what, before);
    pid_t child = fork();
    if (!child)
        return host(what, before);
    while (waitpid(child, &status, 0) < 0)
        continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
