/* SPDX-License-Identifier: MIT */
/* hijack_worker.c - preloaded into a verb that looks names up: what code of a stranger could do in the worker for
 * symbols, if a mistake in a reader of ELF files let it run. It runs when libdw gets a file, says so in the file
 * HIJACK_LOG, which has 4096 bytes and is mapped before the worker gives up its descriptors, and does HIJACK_DO:
 *   try    tries everything once, and logs "NAME=yes" or "NAME=no"
 *   spin   never ends
 *   sleep  the same, and needs no processor
 * Where HIJACK_HOLD is set, the verb itself waits for this file before it writes what it has found. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { ROOM = 4096 };

static char *say, none[ROOM];

__attribute__((constructor)) static void open_log(void)
{
    const char *path = getenv("HIJACK_LOG");
    int         fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *at = fd < 0 ? MAP_FAILED : mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    say = at == MAP_FAILED ? none : at;
    close(fd);
}

__attribute__((format(printf, 1, 2))) static void tell(const char *fmt, ...)
{
    size_t  len = strnlen(say, ROOM - 1);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(say + len, ROOM - len, fmt, ap);
    va_end(ap);
}

static void tried(const char *name, int done)
{
    tell("%s=%s\n", name, done ? "yes" : "no");
}

static void pause_ms(long ms)
{
    const struct timespec time = {0, ms * 1000000};
    nanosleep(&time, NULL);
}

static int makes_process(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    return child > 0;
}

static int makes_thread(void)
{
    static char stack[16384];
    long        flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD;
    /* A thread that is made crashes: it has no function to return to. The log then ends here. */
    return syscall(SYS_clone, flags, stack + sizeof(stack) - 64, NULL, NULL, NULL) > 0;
}

static void try_all(void)
{
    const struct rlimit without = {RLIM_INFINITY, RLIM_INFINITY};
    const char         *other = getenv("HIJACK_PID");
    tried("kill", other && kill(atoi(other), 0) == 0);
    tried("process", makes_process());
    tried("thread", makes_thread());
    tried("limit of time", setrlimit(RLIMIT_CPU, &without) == 0);
    tried("limit of size", setrlimit(RLIMIT_FSIZE, &without) == 0);
    tried("limit of processes", setrlimit(RLIMIT_NPROC, &without) == 0);
    tried("life without parent", prctl(PR_SET_PDEATHSIG, 0) == 0);
    tried("dumpable", prctl(PR_SET_DUMPABLE, 1) == 0);
    tried("socket", socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
    tried("write", open("/dev/null", O_WRONLY) >= 0);
    tried("program", execl("/bin/true", "true", (char *)NULL) == 0);
}

/* libdw's; the result says that it is no ELF file. */
void *dwfl_report_elf(void *dwfl, const char *name, const char *path, int fd, unsigned long base,
                      _Bool add)
{
    const char *what = getenv("HIJACK_DO");
    (void)dwfl, (void)name, (void)path, (void)fd, (void)base, (void)add;
    tell("worker=%d\n", (int)getpid());
    if (what && strcmp(what, "try") == 0)
        try_all();
    while (what && strcmp(what, "spin") == 0)
        ;
    while (what && strcmp(what, "sleep") == 0)
        pause_ms(100);
    return NULL;
}

int fflush(FILE *stream)
{
    static int (*real)(FILE *);
    const char *hold = getenv("HIJACK_HOLD");
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "fflush");
    if (hold && stream == stdout && say[0]) {
        tell("holds\n");
        while (access(hold, F_OK) != 0)
            pause_ms(20);
    }
    return real(stream);
}
