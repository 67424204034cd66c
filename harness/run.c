/* SPDX-License-Identifier: MIT */
/* run.c - runs each runtime on its own thread, and prints the results. */
#include "harness/run.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "harness/clr.h"
#include "harness/properties.h"

/* A barrier that also accepts reports of threads that could not be started. */
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t  open;
    size_t          missing; /* under lock */
};

/* How the runtimes of one command are synchronized. */
struct run_plan {
    struct gate     *start; /* all start at the same time after it; NULL: no waiting */
    pthread_mutex_t *turn;  /* held during coreclr_initialize; NULL: no turns */
};

struct worker {
    struct app_run         *run;
    const struct app_runs  *runs;
    const struct run_plan  *plan;
    pthread_t               thread;
    bool                    started;
};

static void gate_pass(struct gate *gate, bool wait)
{
    pthread_mutex_lock(&gate->lock);
    if (--gate->missing == 0)
        pthread_cond_broadcast(&gate->open);
    while (wait && gate->missing)
        pthread_cond_wait(&gate->open, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
}

static double seconds_now(void)
{
    struct timespec at;

    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static int start_in_turn(struct sxs_clr *clr, struct app_run *run, const struct run_plan *plan)
{
    struct sxs_properties properties;
    int err = sxs_properties_fill(&properties, run->place.dir, run->app_dir);

    if (err) {
        snprintf(run->error, sizeof(run->error), "cannot read %s", run->place.dir);
    } else {
        if (plan->turn)
            pthread_mutex_lock(plan->turn);
        atomic_store(&run->since, seconds_now());
        err = sxs_clr_start(clr, &properties, run->error, sizeof(run->error));
        if (plan->turn)
            pthread_mutex_unlock(plan->turn);
    }
    sxs_properties_free(&properties);
    return err;
}

static int execute_plan(struct app_run *run, const struct run_plan *plan)
{
    struct sxs_clr clr = { 0 };
    char          *why = run->error;
    size_t         why_size = sizeof(run->error);

    /* The library is loaded before the gate, so that all threads start at the same point. */
    int err = sxs_clr_load(&clr, run->place.dir, why, why_size);
    if (plan->start)
        gate_pass(plan->start, true);
    atomic_store(&run->since, seconds_now());
    if (err)
        return err;
    err = start_in_turn(&clr, run, plan);
    if (err)
        return err;
    err = sxs_clr_execute(&clr, run->app, (int)run->n_args, run->args, &run->exit_code, why,
                          why_size);
    if (err) {
        char also[128]; /* not reported: the first error is */
        int  ignored = 0;
        sxs_clr_stop(&clr, &ignored, also, sizeof(also));
        return err;
    }
    return sxs_clr_stop(&clr, &run->exit_code, why, why_size);
}

static void *run_thread(void *arg)
{
    const struct worker *worker = arg;
    struct app_run      *run = worker->run;

    sxs_bridge_host_seat(&worker->runs->bridge, (int)run->index);
    run->failed = execute_plan(run, worker->plan) != 0;
    run->seconds = seconds_now() - run->since;
    sxs_bridge_host_end(&worker->runs->bridge);
    atomic_store(&run->ended, true);
    return NULL;
}

static void no_thread(struct app_run *run, int err)
{
    snprintf(run->error, sizeof(run->error), "cannot start a thread: %s", strerror(err));
    run->failed = true;
    atomic_store(&run->ended, true);
}

/* Each runtime has its own thread here, too, because the end of that thread is part of the test. */
static void execute_serially(struct app_runs *runs)
{
    const struct run_plan plan = {0};

    for (size_t i = 0; i < runs->len; i++) {
        struct worker worker = { .run = &runs->all[i], .runs = runs, .plan = &plan };
        int           err = pthread_create(&worker.thread, NULL, run_thread, &worker);
        if (err)
            no_thread(worker.run, err);
        else
            pthread_join(worker.thread, NULL);
    }
}

static void execute_at_once(struct app_runs *runs, struct worker *workers, bool turns)
{
    struct gate       start = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, runs->len };
    pthread_mutex_t   turn = PTHREAD_MUTEX_INITIALIZER;
    const struct run_plan plan = {&start, turns ? &turn : NULL};

    for (size_t i = 0; i < runs->len; i++) {
        workers[i] = (struct worker){ .run = &runs->all[i], .runs = runs, .plan = &plan };
        int err = pthread_create(&workers[i].thread, NULL, run_thread, &workers[i]);
        workers[i].started = err == 0;
        if (err) {
            no_thread(workers[i].run, err);
            gate_pass(&start, false);
        }
    }
    for (size_t i = 0; i < runs->len; i++)
        if (workers[i].started)
            pthread_join(workers[i].thread, NULL);
}

void sxs_runs_execute(struct app_runs *runs, const struct sxs_options *options)
{
    struct worker *workers = options->serial ? NULL : calloc(runs->len, sizeof(*workers));

    if (workers)
        execute_at_once(runs, workers, options->turns);
    else if (options->serial)
        execute_serially(runs);
    else
        for (size_t i = 0; i < runs->len; i++)
            no_thread(&runs->all[i], ENOMEM);
    free(workers);
}

/* Prints a line with one write, so that output of other threads cannot appear inside it. */
static void print_line(const struct app_run *run, const char *result, double seconds)
{
    char line[1024];
    int  len = snprintf(line, sizeof(line), "runsxs: %zu %s %s result=%s time=%.3f\n", run->index,
                        run->place.version, run->name, result, seconds);

    if (len >= (int)sizeof(line)) {
        len = sizeof(line);
        line[len - 1] = '\n';
    }
    if (write(STDOUT_FILENO, line, (size_t)len) < 0)
        return; /* nobody reads the output; the exit status still has the result */
}

size_t sxs_runs_print(const struct app_runs *runs)
{
    size_t bad = 0;

    for (size_t i = 0; i < runs->len; i++) {
        const struct app_run *run = &runs->all[i];
        char                  code[16];
        bool                  ended = atomic_load(&run->ended);
        const char           *result = !ended ? "timeout" : run->failed ? run->error : code;
        if (ended)
            snprintf(code, sizeof(code), "%d", run->exit_code);
        bad += !ended || run->failed || run->exit_code;
        double since = atomic_load(&run->since);
        double seconds = ended ? run->seconds : since > 0 ? seconds_now() - since : 0;
        print_line(run, result, seconds);
    }
    return bad;
}
