/* SPDX-License-Identifier: MIT */
/*
 * delaying.c - a preloaded library that makes the finalizer thread of a runtime sleep before it
 * suspends the other threads.
 *
 * A runtime suspends its threads while it unloads assemblies: after it has destroyed their modules,
 * and before it removes their code. Without a delay the time between the two is some microseconds,
 * and a profiler that wrongly asks the runtime about that code in between would fail only once in
 * many runs. The suspension calls membarrier() through syscall(), which this library replaces.
 *   DELAYING_MS=200   length of the delay
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long raw_syscall(long number, const long *args)
{
    register long r10 __asm__("r10") = args[3];
    register long r8 __asm__("r8") = args[4];
    register long r9 __asm__("r9") = args[5];
    long          result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(args[0]), "S"(args[1]), "d"(args[2]), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static int is_finalizer(void)
{
    char name[16] = "";
    prctl(PR_GET_NAME, name);
    return strcmp(name, ".NET Finalizer") == 0;
}

static void delay(void)
{
    const char     *text = getenv("DELAYING_MS");
    long            ms = text ? strtol(text, NULL, 10) : 0;
    struct timespec left = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

__attribute__((visibility("default"))) long syscall(long number, ...)
{
    long    args[6], result;
    va_list all;
    va_start(all, number);
    for (int i = 0; i < 6; i++)
        args[i] = va_arg(all, long);
    va_end(all);
    if (number == SYS_membarrier && is_finalizer())
        delay();
    result = raw_syscall(number, args);
    if (result >= 0 || result < -4095)
        return result;
    errno = (int)-result;
    return -1;
}
