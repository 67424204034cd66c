/* SPDX-License-Identifier: MIT */
#include "cmd/push_options.h"

#include "base/text/duration.h"

#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/output/must.h"
#include "cmd/output/print.h"
#include "cmd/push/batches.h"
#include "cmd/push/labels.h"
#include "cmd/report/data_kind.h"
#include "cmd/report/profile.h"
#include "cmd/symbols/symbol_path.h"

#define SECOND_NS UINT64_C(1000000000)

enum {
    KEY_SERVER = 256,
    KEY_FORMAT,
    KEY_LABEL,
    KEY_SERVICE,
    KEY_FOLLOW,
    KEY_QUEUE,
    KEY_QUEUE_SIZE,
    KEY_PERIOD,
    KEY_GATHER,
    KEY_RETRY,
    KEY_CA,
    KEY_CERT,
    KEY_KEY,
    KEY_HEADER,
    KEY_SERVERKEN,
    KEY_TIMEOUT,
    KEY_DATA,
    KEY_SYMBOLS,
    KEY_USER,
    KEY_PASSWORD
};

enum { MAX_TIMEOUT_S = 3600, MAX_DAY_S = 86400, MAX_HEADERS_FILE = 65536 };

/* Parses "256M": bytes, or with one of the letters K, M, G. */
static uint64_t size_argument(struct argp_state *state, const char *option, const char *text)
{
    char    *end;
    uint64_t n = isdigit((unsigned char)*text) ? strtoull(text, &end, 10) : 0;
    unsigned shift = 0;
    if (n && *end) {
        const char *letter = strchr("KMG", toupper((unsigned char)*end));
        shift = letter && !end[1] ? 10u * (unsigned)(letter - "KMG" + 1) : 64;
    }
    if (!n || shift > 30 || n > (UINT64_C(1) << 44) >> shift || n << shift < 1024)
        sxs_option_error(state,
                         "%s: '%s': expected a number of bytes from 1K to 16384G, such as 256M",
                         option, text);
    return n << shift;
}

/* Parses "30s", "5m", "1h" or a number of seconds. Returns whole seconds. */
static uint64_t time_argument(struct argp_state *state, const char *option, const char *text,
                              uint64_t max_s)
{
    uint64_t ns = 0;
    if (sxs_duration_read(text, strlen(text), SECOND_NS, &ns) != 0 || !ns || ns % SECOND_NS ||
        ns / SECOND_NS > max_s)
        sxs_option_error(state, "%s: '%s': expected a time from 1s to %llus, such as 30s or 5m",
                         option, text, (unsigned long long)max_s);
    return ns / SECOND_NS;
}

static void add_label(struct argp_state *state, struct sxs_push_options *o, char *arg)
{
    char *key = sxs_must(strdup(arg)), *mark = strchr(key, '=');
    if (mark)
        *mark = '\0';
    if (!mark || !sxs_push_label_key(key) || !mark[1])
        sxs_option_error(state,
                         "--label: '%s': expected KEY=VALUE, such as deployment.environment=test; "
                         "a key has letters, digits, '_' and '.'",
                         arg);
    if (strcmp(key, "service.name") == 0)
        sxs_option_error(state, "--label: '%s': expected --service for the name of the service",
                         arg);
    for (size_t i = 0; i < o->n_labels; i++)
        if (strcmp(o->labels[i].key, key) == 0)
            sxs_option_error(state, "--label: '%s': this key was given before", arg);
    SXS_GROW(o->labels, o->n_labels, o->cap_labels);
    o->labels[o->n_labels++] = (struct sxs_push_label){key, mark + 1};
}

/* Adds one header. @from: where it was given, for messages that do not repeat it. */
static void add_header(struct argp_state *state, struct sxs_push_options *o, const char *line,
                       size_t size, const char *from)
{
    const char *colon = memchr(line, ':', size);
    bool        plain = colon && colon > line;
    for (size_t i = 0; plain && i < size; i++)
        plain = line + i < colon ? isalnum((unsigned char)line[i]) || strchr("-_", line[i])
                                 : (unsigned char)line[i] >= ' ' || line[i] == '\t';
    if (!plain)
        sxs_option_error(state, "--header: %s: expected 'Name: value'", from);
    SXS_GROW(o->headers, o->n_headers, o->cap_headers);
    o->headers[o->n_headers++] = sxs_must(strndup(line, size));
}

/* Reads headers from a file, one a line. */
static void add_headers(struct argp_state *state, struct sxs_push_options *o, const char *path)
{
    char  *text = sxs_must_zeroed(MAX_HEADERS_FILE, 1);
    FILE  *file = fopen(path, "re");
    size_t size = file ? fread(text, 1, MAX_HEADERS_FILE - 1, file) : 0;
    if (!file)
        sxs_option_error(state, "--header: @%s: %s", path, strerror(errno));
    else
        fclose(file);
    for (const char *line = text; line < text + size;) {
        size_t n = strcspn(line, "\r\n");
        if (n)
            add_header(state, o, line, n, path);
        line += n + 1;
    }
    explicit_bzero(text, size);
    free(text);
}

static void header_option(struct argp_state *state, struct sxs_push_options *o, const char *arg)
{
    if (*arg == '@') {
        add_headers(state, o, arg + 1);
        return;
    }
    if (strncasecmp(arg, "authorization", 13) == 0 || strncasecmp(arg, "cookie", 6) == 0)
        sxs_option_error(state,
                         "--header: what is secret can be seen in the list of processes; expected "
                         "--token-file FILE, or --header @FILE with a header on each line");
    add_header(state, o, arg, strlen(arg), arg);
}

/* Reads the first line of a file. */
static char *read_password(struct argp_state *state, const char *path)
{
    enum { MAX = 1024 };
    char *text = sxs_must_zeroed(MAX, 1);
    FILE *file = fopen(path, "re");
    if (!file)
        sxs_option_error(state, "--password-file: %s: %s", path, strerror(errno));
    else if (!fgets(text, MAX, file) || !text[strcspn(text, "\r\n")])
        sxs_option_error(state, "--password-file: %s: expected a password and the end of its line",
                         path);
    if (file)
        fclose(file);
    text[strcspn(text, "\r\n")] = '\0';
    return text;
}

static void data_option(struct argp_state *state, struct sxs_push_options *o, const char *arg)
{
    enum sxs_data data = sxs_data_named(arg);
    for (size_t i = 0; sxs_push_data[i] != SXS_DATA_ANY; i++)
        if (sxs_push_data[i] == data) {
            o->data |= 1u << data;
            return;
        }
    sxs_option_error(
        state,
        "--data: '%s': expected samples, alloc, native or locks; of ClickHouse also live, "
        "native-live or wait",
        arg);
}

static void check(struct argp_state *state, const struct sxs_push_options *o)
{
    if (!o->to)
        sxs_option_error(state, "--server is missing: expected the address of a server, such as "
                                "http://127.0.0.1:4040");
    if (o->follow && o->dir)
        sxs_option_error(state, "--follow %s and '%s': expected one of them", o->follow, o->dir);
    if (o->follow && !o->queue)
        sxs_option_error(state,
                         "--follow: --queue DIR is missing: it keeps what could not be sent, and "
                         "what was sent already");
    if (!o->follow && !o->dir && !o->queue)
        sxs_option_error(state, "DIR is missing: expected a folder made by sxsprof record -o DIR");
    if (o->http.key && !o->http.cert)
        sxs_option_error(state, "--key: --cert is missing");
    if (o->gather_ns && !o->follow)
        sxs_option_error(state, "--gather: --follow is missing");
    if (o->password && !o->http.user)
        sxs_option_error(state, "--password-file: --user is missing");
    if (o->service && !*o->service)
        sxs_option_error(state, "--service: expected a name");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct sxs_push_options *o = state->input;
    switch (key) {
    case KEY_SERVER: o->to = arg; return 0;
    case KEY_FORMAT: o->format = arg; return 0;
    case KEY_LABEL: add_label(state, o, arg); return 0;
    case KEY_SERVICE: o->service = arg; return 0;
    case KEY_FOLLOW: o->follow = arg; return 0;
    case KEY_QUEUE: o->queue = arg; return 0;
    case KEY_QUEUE_SIZE: o->queue_size = size_argument(state, "--queue-size", arg); return 0;
    case KEY_PERIOD:
        o->period_ns = time_argument(state, "--period", arg, MAX_DAY_S) * SECOND_NS;
        return 0;
    case KEY_GATHER:
        o->gather_ns = time_argument(state, "--gather", arg, MAX_DAY_S) * SECOND_NS;
        return 0;
    case KEY_RETRY:
        o->retry_ns = time_argument(state, "--retry", arg, MAX_DAY_S) * SECOND_NS;
        return 0;
    case KEY_CA: o->http.ca = arg; return 0;
    case KEY_CERT: o->http.cert = arg; return 0;
    case KEY_KEY: o->http.key = arg; return 0;
    case KEY_HEADER: header_option(state, o, arg); return 0;
    case KEY_SERVERKEN: o->http.token_file = arg; return 0;
    case KEY_USER: o->http.user = arg; return 0;
    case KEY_PASSWORD:
        free(o->password);
        o->http.password = o->password = read_password(state, arg);
        return 0;
    case KEY_TIMEOUT:
        o->http.timeout_s = (unsigned)time_argument(state, "--timeout", arg, MAX_TIMEOUT_S);
        return 0;
    case KEY_DATA: data_option(state, o, arg); return 0;
    case KEY_SYMBOLS: sxs_symbols_option(state, arg, &o->symbols); return 0;
    case ARGP_KEY_ARG:
        if (o->dir)
            sxs_option_error(state, "one folder is expected, '%s' is one more", arg);
        o->dir = arg;
        return 0;
    case ARGP_KEY_END: check(state, o); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option option_list[] = {
    {"server", KEY_SERVER, "URL", 0,
     "The server: http://HOST:PORT or https://HOST:PORT, with a path in "
     "front of its own or with the path of an interface; clickhouse://HOST:PORT/DATABASE for "
     "sxsprof "
     "fleet",
     0},
    {"format", KEY_FORMAT, "pyroscope|ingest|otlp|clickhouse", 0,
     "What the server takes: pyroscope (the default: pprof for push.v1.PusherService), ingest "
     "(pprof "
     "for /ingest), otlp (OTLP profiles, v1development), clickhouse; a path of --server that is "
     "one of "
     "these "
     "interfaces says it, too",
     0},
    {"follow", KEY_FOLLOW, "DIR", 0,
     "Push each minute of a session that grows, or of sessions that come into the folder DIR, "
     "until "
     "SIGINT or SIGTERM",
     0},
    {"service", KEY_SERVICE, "NAME", 0, "The name of the service (the program's own name)", 1},
    {"label", KEY_LABEL, "KEY=VALUE", 0,
     "A label of everything that is pushed; can be repeated. It replaces what is known: "
     "service.version, host.name...",
     1},
    {"data", KEY_DATA, "DATA", 0,
     "Only these data: samples, alloc, native, locks; of ClickHouse also live, native-live, wait; "
     "can be repeated (all that there are)",
     1},
    {"period", KEY_PERIOD, "TIME", 0, "Length of a batch on the wall clock (60s)", 1},
    {"gather", KEY_GATHER, "TIME", 0,
     "Of --follow, to ClickHouse: send what has gathered in so much time as one (at once)", 2},
    SXS_SYMBOLS_OPTION(KEY_SYMBOLS, 1),
    {"queue", KEY_QUEUE, "DIR", 0,
     "Keep in the folder DIR what could not be sent, and how far each session was sent", 2},
    {"queue-size", KEY_QUEUE_SIZE, "SIZE", 0,
     "Limit of the queue (256M); the oldest batches are dropped", 2},
    {"retry", KEY_RETRY, "TIME", 0, "Without --follow: give up after this time of failures (60s)",
     2},
    {"timeout", KEY_TIMEOUT, "TIME", 0, "Limit of one request (30s)", 2},
    {"ca", KEY_CA, "FILE", 0, "Trust the certificates in FILE instead of the system's", 3},
    {"cert", KEY_CERT, "FILE", 0, "Certificate of this client (PEM)", 3},
    {"key", KEY_KEY, "FILE", 0, "Its key (PEM; the file of --cert)", 3},
    {"token-file", KEY_SERVERKEN, "FILE", 0, "Send the token in FILE: Authorization: Bearer", 3},
    {"user", KEY_USER, "NAME", 0, "User for the server's authentication (HTTP Basic)", 3},
    {"password-file", KEY_PASSWORD, "FILE", 0, "The user's password: the first line of FILE", 3},
    {"header", KEY_HEADER, "HEADER|@FILE", 0,
     "Send 'Name: value', or each line of FILE; can be repeated", 3},
    {0},
};
const struct argp sxs_argp_push = {
    .options = option_list,
    .parser = parse,
    .args_doc = "[DIR|FILE]",
    .doc =
        "Send recorded sessions to a server of profiles, a batch for each process and minute.\v"
        "DIR is a folder made by sxsprof record -o DIR, FILE a file made by sxsprof pack. Without "
        "both, "
        "what the queue has is sent. Requests are repeated until the server accepts them. The exit "
        "status is 1 when something was not sent or could not be read.",
};

void sxs_push_options_parse(int argc, char **argv, struct sxs_push_options *o)
{
    *o = (struct sxs_push_options){
        .queue_size = 256u << 20,
        .period_ns = 60 * SECOND_NS,
        .retry_ns = 60 * SECOND_NS,
        .http = {.timeout_s = 30},
    };
    sxs_options_parse(&sxs_argp_push, argc, argv, 0, o);
    o->http.headers = (const char *const *)o->headers;
    o->http.n_headers = o->n_headers;
}

void sxs_push_options_free(struct sxs_push_options *o)
{
    for (size_t i = 0; i < o->n_labels; i++) {
        char *key;
        memcpy(&key, &o->labels[i].key, sizeof(key));
        free(key);
    }
    for (size_t i = 0; i < o->n_headers; i++) {
        explicit_bzero(o->headers[i], strlen(o->headers[i]));
        free(o->headers[i]);
    }
    if (o->password)
        explicit_bzero(o->password, strlen(o->password));
    free(o->password);
    free(o->labels);
    free(o->headers);
    sxs_symbol_path_free(o->symbols);
}
