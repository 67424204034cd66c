/* SPDX-License-Identifier: MIT */
/* heap_signal.c - a process that looks as if a signal asked it for heap snapshots.
 * usage: heap_signal LIBRARY CENSUS SIGNAL READY MODE [PROGRAM]
 *   MODE nothing  handles the signal, and does nothing
 *        block    handles it, but blocks it
 *        exec     becomes PROGRAM when the file READY.go exists: a copy of this program with the mode 4755
 *        hold     PROGRAM calls itself so: takes all user IDs of its owner, makes READY.held, and sleeps */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void nothing(int number)
{
    (void)number;
}

static void map(const char *path, int protection)
{
    int fd = open(path, O_RDONLY);
    if (fd < 0 || mmap(NULL, 4096, protection, MAP_PRIVATE, fd, 0) == MAP_FAILED) {
        perror(path);
        exit(1);
    }
    close(fd);
}

static void make(const char *name, const char *end)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s%s", name, end);
    close(open(path, O_CREAT | O_WRONLY, 0644));
}

int main(int argc, char **argv)
{
    char path[4096];
    if (argc < 6)
        return 2;
    int number = atoi(argv[3]);
    if (strcmp(argv[5], "hold") == 0) {
        if (setresuid(geteuid(), geteuid(), geteuid()) != 0)
            return 1;
        make(argv[4], ".held");
        sleep(600);
        return 0;
    }
    map(argv[1], PROT_READ | PROT_EXEC);
    map(argv[2], PROT_READ);
    signal(number, nothing);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    if (strcmp(argv[5], "block") == 0)
        sigprocmask(SIG_BLOCK, &set, NULL);
    make(argv[4], "");
    snprintf(path, sizeof(path), "%s.go", argv[4]);
    while (strcmp(argv[5], "exec") != 0 || access(path, F_OK) != 0)
        usleep(10000);
    execl(argv[6], argv[6], argv[1], argv[2], argv[3], argv[4], "hold", (char *)NULL);
    perror(argv[6]);
    return 1;
}
