/* SPDX-License-Identifier: MIT */
/*
 * load.c - loads sessions into ClickHouse without the queue of `sxsprof push`: each request of the
 * target is sent at once. With machines=N, each session stands for the profile of a service, and
 * its
 * samples are drawn anew for N simulated machines and each minute.
 *
 * fleet_load URL KEY=VALUE... SESSION...
 *   service, version, machine, label.KEY: as the options of push
 *   machines=N minutes=N start=SECONDS first=N: simulated machines, minutes of each, time of the
 * first
 *       minute, number of the first machine
 *   slower=F: factor of all weights of the second half of the machines, which have version "2"
 *   twice=1: sends each request two times
 * Prints: batches, rows of samples, bytes sent, seconds.
 */
#include "cmd/fleet/target.h"
#include "cmd/http/http.h"
#include "cmd/output/must.h"
#include "cmd/push/batches.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct load {
    struct sxs_push_settings settings;
    struct sxs_push_label    labels[8];
    unsigned                 machines, minutes, first;
    uint64_t                 start_s;
    double                   slower;
    bool                     twice;
    struct sxs_http         *http;
    char                    *base;
    uint64_t                 batches, bytes;
    uint64_t                 random;
};

static struct load load = {.slower = 1, .random = 88172645463325252u};

int sxs_push_emit(struct sxs_push_out *out, const struct sxs_push_request *r)
{
    static struct sxs_http_answer a;
    char                          why[400], *url = NULL;
    (void)out;
    if (asprintf(&url, "%s%s", load.base, r->path) < 0)
        return -ENOMEM;
    struct sxs_http_request q = {.url = url,
                                 .body = r->body,
                                 .size = r->size,
                                 .content_type = r->content_type,
                                 .encoding = r->encoding};
    for (int i = 0; i <= load.twice; i++) {
        sxs_http_send(load.http, &q, &a);
        const struct sxs_push_answer answer = {a.status, a.body, a.size};
        if (a.status == 0 ||
            sxs_push_clickhouse.judge(&answer, why, sizeof(why)) != SXS_PUSH_ACCEPTED) {
            fprintf(stderr, "fleet_load: %ld %s\n", a.status, a.status ? why : a.why);
            exit(1);
        }
    }
    load.bytes += r->size;
    free(url);
    return 0;
}

enum sxs_push_verdict sxs_push_judge(long status)
{
    return status >= 200 && status < 300 ? SXS_PUSH_ACCEPTED : SXS_PUSH_REFUSED;
}

static uint64_t next_random(void)
{
    load.random ^= load.random << 13;
    load.random ^= load.random >> 7;
    return load.random ^= load.random << 17;
}

static double uniform(void)
{
    return ((double)(next_random() >> 11) + 0.5) / 9007199254740992.0;
}

/* A number with this mean, distributed as Poisson says; as a normal distribution for large means.
 * */
static uint64_t poisson(double mean)
{
    if (mean > 30) {
        double v =
            mean + sqrt(mean) * sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
        return v < 0 ? 0 : (uint64_t)(v + 0.5);
    }
    uint64_t n = 0;
    double   p = uniform(), limit = exp(-mean);
    while (p > limit) {
        p *= uniform();
        n++;
    }
    return n;
}

/* Draws the samples of one minute from the weights of a whole session. */
static void draw(struct sxs_model *m, const struct sxs_model_node *from, double scale)
{
    for (size_t i = 0; i < m->n_nodes; i++) {
        m->nodes[i].self = from[i].self ? poisson((double)from[i].self * scale) : 0;
        m->nodes[i].self_ns =
            from[i].self
                ? (uint64_t)((double)from[i].self_ns / (double)from[i].self) * m->nodes[i].self
                : 0;
    }
}

static int simulate(const struct sxs_push_batch *b)
{
    struct sxs_model        *m;
    struct sxs_push_settings s = load.settings;
    struct sxs_push_batch    minute = *b;
    char                     machine[32];
    memcpy(&m, b->models, sizeof(m)); /* only the first kind of data; it is changed here */
    double                 seconds = (double)(m->last_ns - m->first_ns) / 1e9;
    struct sxs_model_node *from = sxs_must_zeroed(m->n_nodes, sizeof(*from));
    memcpy(from, m->nodes, m->n_nodes * sizeof(*from));
    int err = 0;
    minute.n_models = 1;
    for (unsigned i = load.first; i < load.first + load.machines && !err; i++) {
        bool second = i >= load.first + load.machines / 2;
        snprintf(machine, sizeof(machine), "machine-%04u", i);
        s.machine = machine;
        s.version = second ? "2" : "1";
        double load_of = (0.5 + uniform()) * (second ? load.slower : 1);
        for (unsigned t = 0; t < load.minutes && !err; t++) {
            uint64_t id[2] = {next_random(), next_random()};
            memcpy(minute.id, id, sizeof(minute.id));
            minute.from_ns = (load.start_s + t * 60u) * 1000000000u;
            minute.to_ns = minute.from_ns + 60000000000u;
            draw(m, from, load_of * 60 / (seconds > 1 ? seconds : 1));
            err = sxs_push_clickhouse.encode(&s, &minute, NULL);
            load.batches++;
        }
    }
    memcpy(m->nodes, from, m->n_nodes * sizeof(*from));
    free(from);
    return err;
}

static int take(void *arg, const struct sxs_push_batch *b, uint64_t next_ns)
{
    (void)arg;
    (void)next_ns;
    if (load.machines)
        return simulate(b);
    load.batches++;
    return sxs_push_clickhouse.encode(&load.settings, b, NULL);
}

static void load_session(const char *dir)
{
    struct sxs_session   session;
    bool                 damaged = false;
    const char          *slash = strrchr(dir, '/');
    struct sxs_push_cut  cut = {.dir = dir,
                                .name = slash ? slash + 1 : dir,
                                .width_ns = load.machines ? 0 : 60000000000u,
                                .quiet = true};
    struct sxs_push_span all = {0};
    if (sxs_session_read(dir, &session) != 0)
        exit(2);
    for (size_t i = 0; i < session.n_processes; i++)
        if (sxs_push_cut(&cut, &load.settings, &session.processes[i], &all, take, NULL, &damaged) !=
            0)
            exit(3);
    sxs_session_free(&session);
}

static void set(const char *key, const char *value)
{
    unsigned n = (unsigned)strtoul(value, NULL, 10);
    if (strcmp(key, "service") == 0)
        load.settings.service = value;
    else if (strcmp(key, "version") == 0)
        load.settings.version = value;
    else if (strcmp(key, "machine") == 0)
        load.settings.machine = value;
    else if (strncmp(key, "label.", 6) == 0 && load.settings.n_labels < 8)
        load.labels[load.settings.n_labels++] = (struct sxs_push_label){key + 6, value};
    else if (strcmp(key, "machines") == 0)
        load.machines = n;
    else if (strcmp(key, "minutes") == 0)
        load.minutes = n;
    else if (strcmp(key, "first") == 0)
        load.first = n;
    else if (strcmp(key, "start") == 0)
        load.start_s = strtoull(value, NULL, 10);
    else if (strcmp(key, "slower") == 0)
        load.slower = strtod(value, NULL);
    else if (strcmp(key, "seed") == 0)
        load.random += n * 7919u;
    else
        load.twice = strcmp(key, "twice") == 0;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    struct sxs_http_settings http = {.timeout_s = 100};
    char                     why[400];
    double                   began = now();
    load.settings = (struct sxs_push_settings){
        .to = argv[1], .version = "", .machine = "", .labels = load.labels};
    if (argc < 3 || sxs_http_open(&http, &load.http, why, sizeof(why)) != 0)
        return 64;
    load.base = sxs_push_clickhouse.base(&load.settings);
    for (int i = 2; i < argc; i++) {
        char *equals = strchr(argv[i], '=');
        if (equals) {
            *equals = '\0';
            set(argv[i], equals + 1);
        } else {
            load_session(argv[i]);
        }
    }
    printf("%llu batches, %llu bytes, %.3f s\n", (unsigned long long)load.batches,
           (unsigned long long)load.bytes, now() - began);
    return 0;
}
