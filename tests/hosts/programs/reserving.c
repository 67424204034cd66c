/* SPDX-License-Identifier: MIT */
/* reserving.c - a program whose allocator calls mmap() and sigaction() while it holds its own lock.
 * It hosts no runtime.
 *
 * A replaced mmap() or sigaction() that allocates memory would wait for that lock forever. This
 * program detects such an allocation, prints "allocated inside CALL", and ends with status 3. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define RESERVED ((size_t)256 << 20)

static pthread_mutex_t      lock = PTHREAD_MUTEX_INITIALIZER;
static __thread const char *inside; /* the call that this thread makes with the lock held */
static unsigned char       *heap, *next;
static struct sigaction     old;

static void say(const char *a, const char *b)
{
    if (write(STDOUT_FILENO, a, strlen(a)) < 0 || write(STDOUT_FILENO, b, strlen(b)) < 0 ||
        write(STDOUT_FILENO, "\n", 1) < 0)
        _exit(4);
}

static void *take(size_t size)
{
    static unsigned char early[1 << 20]; /* for allocations before start_heap(), as by the loader */
    static size_t        n_early;
    void                *at;
    size = (size + 31) & ~(size_t)15;
    if (inside) {
        say("allocated inside ", inside);
        _exit(3);
    }
    if (!heap) {
        at = early + n_early;
        n_early += size;
        *(size_t *)at = size - 16;
        return n_early <= sizeof(early) ? (unsigned char *)at + 16 : NULL;
    }
    pthread_mutex_lock(&lock);
    at = next;
    next += size;
    pthread_mutex_unlock(&lock);
    *(size_t *)at = size - 16;
    return (unsigned char *)at + 16;
}

void *malloc(size_t size)
{
    return take(size);
}

void free(void *at)
{
    (void)at;
}

void *calloc(size_t n, size_t size)
{
    return memset(take(n * size), 0, n * size); /* never called with a product that overflows */
}

void *realloc(void *at, size_t size)
{
    void *fresh = take(size);
    if (at)
        memcpy(fresh, at, size < ((size_t *)at)[-2] ? size : ((size_t *)at)[-2]);
    return fresh;
}

static void on_fault(int sig)
{
    _exit(sig);
}

/* Starts the allocator as some real ones do: reserves address space, and registers a handler for
 * faults in pages that it protects. */
static void start_heap(void)
{
    struct sigaction act = {.sa_handler = on_fault};
    void            *at;
    pthread_mutex_lock(&lock);
    inside = "mmap";
    at = mmap(NULL, RESERVED, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED || mprotect(at, RESERVED, PROT_READ | PROT_WRITE) != 0)
        _exit(4);
    inside = "sigaction";
    if (sigaction(SIGBUS, &act, &old) != 0)
        _exit(4);
    inside = NULL;
    next = at;
    heap = at;
    pthread_mutex_unlock(&lock);
}

static void *use(void *arg)
{
    /* free() is this program's own, which the check does not follow. */
    // NOLINTNEXTLINE(clang-analyzer-unix.Malloc)
    for (int i = 0; i < 1000; i++) {
        char *copy = strdup(arg);
        if (!copy)
            return NULL;
        free(copy);
    }
    return arg;
}

int main(void)
{
    pthread_t thread;
    void     *result = NULL;
    int       status;
    start_heap();
    if (pthread_create(&thread, NULL, use, (char[]){"text"}) != 0 ||
        pthread_join(thread, &result) != 0 || !result)
        return 5;
    pid_t pid = fork();
    if (pid == 0) {
        void *at =
            mmap(NULL, RESERVED, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        _exit(at == MAP_FAILED);
    }
    if (waitpid(pid, &status, 0) != pid || status != 0)
        return 6;
    say("works", "");
    return 0;
}
