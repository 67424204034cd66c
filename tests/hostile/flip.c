/* SPDX-License-Identifier: MIT */
/*
 * flip.c - a program that becomes a set-user-ID program and back, again and again: an attacker who hopes
 * that his runtime and root's user are read of the same process.
 *
 * usage: flip PLAIN SETUID LIBRARY once|guarded|flip
 * PLAIN and SETUID are copies of this program, the second one with root as its owner and mode 4755. As
 * PLAIN it maps LIBRARY. "once" stays as it was started, and maps LIBRARY; "guarded" forbids its own user
 * to look into it, too.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

static void map(const char *path)
{
    int fd = open(path, O_RDONLY);
    if (fd < 0 || mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED)
        _exit(1);
}

int main(int argc, char **argv)
{
    uid_t real = getuid();
    if (argc != 5)
        return 2;
    if (strcmp(argv[4], "once") == 0) {
        map(argv[3]);
        for (;;)
            pause();
    }
    if (strcmp(argv[4], "guarded") == 0) {
        map(argv[3]);
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
        for (;;)
            pause();
    }
    if (geteuid() == real) {
        map(argv[3]);
        usleep(2000);
        execv(argv[2], argv);
        return 1;
    }
    if (setresuid(0, 0, 0) != 0)
        return 1;
    usleep(2000);
    if (setresuid(61001, 61001, 61001) != 0)
        return 1;
    execv(argv[1], argv);
    return 1;
}
