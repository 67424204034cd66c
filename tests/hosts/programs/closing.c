/* SPDX-License-Identifier: MIT */
/* closing - a host that closes descriptors that it did not open, then opens its own files, which
 * receive the same numbers. These files must not change.
 *
 * closing first|between|during: "first" closes all descriptors from 3 on before the runtimes start,
 * as daemons do. "between" (two rounds of work) and "during" (while a thread works) close each
 * descriptor that no runtime needs. A runtime does not survive the loss of its own descriptors
 * (pipes, sockets, assemblies, its memory file, /dev/urandom). */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/hosts/hosting.h"

enum { FILES = 80, LAST = 1024 };

struct own_file {
    int         fd;
    struct stat status;
    char        text[64];
};

static struct own_file files[FILES];
static atomic_bool     stop;

static void open_files(void)
{
    for (int i = 0; i < FILES; i++) {
        char path[512];
        snprintf(path, sizeof(path), "%s/own.%d", hosting_env("HOSTS_TMP"), i);
        files[i].fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        int len =
            snprintf(files[i].text, sizeof(files[i].text), "this is file %d of the host\n", i);
        if (write(files[i].fd, files[i].text, (size_t)len) != len)
            hosting_claim(false, "file %d can be written", i);
        fstat(files[i].fd, &files[i].status);
    }
}

/* Returns the number of files that still have their descriptor numbers and their text. */
static int count_untouched(void)
{
    int n = 0;

    for (int i = 0; i < FILES; i++) {
        struct stat now;
        char        text[64] = "";
        if (fstat(files[i].fd, &now) || now.st_dev != files[i].status.st_dev ||
            now.st_ino != files[i].status.st_ino || now.st_size != files[i].status.st_size)
            continue;
        ssize_t len = pread(files[i].fd, text, sizeof(text), 0);
        n += len == now.st_size && !memcmp(text, files[i].text, (size_t)len);
    }
    return n;
}

static void *work_on(void *argument)
{
    const struct hosting_guest *guest = argument;

    while (!atomic_load(&stop)) {
        guest->compute(20000);
        guest->faults(1);
    }
    return NULL;
}

static void *one_round(void *argument)
{
    (void)argument;
    return (void *)(intptr_t)hosting_work(1);
}

/* Returns true if a runtime of this process may have opened the file @target. */
static bool is_of_runtime(const char *target)
{
    static const char *const words[] = {"pipe:",        "socket:", ".dll",   ".so",
                                        "doublemapper", "/dev/",   "stdout", "stderr"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strstr(target, words[i]))
            return true;
    return false;
}

static void close_others(void)
{
    for (int fd = 3; fd < LAST; fd++) {
        char    path[64], target[512];
        ssize_t len;
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        len = readlink(path, target, sizeof(target) - 1);
        if (len < 0)
            continue;
        target[len] = '\0';
        if (!is_of_runtime(target))
            close(fd);
    }
}

int main(int argc, char **argv)
{
    const char *when = argc > 1 ? argv[1] : "between";
    bool        during = !strcmp(when, "during");
    pthread_t   busy, thread;
    void       *wrong = NULL;

    if (!strcmp(when, "first")) {
        closefrom(3);
        open_files();
    }
    hosting_start();
    hosting_claim(hosting_work(1) == 0, "work before");
    if (during)
        pthread_create(&busy, NULL, work_on, (void *)(uintptr_t)hosting_guest(0));
    if (strcmp(when, "first") != 0) {
        close_others();
        open_files();
    }
    hosting_claim(hosting_work(1) == 0, "work after");
    pthread_create(&thread, NULL, one_round, NULL);
    pthread_join(thread, &wrong);
    hosting_claim(!wrong, "work on another thread");
    atomic_store(&stop, true);
    if (during)
        pthread_join(busy, NULL);
    int n = count_untouched();
    hosting_claim(n == FILES, "%d of %d files of the host are as they were", n, FILES);
    int status = hosting_end();
    n = count_untouched();
    hosting_claim(n == FILES, "%d of %d files after the runtimes' end", n, FILES);
    return status || n != FILES;
}
