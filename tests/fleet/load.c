/* SPDX-License-Identifier: MIT */
/*
 * load.c - loads sessions into ClickHouse as `sxsprof push` does, but without its queue. With
 * machines=N, each session stands for the profile of a service, and its samples are drawn again for N
 * simulated machines and each minute.
 *
 * fleet_load URL KEY=VALUE... SESSION...
 *   service, version, machine, label.KEY: as the options of push
 *   machines=N minutes=N start=SECONDS first=N: simulated machines, minutes of each, time of the first
 *       minute, number of the first machine
 *   slower=F: factor of all weights of the second half of the machines, which have version "2"
 *   heavier=TEXT: slower is only of functions whose name has this text
 *   relay=N: one command pushes for all machines, N batches as one; without it each machine has a
 *       command of its own, which sends each batch when it is there
 *   forget=1: a command does not remember what the server has
 *   twice=1: sends each request two times
 * Prints: batches, requests, bytes sent, seconds.
 */
#include "cmd/fleet/target.h"
#include "cmd/http/http.h"
#include "cmd/output/must.h"
#include "cmd/push/batches.h"
#include "cmd/push/out.h"

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
    const char              *heavier;
    bool                     twice, forget;
    struct sxs_http         *http;
    char                    *base;
    void                    *joining; /* of the command that pushes; owned */
    struct sxs_push_out      waiting[64];
    size_t                   n_waiting, relay;
    uint64_t                 batches, requests, bytes;
    uint64_t                 random;
};

static struct load load = {.slower = 1, .relay = 1, .random = 88172645463325252u};

static void send_request(const struct sxs_push_out *out, const struct sxs_push_kept *k)
{
    static struct sxs_http_answer a;
    char                          why[400], *url = NULL;
    if (asprintf(&url, "%s%s", load.base, k->path) < 0)
        abort();
    struct sxs_http_request q = {.url = url,
                                 .body = out->bytes + k->at,
                                 .size = k->size,
                                 .content_type = k->content_type,
                                 .encoding = k->encoding};
    for (int i = 0; i < (load.twice ? 2 : 1); i++) {
        sxs_http_send(load.http, &q, &a);
        const struct sxs_push_answer answer = {a.status, a.body, a.size};
        if (a.status == 0 ||
            sxs_push_clickhouse.judge(&answer, why, sizeof(why)) != SXS_PUSH_ACCEPTED) {
            fprintf(stderr, "fleet_load: %ld %s\n", a.status, a.status ? why : a.why);
            exit(1);
        }
    }
    load.requests++;
    load.bytes += k->size;
    free(url);
}

/* Sends the batches that wait, as one. */
static int flush(void)
{
    const struct sxs_push_joining *with = sxs_push_clickhouse.joining;
    const struct sxs_push_out     *all[64];
    struct sxs_push_out            joined = {0};
    for (size_t i = 0; i < load.n_waiting; i++)
        all[i] = &load.waiting[i];
    int err = load.n_waiting ? with->join(load.joining, all, load.n_waiting, &joined) : 0;
    for (size_t i = 0; i < joined.n && !err; i++) {
        send_request(&joined, &joined.requests[i]);
        with->accepted(load.joining, i);
    }
    if (load.forget)
        with->failed(load.joining);
    for (size_t i = 0; i < load.n_waiting; i++)
        sxs_push_out_free(&load.waiting[i]);
    load.n_waiting = 0;
    sxs_push_out_free(&joined);
    return err;
}

static int push(const struct sxs_push_settings *s, const struct sxs_push_batch *b)
{
    load.batches++;
    int err = sxs_push_clickhouse.encode(s, b, &load.waiting[load.n_waiting++]);
    return err || load.n_waiting < load.relay ? err : flush();
}

/* Begins a command that pushes. No other one has its name: they all send at once. */
static void begin_command(const struct sxs_push_settings *s)
{
    char name[40];
    snprintf(name, sizeof(name), "fleet_load %ld", (long)getpid());
    if (load.joining)
        sxs_push_clickhouse.joining->close(load.joining);
    load.joining = sxs_push_clickhouse.joining->open(s, name);
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

/* A number with this mean, distributed as Poisson says; as a normal distribution for large means. */
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

/* Returns true when `slower` is of this node. */
static bool is_slower(const struct sxs_model *m, const struct sxs_model_node *n)
{
    return !load.heavier || (n->parent != SXS_NO_NODE &&
                             strstr(sxs_model_text(m, m->frames[n->frame].name), load.heavier));
}

/* Draws the samples of one minute from the weights of a whole session. @second: of release 2. */
static void draw(struct sxs_model *m, const struct sxs_model_node *from, double scale, bool second)
{
    for (size_t i = 0; i < m->n_nodes; i++) {
        double factor = second && is_slower(m, &m->nodes[i]) ? load.slower : 1;
        m->nodes[i].self = from[i].self ? poisson((double)from[i].self * scale * factor) : 0;
        m->nodes[i].self_ns =
            from[i].self
                ? (uint64_t)((double)from[i].self_ns / (double)from[i].self) * m->nodes[i].self
                : 0;
    }
}

/* A simulated fleet: one service on all machines. */
struct fleet {
    struct sxs_push_batch        minute; /* models[0] is `model` */
    struct sxs_model            *model;
    const struct sxs_model_node *from;    /* the weights of the session */
    double                       seconds; /* of the session */
    double                      *load_of; /* owned; by machine */
};

/* Pushes minute @t of machine @i. */
static int push_minute(struct fleet *f, unsigned i, unsigned t)
{
    struct sxs_push_settings s = load.settings;
    char                     machine[32];
    uint64_t                 id[2] = {next_random(), next_random()};
    snprintf(machine, sizeof(machine), "machine-%04u", load.first + i);
    s.machine = machine;
    bool second = i >= load.machines / 2;
    s.version = second ? "2" : "1";
    if (load.relay == 1 && t == 0)
        begin_command(&s);
    memcpy(f->minute.id, id, sizeof(f->minute.id));
    f->minute.from_ns = (load.start_s + t * 60u) * 1000000000u;
    f->minute.to_ns = f->minute.from_ns + 60000000000u;
    draw(f->model, f->from, f->load_of[i] * 60 / f->seconds, second);
    return push(&s, &f->minute);
}

static int simulate(const struct sxs_push_batch *b)
{
    struct fleet f = {.minute = *b, .load_of = sxs_must_zeroed(load.machines, sizeof(*f.load_of))};
    memcpy(&f.model, b->models,
           sizeof(f.model)); /* only the first kind of data; it is changed here */
    struct sxs_model_node *from = sxs_must_zeroed(f.model->n_nodes, sizeof(*from));
    memcpy(from, f.model->nodes, f.model->n_nodes * sizeof(*from));
    f.from = from;
    f.minute.n_models = 1;
    f.seconds = (double)(f.model->last_ns - f.model->first_ns) / 1e9;
    f.seconds = f.seconds > 1 ? f.seconds : 1;
    for (unsigned i = 0; i < load.machines; i++)
        f.load_of[i] = 0.5 + uniform();
    int err = 0;
    for (unsigned n = 0; n < load.machines * load.minutes && !err; n++)
        err = load.relay == 1 ? push_minute(&f, n / load.minutes, n % load.minutes)
                              : push_minute(&f, n % load.machines, n / load.machines);
    if (!err)
        err = flush();
    memcpy(f.model->nodes, from, f.model->n_nodes * sizeof(*from));
    free(f.load_of);
    free(from);
    return err;
}

static int take(void *arg, const struct sxs_push_batch *b, uint64_t next_ns)
{
    (void)arg;
    (void)next_ns;
    return load.machines ? simulate(b) : push(&load.settings, b);
}

static void load_session(const char *dir)
{
    struct sxs_opened    session;
    bool                 damaged = false;
    const char          *slash = strrchr(dir, '/');
    struct sxs_push_cut  cut = {.session = &session,
                                .name = slash ? slash + 1 : dir,
                                .width_ns = load.machines ? 0 : 60000000000u,
                                .quiet = true};
    struct sxs_push_span all = {0};
    if (sxs_opened_open_one(dir, &session) != 0)
        exit(2);
    for (size_t i = 0; i < session.session.n_processes; i++)
        if (sxs_push_cut(&cut, &load.settings, &session.session.processes[i], &all, take, NULL,
                         &damaged) != 0)
            exit(3);
    sxs_opened_close(&session);
    if (flush() != 0)
        exit(3);
}

static void set(const char *key, const char *value)
{
    unsigned n = (unsigned)strtoul(value, NULL, 10);
    bool     on = n != 0;
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
    else if (strcmp(key, "heavier") == 0)
        load.heavier = value;
    else if (strcmp(key, "seed") == 0)
        load.random += n * 7919u;
    else if (strcmp(key, "relay") == 0)
        load.relay = n > 0 && n <= 64 ? n : 1;
    else if (strcmp(key, "forget") == 0)
        load.forget = on;
    else if (strcmp(key, "twice") == 0)
        load.twice = on;
    else
        exit(64);
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
    begin_command(&load.settings);
    for (int i = 2; i < argc; i++) {
        char *equals = strchr(argv[i], '=');
        if (equals) {
            *equals = '\0';
            set(argv[i], equals + 1);
        } else {
            load_session(argv[i]);
        }
    }
    printf("%llu batches, %llu requests, %llu bytes, %.3f s\n", (unsigned long long)load.batches,
           (unsigned long long)load.requests, (unsigned long long)load.bytes, now() - began);
    return 0;
}
