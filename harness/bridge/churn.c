/* SPDX-License-Identifier: MIT */
/* churn.c - stress: short native threads, a plugin loaded and unloaded; starts and ends all
 * stress. */
#include "harness/bridge/churn.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "harness/bridge/bridge.h"

enum { LIVE_MAX = 200, MAX_LOOPS = 3 };

pthread_mutex_t     churn_loading = PTHREAD_MUTEX_INITIALIZER;
static struct churn churn;
static pthread_t    loops[MAX_LOOPS];
static int          n_loops;
static atomic_int   live;

void churn_failed(struct churn *c, const char *why)
{
    atomic_store(&c->why, why);
    atomic_fetch_add(&c->n_failed, 1);
}

static long now_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}

/* ---- short threads
 * ----------------------------------------------------------------------------- */

/* Exported so that stacks show its name. */
SXSBRIDGE_API void sxsbridge_churn_burn(long ns);
SXSBRIDGE_API void sxsbridge_churn_burn(long ns)
{
    volatile unsigned long sink = 1;
    long                   until = now_ns(CLOCK_THREAD_CPUTIME_ID) + ns;
    do
        for (int i = 0; i < 5000; i++)
            sink = sink * 6364136223846793005UL + 1;
    while (now_ns(CLOCK_THREAD_CPUTIME_ID) < until);
}

static void *short_thread(void *arg)
{
    sxsbridge_churn_burn((long)arg);
    atomic_fetch_sub(&live, 1);
    return NULL;
}

void *churn_threads(void *arg)
{
    struct churn  *c = arg;
    pthread_attr_t attr;
    long           began = now_ns(CLOCK_MONOTONIC), due = 0, due_in;
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    while (!atomic_load(&c->stop)) {
        unsigned long n = atomic_load(&c->n_threads);
        pthread_t     thread;
        pthread_attr_setstacksize(&attr, 65536u << n % 7); /* many different memory mappings */
        if (atomic_load(&live) < LIVE_MAX) {
            atomic_fetch_add(&live, 1);
            if (pthread_create(&thread, &attr, short_thread, (void *)(200000 + (long)(n % 9) * 100000))) {
                atomic_fetch_sub(&live, 1);
                churn_failed(c, "pthread_create");
            }
            atomic_fetch_add(&c->n_threads, 1);
        }
        due += 1000000000L / c->threads;
        due_in = began + due - now_ns(CLOCK_MONOTONIC);
        if (due_in > 0)
            nanosleep(&(struct timespec){0, due_in}, NULL);
        else if (due_in < -100000000) /* the machine is too busy: do not try to catch up */
            due -= due_in;
    }
    pthread_attr_destroy(&attr);
    while (atomic_load(&live) > 0)
        usleep(1000);
    return NULL;
}

/* ---- a plugin
 * ---------------------------------------------------------------------------------- */

void *churn_loads(void *arg)
{
    struct churn *c = arg;
    while (!atomic_load(&c->stop)) {
        unsigned long n = atomic_fetch_add(&c->n_loads, 1);
        void (*burn)(long) = NULL;
        void *plugin;
        pthread_mutex_lock(&churn_loading);
        plugin = dlopen(c->plugin, RTLD_NOW | RTLD_LOCAL);
        pthread_mutex_unlock(&churn_loading);
        if (plugin)
            *(void **)&burn = dlsym(plugin, "sxsplugin_burn");
        if (burn) /* each 16th time for 300 ms, for profilers that poll loaded libraries */
            burn(n % 16 == 15 ? 300000000 : 3000000);
        else
            churn_failed(c, "dlopen");
        pthread_mutex_lock(&churn_loading);
        if (plugin && dlclose(plugin))
            churn_failed(c, "dlclose");
        pthread_mutex_unlock(&churn_loading);
        nanosleep(&(struct timespec){0, 999999999L / c->loads}, NULL);
    }
    return NULL;
}

/* ---- start and end
 * ----------------------------------------------------------------------------- */

static int parse_rates(struct churn *c, const char *text)
{
    char word[32], *end;
    while (*text) {
        size_t len = strcspn(text, " ,");
        snprintf(word, sizeof(word), "%.*s", (int)len, text);
        char         *value = strchr(word, '=');
        unsigned long n = value ? strtoul(value + 1, &end, 10) : 0;
        if (!value || !value[1] || *end || n > 100000)
            return -1;
        *value = '\0';
        unsigned *to = !strcmp(word, "threads")   ? &c->threads
                       : !strcmp(word, "loads")   ? &c->loads
                       : !strcmp(word, "forks")   ? &c->forks
                       : !strcmp(word, "execs")   ? &c->execs
                       : !strcmp(word, "spawns")  ? &c->spawns
                       : !strcmp(word, "waiters") ? &c->waiters
                       : !strcmp(word, "loader")  ? &c->loader
                       : !strcmp(word, "exits")   ? &c->exits
                                                  : NULL;
        if (!to)
            return -1;
        *to = (unsigned)n;
        text += len + (text[len] != '\0');
    }
    return 0;
}

static void start_thread(void *(*body)(void *))
{
    if (n_loops < MAX_LOOPS && pthread_create(&loops[n_loops], NULL, body, &churn) == 0)
        n_loops++;
    else
        churn_failed(&churn, "pthread_create");
}

int sxsbridge_churn_start(const char *what)
{
    Dl_info self;
    if (parse_rates(&churn, what) != 0)
        return -1;
    if (dladdr((void *)(uintptr_t)sxsbridge_churn_start, &self) && self.dli_fname) {
        const char *slash = strrchr(self.dli_fname, '/');
        snprintf(churn.plugin, sizeof(churn.plugin), "%.*s/libsxsplugin.so",
                 slash ? (int)(slash - self.dli_fname) : 1, slash ? self.dli_fname : ".");
    }
    if (churn.threads)
        start_thread(churn_threads);
    if (churn.loads)
        start_thread(churn_loads);
    if (churn.forks || churn.execs || churn.spawns)
        start_thread(churn_children);
    churn_wait_start(&churn);
    return 0;
}

int sxsbridge_churn_end(char *line, size_t size)
{
    struct rusage used;
    long          ms;
    atomic_store(&churn.stop, true);
    churn_wake(&churn);
    for (int i = 0; i < n_loops; i++)
        pthread_join(loops[i], NULL);
    getrusage(RUSAGE_SELF, &used);
    ms = (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000 +
         (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1000;
    snprintf(line, size,
             "churn: threads=%lu loads=%lu forks=%lu execs=%lu spawns=%lu failed=%lu%s%s waits=%lu "
             "eintr=sleep:%lu,poll:%lu,read:%lu,futex:%lu cpu=%ld.%03ld rss=%ld",
             churn.n_threads, churn.n_loads, churn.n_forks, churn.n_execs, churn.n_spawns,
             churn.n_failed, churn.n_failed ? ":" : "", churn.n_failed ? churn.why : "",
             churn.n_waits, churn.n_interrupted[CHURN_SLEEP], churn.n_interrupted[CHURN_POLL],
             churn.n_interrupted[CHURN_READ], churn.n_interrupted[CHURN_FUTEX],
             ms / 1000, ms % 1000, used.ru_maxrss);
    return churn.n_failed ? -1 : 0;
}
