/* SPDX-License-Identifier: MIT */
/* sxsprof push: send sessions to a server of profiles. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/carried.h"
#include "cmd/command.h"
#include "cmd/confined_verb.h"
#include "cmd/http/url.h"
#include "cmd/output/must.h"
#include "cmd/output/print.h"
#include "cmd/output/shown.h"
#include "cmd/pack/pack.h"
#include "cmd/push/job.h"
#include "cmd/push_options.h"
#include "cmd/push_targets.h"
#include "cmd/report/profile.h"

/* Chooses the target and checks the address. Returns an exit status. */
static int choose_target(const struct sxs_push_options *o, struct sxs_push_job *job)
{
    char                          why[300];
    const struct sxs_push_target *t =
        o->format ? sxs_push_target_named(o->format) : sxs_push_target_of(o->to);
    if (o->format && !t)
        return sxs_wrong_input("--format: '%s': expected %s", o->format, sxs_push_target_names());
    bool wrong = sxs_url_check(o->to, t ? t->schemes : "http,https", why, sizeof(why)) != NULL;
    if (wrong || !t)
        return sxs_wrong_input("--server %s: %s", strchr(o->to, '@') ? "URL" : o->to, why);
    if (t->check && t->check(&job->settings, why, sizeof(why)) != 0)
        return sxs_wrong_input("--server %s: %s", o->to, why);
    if (o->data & ~(SXS_PUSH_COMMON_DATA | t->more_data))
        return sxs_wrong_input("--data: %s takes samples, alloc, native and locks only", t->name);
    if (o->gather_ns && !t->joining)
        return sxs_wrong_input("--gather: %s sends each batch alone; expected clickhouse", t->name);
    job->sender.target = t;
    job->cut.more = t->more_data;
    return SXS_EXIT_OK;
}

/* Returns the address without slashes at its end and without the path of the interface; owned. */
static char *base_of(const struct sxs_push_target *t, const struct sxs_push_settings *s)
{
    if (t->base)
        return sxs_must(t->base(s));
    char  *base = sxs_must(strdup(s->to));
    size_t n = strlen(base);
    while (n && base[n - 1] == '/')
        base[--n] = '\0';
    if (t->endpoint && sxs_url_has_path(base, t->endpoint))
        base[n - strlen(t->endpoint)] = '\0';
    return base;
}

static void set_settings(const struct sxs_push_options *o, struct sxs_push_settings *s)
{
    static char machine[256];
    if (gethostname(machine, sizeof(machine) - 1) != 0)
        machine[0] = '\0';
    *s = (struct sxs_push_settings){.to = o->to,
                                    .service = o->service,
                                    .version = "",
                                    .machine = machine,
                                    .labels = o->labels,
                                    .n_labels = o->n_labels};
    for (size_t i = 0; i < o->n_labels; i++)
        if (strcmp(o->labels[i].key, "service.version") == 0)
            s->version = o->labels[i].value;
        else if (strcmp(o->labels[i].key, "host.name") == 0)
            s->machine = o->labels[i].value;
}

/* Says what happened, and what did not. Returns an exit status. */
static int finish(const struct sxs_push_options *o, const struct sxs_push_job *job,
                  const struct sxs_push_counts *before, int status)
{
    struct sxs_push_counts now = sxs_push_queue_counts(job->sender.queue);
    size_t                 left = sxs_push_queue_length(job->sender.queue);
    sxs_print("%s: batches sent: %" PRIu64 "\n", o->to, now.sent - before->sent);
    if (now.refused > before->refused)
        sxs_complain("push: the server refused batches: %" PRIu64, now.refused - before->refused);
    if (now.dropped > before->dropped)
        sxs_complain("push: batches dropped, because the queue is full or damaged: %" PRIu64,
                     now.dropped - before->dropped);
    if (job->lost)
        sxs_complain("push: segments that were deleted before all of them was pushed: %" PRIu64,
                     job->lost);
    if (left && job->kept)
        sxs_complain("push: batches that wait in the queue %s: %zu", o->queue, left);
    else if (left)
        sxs_complain("push: the rest was not sent; with --queue it would be kept");
    if (job->lost || now.refused > before->refused || now.dropped > before->dropped ||
        (left && !o->follow) || job->damaged)
        status = SXS_EXIT_PROBLEM;
    int written = sxs_finish_output();
    return status == SXS_EXIT_OK ? written : status;
}

/* Says what the server gets. */
static void tell_carried(const struct sxs_opened *v)
{
    char carried[512];
    if (*sxs_carried(v, SXS_CARRIED_BY_PUSH, carried, sizeof(carried))) {
        sxs_print("%s\n", carried);
        fflush(stdout);
    }
}

/* Pushes a session. @shown: its name as the user gave it. */
static int push_session(struct sxs_push_job *job, const char *dir, const char *shown)
{
    static const struct sxs_period always = {.from_ns = 1}; /* the kept segments, too */
    struct sxs_opened              v;
    const struct sxs_session      *s = &v.session;
    char                           path[PATH_MAX];
    int                            err = sxs_opened_open(dir, &always, &v), status;
    if (v.segments.n) {
        tell_carried(&v);
        status = sxs_push_segments(job, dir, &v.segments);
    } else if (err || s->n_processes + s->n_unread == 0) {
        status = sxs_wrong_input("%s: %s; expected a folder made by sxsprof record -o DIR", shown,
                                 err ? strerror(err) : "it has no session");
    } else if (!sxs_profile_has_stacks(&v)) {
        status = sxs_wrong_input("%s: it has no samples, allocations, native memory or waits; "
                                 "record them with sxsprof sample, alloc, native or locks",
                                 shown);
    } else {
        const char *name = realpath(shown, path) ? strrchr(path, '/') + 1 : "";
        for (size_t i = 0; i < s->n_problems; i++)
            sxs_complain("%s/%s", shown, s->problems[i]);
        job->damaged |= s->n_problems > 0;
        tell_carried(&v);
        status = sxs_push_once(job, *name ? name : "session", &v);
    }
    sxs_opened_close(&v);
    return status;
}

/* Checks the folder to follow. Returns an exit status. */
static int check_folder(const char *dir)
{
    struct stat st;
    if (stat(dir, &st) != 0)
        return sxs_wrong_input("--follow %s: %s; expected a folder", dir, strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return sxs_wrong_input(
            "--follow %s: not a folder; expected a session, or a folder to which "
            "sessions come",
            dir);
    return SXS_EXIT_OK;
}

/* Begins to join batches, if the target can. A queue is used by one command at a time, and a session
 * without one should be, too. */
static void open_joining(const struct sxs_push_options *o, struct sxs_push_job *job)
{
    const struct sxs_push_joining *joining = job->sender.target->joining;
    char                           path[PATH_MAX];
    const char *of = o->queue ? o->queue : o->dir ? o->dir : o->follow ? o->follow : "";
    if (joining)
        job->sender.joining = joining->open(&job->settings, realpath(of, path) ? path : of);
}

static int run(struct sxs_push_options *o, struct sxs_push_job *job)
{
    char        why[512];
    const char *dir = o->dir;
    int         status = o->follow ? check_folder(o->follow) : SXS_EXIT_OK;
    if (status != SXS_EXIT_OK)
        return status;
    if (dir && sxs_pack_open(dir, &dir, why, sizeof(why)) != 0)
        return sxs_wrong_input("%s: %s; expected a file made by sxsprof pack", o->dir, why);
    o->http.stop = sxs_push_must_stop;
    o->http.stop_arg = job;
    if (sxs_http_open(&o->http, &job->sender.http, why, sizeof(why)) != 0 ||
        sxs_push_queue_open(o->queue, o->queue_size, job->sender.target->name, &job->sender.queue,
                            why, sizeof(why)) != 0)
        return sxs_wrong_input("%s", why);
    open_joining(o, job);
    struct sxs_push_counts before = sxs_push_queue_counts(job->sender.queue);
    sxs_push_watch_signals();
    if (o->follow) {
        status = sxs_push_follow(job, o->follow);
    } else {
        job->gave_up = !sxs_push_drain(job); /* what an earlier command has left */
        if (dir)
            status = push_session(job, dir, o->dir);
    }
    return status == SXS_EXIT_USAGE ? status : finish(o, job, &before, status);
}

/* What the child that reads sessions and sends them gets. */
struct push_work {
    struct sxs_push_options *options;
    struct sxs_push_job     *job;
};

static int run_confined(void *arg)
{
    const struct push_work *w = arg;
    struct sxs_push_job    *job = w->job;
    int                     status = run(w->options, job);
    if (job->sender.joining)
        job->sender.target->joining->close(job->sender.joining);
    sxs_http_close(job->sender.http);
    sxs_push_queue_close(job->sender.queue);
    return status;
}

/* Reads and sends in a child with limits. Returns an exit status. */
static int push(struct sxs_push_options *o, struct sxs_push_job *job)
{
    const struct sxs_confined_verb needs = {.reads = {&o->dir, &o->follow},
                                            .writes = {o->queue},
                                            .network = true,
                                            .names = true,
                                            .symbols = o->symbols,
                                            .endless = o->follow != NULL};
    struct push_work               w = {o, job};
    return sxs_confined_verb(&needs, run_confined, &w);
}

int sxs_cmd_push(int argc, char **argv)
{
    struct sxs_push_options o;
    struct sxs_push_job     job = {.gave_up = false};
    sxs_push_options_parse(argc, argv, &o);
    set_settings(&o, &job.settings);
    job.kept = o.queue != NULL;
    job.retry_ns = o.retry_ns;
    job.gather_ns = o.gather_ns;
    job.cut = (struct sxs_push_cut){.symbols = o.symbols, .width_ns = o.period_ns, .data = o.data};
    int status = choose_target(&o, &job);
    if (status == SXS_EXIT_OK && (o.n_headers || o.http.token_file || o.http.password) &&
        sxs_url_has_scheme(o.to, "http") && !sxs_url_is_local(o.to))
        sxs_complain(
            "push: %s is not encrypted: headers, tokens and passwords can be read on the way",
            o.to);
    if (status == SXS_EXIT_OK && job.sender.target) {
        job.sender.base = base_of(job.sender.target, &job.settings);
        status = push(&o, &job);
    }
    free(job.sender.base);
    sxs_push_options_free(&o);
    return status;
}
