/* SPDX-License-Identifier: MIT */
#include "cmd/opener.h"

#include "cmd/child.h"
#include "cmd/command.h"
#include "cmd/output/print.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs in a child of a child, which no process waits for: becomes the opener. Writes errno to @tell
 * when that fails. */
static _Noreturn void become(const char *opener, const char *page, int tell)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    setsid();
    for (int fd = 0; nothing >= 0 && fd <= 2; fd++)
        dup2(nothing, fd);
    char relative[PATH_MAX]; /* a name that begins with '-' would be an option */
    if (page[0] == '-' &&
        (size_t)snprintf(relative, sizeof(relative), "./%s", page) < sizeof(relative))
        page = relative;
    execl(opener, opener, page, (char *)NULL);
    int err = errno;
    _exit(write(tell, &err, sizeof(err)) == (ssize_t)sizeof(err) ? 1 : 2);
}

bool sxs_open_page(const char *path)
{
    char opener[PATH_MAX];
    int  tell[2], err = 0, status;
    if (sxs_child_find("xdg-open", opener, sizeof(opener)) != 0 || pipe2(tell, O_CLOEXEC) != 0)
        return false;
    pid_t child = fork();
    if (child == 0) {
        if (fork() == 0)
            become(opener, path, tell[1]);
        _exit(0);
    }
    close(tell[1]);
    if (child > 0)
        waitpid(child, &status, 0);
    bool failed = child < 0 || read(tell[0], &err, sizeof(err)) > 0;
    close(tell[0]);
    return !failed;
}

int sxs_open_written_page(const char *path, int status)
{
    if (status == SXS_EXIT_USAGE || access(path, R_OK) != 0)
        return status;
    if (sxs_open_page(path))
        sxs_complain("%s is opened", path);
    else
        sxs_print("%s\n", path);
    return sxs_finish_output() == SXS_EXIT_OK ? status : SXS_EXIT_PROBLEM;
}
