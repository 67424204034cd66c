/* SPDX-License-Identifier: MIT */
/* sxsprof serve: show sessions in a browser while they grow. */
#include "cmd/serve/serve.h"

#include "cmd/child.h"
#include "cmd/command.h"
#include "cmd/confined/reader.h"
#include "cmd/confined_verb.h"
#include "cmd/opener.h"
#include "cmd/output/print.h"
#include "cmd/pack/pack.h"
#include "cmd/process_session.h"
#include "session/read/session_read.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KEY_TOKEN = 256, KEY_TOKEN_FILE, KEY_HOST, KEY_OPEN };

/* Shortest token that a user may choose, and the longest. */
enum { MIN_TOKEN = 16, MAX_TOKEN = 128, MAX_HOSTS = 16 };

struct serve_options {
    const char                *source; /* the argument */
    const char                *token_file;
    const char                *hosts[MAX_HOSTS + 1];
    size_t                     n_hosts;
    char                       token[MAX_TOKEN + 2];
    char                       address[64];
    struct sxs_serve_options   serve;
    struct sxs_process_session process;
};

static void set_listen(struct argp_state *state, struct serve_options *o, const char *text)
{
    if (!sxs_serve_listen_parse(text, o->address, sizeof(o->address), &o->serve.port))
        sxs_option_error(
            state,
            "--listen: '%s': expected PORT, ADDRESS or ADDRESS:PORT, with an address in "
            "digits or localhost, as in 127.0.0.1:8080 or [::1]:8080",
            text);
}

/* A token is part of an address, so it has only characters that need no encoding there. */
static bool is_token(const char *text)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~";
    size_t len = strlen(text);
    return len >= MIN_TOKEN && len <= MAX_TOKEN && strspn(text, plain) == len;
}

static void set_token(struct argp_state *state, struct serve_options *o, const char *text)
{
    if (!is_token(text))
        sxs_option_error(state, "--token: expected %d to %d characters of A-Z, a-z, 0-9, - _ . ~",
                         MIN_TOKEN, MAX_TOKEN);
    snprintf(o->token, sizeof(o->token), "%s", text);
}

static void add_host(struct argp_state *state, struct serve_options *o, const char *text)
{
    if (!*text || strpbrk(text, ":/@ ") || strlen(text) > 255)
        sxs_option_error(state, "--host: '%s': expected the name of a machine, without a port",
                         text);
    if (o->n_hosts == MAX_HOSTS)
        sxs_option_error(state, "--host: at most %d names are expected", MAX_HOSTS);
    o->hosts[o->n_hosts++] = text;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct serve_options *o = state->input;
    switch (key) {
    case 'l': set_listen(state, o, arg); return 0;
    case KEY_TOKEN: set_token(state, o, arg); return 0;
    case KEY_TOKEN_FILE: o->token_file = arg; return 0;
    case KEY_HOST: add_host(state, o, arg); return 0;
    case KEY_OPEN: o->serve.open = true; return 0;
    case ARGP_KEY_ARG:
        if (o->source)
            sxs_option_error(state, "one folder or process is expected, '%s' is one more", arg);
        o->source = arg;
        return 0;
    case ARGP_KEY_END:
        if (*o->token && o->token_file)
            sxs_option_error(state, "--token and --token-file exclude each other");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option option_list[] = {
    {"listen", 'l', "[ADDRESS:]PORT", 0,
     "The address and port to listen on (127.0.0.1 and any free port)", 0},
    {"token", KEY_TOKEN, "TEXT", 0,
     "What the address must contain, instead of a random text. Other users of the machine can see "
     "it among the arguments of this process",
     0},
    {"token-file", KEY_TOKEN_FILE, "FILE", 0, "Take the token from the first line of FILE", 0},
    {"host", KEY_HOST, "NAME", 0,
     "A further name by which browsers may call this server; can be repeated", 0},
    {"open", KEY_OPEN, NULL, 0, "Open the page in a browser", 0},
    {0},
};
const struct argp sxs_argp_serve = {
    .options = option_list,
    .parser = parse_option,
    .args_doc = "[DIR|FILE|PID]",
    .doc = "Show recorded sessions in a browser, also while they are recorded.\v"
           "DIR is a folder made by sxsprof record, or a folder of such folders (the default: the "
           "current folder), FILE a file made by sxsprof pack, PID a process that is profiled. "
           "Prints the address, and serves it until SIGINT or SIGTERM.",
};

/* ---- what is served ---- */

static bool is_session(const char *dir)
{
    struct sxs_session s;
    bool               found = sxs_session_read(dir, &s) == 0 && (s.n_processes || s.n_unread);
    sxs_session_free(&s);
    return found;
}

/* Returns the last part of a path. Owned; NULL: no memory. */
static char *last_name(const char *path)
{
    char  whole[PATH_MAX];
    char *slash = realpath(path, whole) ? strrchr(whole, '/') : NULL;
    return strdup(slash && slash[1] && slash[1] != '.' ? slash + 1 : "session");
}

/* Finds the session of process @pid. Returns an exit status. */
static int take_process(struct serve_options *o, pid_t pid)
{
    int status = sxs_process_session_open(pid, &o->process);
    if (status != SXS_EXIT_OK)
        return status;
    if (!o->process.dir)
        return sxs_wrong_input(
            "process %d: it records no session; sxsprof sample -p %d records one, "
            "and sxsprof sample -- COMMAND does so from the start",
            (int)pid, (int)pid);
    o->serve.dir = o->process.dir;
    return SXS_EXIT_OK;
}

/* What the argument is. */
enum { IS_SESSION = SXS_EXIT_OK, IS_FOLDER = 100 }; /* exit statuses of a child */

struct served_source {
    const char *path, *shown;
    bool        is_file;
};

/* Says what the argument is. A packed session is unpacked once, to know whether it can be read; the child
 * removes what it has unpacked when it ends. @arg: struct served_source. Returns an exit status. */
static int examine(void *arg)
{
    const struct served_source *s = arg;
    const char                 *dir;
    char                        why[512];
    if (!s->is_file)
        return is_session(s->path) ? IS_SESSION : IS_FOLDER;
    if (sxs_pack_open(s->path, &dir, why, sizeof(why)) == 0)
        return IS_SESSION;
    return sxs_wrong_input("%s: %s; expected a file made by sxsprof pack", s->shown, why);
}

/* Calls examine() in a confined child; with SXSPROF_CONFINE=off in a child that is not confined. */
static int examine_in_child(struct served_source *s)
{
    const struct sxs_confined_verb needs = {.reads = {&s->path}, .no_packs = !s->is_file};
    int                            status;
    if (!sxs_confined_is_off())
        return sxs_confined_verb(&needs, examine, s);
    if (sxs_child_work(examine, s, NULL, &status) != 0 || !WIFEXITED(status))
        return SXS_EXIT_FAILED;
    return WEXITSTATUS(status);
}

/* Finds what the argument names. Returns an exit status. */
static int find_source(struct serve_options *o)
{
    struct stat st;
    char       *end;
    o->serve.dir = o->source ? o->source : ".";
    long        pid = strtol(o->serve.dir, &end, 10);
    bool        found = stat(o->serve.dir, &st) == 0;
    const char *path = o->serve.dir;
    if (!found && *o->serve.dir != '-' && *end == '\0' && pid > 0 && pid <= INT_MAX) {
        int status = take_process(o, (pid_t)pid);
        if (status != SXS_EXIT_OK)
            return status;
        path = o->process.open;
        found = stat(path, &st) == 0;
    }
    if (!found)
        return sxs_wrong_input("%s: %s; expected a folder, a file made by sxsprof pack, or the "
                               "number of a process",
                               o->serve.dir, strerror(errno));
    if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
        return sxs_wrong_input("%s: expected a folder, or a file made by sxsprof pack",
                               o->serve.dir);
    o->serve.root_fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (o->serve.root_fd < 0)
        return sxs_wrong_input("%s: %s", o->serve.dir, strerror(errno));
    struct served_source source = {path, o->serve.dir, S_ISREG(st.st_mode)};
    int                  what = examine_in_child(&source);
    if (what == IS_SESSION)
        o->serve.only = last_name(o->serve.dir);
    return what == IS_FOLDER ? SXS_EXIT_OK : what;
}

/* ---- the token ---- */

/* Reads the token from a file. Returns an exit status. */
static int read_token(struct serve_options *o)
{
    struct stat st;
    FILE       *from = fopen(o->token_file, "re");
    if (!from)
        return sxs_wrong_input("--token-file: %s: %s", o->token_file, strerror(errno));
    if (!fgets(o->token, sizeof(o->token), from))
        *o->token = '\0';
    o->token[strcspn(o->token, "\r\n")] = '\0';
    if (fstat(fileno(from), &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 077))
        sxs_complain("--token-file: %s: other users may read it", o->token_file);
    fclose(from);
    if (!is_token(o->token))
        return sxs_wrong_input("--token-file: %s: its first line: expected %d to %d characters of "
                               "A-Z, a-z, 0-9, - _ . ~",
                               o->token_file, MIN_TOKEN, MAX_TOKEN);
    return SXS_EXIT_OK;
}

static int make_token(struct serve_options *o)
{
    unsigned char bytes[24];
    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes)) {
        sxs_complain("serve: no random token: %s", strerror(errno));
        return SXS_EXIT_FAILED;
    }
    for (size_t i = 0; i < sizeof(bytes); i++)
        snprintf(o->token + 2 * i, 3, "%02x", bytes[i]);
    return SXS_EXIT_OK;
}

/* ---- the verb ---- */

/* Says what listening on more than this machine's own addresses means. */
static void warn_of_address(const struct serve_options *o)
{
    if (strncmp(o->address, "127.", 4) != 0 && strcmp(o->address, "::1") != 0)
        sxs_complain("--listen %s: other machines can reach this server, and everything is sent "
                     "unencrypted, the token, too; ssh -L reaches 127.0.0.1 safely",
                     o->address);
}

int sxs_cmd_serve(int argc, char **argv)
{
    static const struct sxs_serve_verbs verbs = {sxs_cmd_report, sxs_cmd_heap, sxs_open_page};
    static struct serve_options         o = {
                .address = "127.0.0.1", .serve = {.root_fd = -1}, .process = {.fd = -1}};
    sxs_options_parse(&sxs_argp_serve, argc, argv, 0, &o);
    int status = o.token_file ? read_token(&o) : *o.token ? SXS_EXIT_OK : make_token(&o);
    if (status == SXS_EXIT_OK)
        status = find_source(&o);
    if (status == SXS_EXIT_OK) {
        o.serve.token = o.token;
        o.serve.verbs = &verbs;
        o.serve.names.address = o.address;
        o.serve.names.any = strcmp(o.address, "0.0.0.0") == 0 || strcmp(o.address, "::") == 0;
        o.serve.names.more = o.hosts;
        warn_of_address(&o);
        enum sxs_serve_result result = sxs_serve(&o.serve);
        status = result == SXS_SERVE_ENDED        ? SXS_EXIT_OK
                 : result == SXS_SERVE_NO_ADDRESS ? SXS_EXIT_USAGE
                                                  : SXS_EXIT_FAILED;
    }
    if (o.serve.root_fd >= 0)
        close(o.serve.root_fd);
    free((void *)(uintptr_t)o.serve.only);
    sxs_process_session_free(&o.process);
    return status;
}
