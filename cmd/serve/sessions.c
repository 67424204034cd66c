/* SPDX-License-Identifier: MIT */
#include "cmd/serve/sessions.h"

#include "cmd/output/json_document.h"
#include "cmd/output/json_values.h"
#include "cmd/pack/pack.h"
#include "cmd/processes/written.h"
#include "cmd/report/data_kind.h"
#include "cmd/report/profile.h"
#include "session/format/events.h"
#include "session/format/guests.h"
#include "session/format/heap.h"
#include "session/format/instrument.h"
#include "session/format/samples.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The longest list, and how many entries of a folder are examined. */
enum { MAX_SESSIONS = 1000, MAX_EXAMINED = 20000 };

/* ---- is it running ---- */

bool sxs_serve_is_running(const char *dir, const struct sxs_session *s)
{
    for (size_t i = 0; i < s->n_processes; i++)
        if (sxs_session_written(dir, &s->processes[i]) == SXS_WRITTEN_YES)
            return true;
    return false;
}

/* ---- sizes and tools ---- */

/* Bytes on disk, and the time of the latest change (ms since 1970), of the files of a session. */
struct volume {
    uint64_t bytes, changed_ms;
    size_t   heaps;
    bool     guests, instrumented;
};

static void take_file(const char *name, const struct stat *st, struct volume *v)
{
    uint64_t ms = (uint64_t)st->st_mtim.tv_sec * 1000 + (uint64_t)st->st_mtim.tv_nsec / 1000000;
    v->bytes += (uint64_t)st->st_blocks * 512;
    v->changed_ms = ms > v->changed_ms ? ms : v->changed_ms;
    v->heaps += strncmp(name, SXS_HEAP_FILE, 5) == 0 && name[5] >= '0' && name[5] <= '9';
    v->guests |= strcmp(name, SXS_GUESTS_FILE) == 0;
    v->instrumented |= strcmp(name, SXS_INSTRUMENT_FILE) == 0;
}

static void measure(const char *dir, const struct sxs_session *s, struct volume *v)
{
    char        path[PATH_MAX];
    struct stat st;
    for (size_t i = 0; i < s->n_processes + s->n_unread; i++) {
        const struct sxs_session_process *p =
            i < s->n_processes ? &s->processes[i] : &s->unread[i - s->n_processes];
        snprintf(path, sizeof(path), "%s/%s", dir, p->folder);
        DIR *d = opendir(path);
        for (struct dirent *e; d && (e = readdir(d));)
            if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
                take_file(e->d_name, &st, v);
        if (d)
            closedir(d);
    }
}

/* Which data the session has, in the words of the page. */
static json_t *data_json(const struct sxs_opened *session, const struct volume *v)
{
    json_t *all = json_array();
    int     err = 0;
    for (unsigned d = SXS_DATA_SAMPLES; d < SXS_N_DATA; d++)
        if (d != SXS_DATA_LOCK_OWNERS && sxs_profile_has(session, (enum sxs_data)d))
            err |= json_array_append_new(all, json_string(sxs_data_kind((enum sxs_data)d)->name));
    if (sxs_profile_has_events(session))
        err |= json_array_append_new(all, json_string("events"));
    if (v->instrumented)
        err |= json_array_append_new(all, json_string("instrument"));
    if (v->guests)
        err |= json_array_append_new(all, json_string("guests"));
    if (v->heaps)
        err |= json_array_append_new(all, json_string("heap"));
    return sxs_json_whole(all, err);
}

/* ---- one session ---- */

static json_t *process_json(const struct sxs_session_process *p)
{
    json_t *o = json_object(), *versions = json_array();
    int     err = sxs_json_set_number(o, "pid", p->pid);
    err |= sxs_json_set_text(o, "command", p->command);
    for (size_t i = 0; i < p->n_runtimes; i++)
        if (p->runtimes[i].version[0])
            err |= json_array_append_new(versions, sxs_json_text(p->runtimes[i].version));
    err |= json_object_set_new(o, "runtimes", versions);
    return sxs_json_whole(o, err);
}

/* Percent-encodes a name as one part of a path. @out: three bytes for each of @name, and one. */
static void encode(const char *name, char *out)
{
    for (; *name; name++) {
        bool plain = (*name >= '0' && *name <= '9') || (*name >= 'a' && *name <= 'z') ||
                     (*name >= 'A' && *name <= 'Z') || strchr("-_.~", *name);
        out += sprintf(out, plain ? "%c" : "%%%02X", (unsigned char)*name);
    }
    *out = '\0';
}

static int set_names(json_t *o, const char *name)
{
    char link[3 * NAME_MAX + 1];
    encode(name, link);
    return sxs_json_set_text(o, "name", name) | sxs_json_set_text(o, "link", link);
}

/* Returns a session as JSON; NULL: @dir is no session. */
static json_t *session_json(const char *dir, const char *name)
{
    struct sxs_opened         opened;
    const struct sxs_session *s = &opened.session;
    json_t                   *o = NULL;
    if (sxs_opened_open_one(dir, &opened) == 0 && (s->n_processes || s->n_unread)) {
        struct volume v = {0};
        bool          running = sxs_serve_is_running(dir, s);
        uint64_t      first = UINT64_MAX, last = 0;
        json_t       *all = json_array();
        measure(dir, s, &v);
        o = json_object();
        int err = set_names(o, name);
        for (size_t i = 0; i < s->n_processes; i++) {
            const struct sxs_session_process *p = &s->processes[i];
            first = p->started_ns && p->started_ns < first ? p->started_ns : first;
            for (size_t k = 0; k < p->n_runtimes; k++)
                last = p->runtimes[k].ended_ns > last ? p->runtimes[k].ended_ns : last;
            err |= json_array_append_new(all, process_json(p));
        }
        err |= json_object_set_new(o, "processes", all);
        err |= json_object_set_new(o, "running", json_boolean(running));
        err |= sxs_json_set_number(o, "started_ns", first == UINT64_MAX ? 0 : first);
        err |= sxs_json_set_number(o, "ended_ns",
                                   running ? 0
                                   : last  ? last
                                           : v.changed_ms * 1000000);
        err |= sxs_json_set_number(o, "disk_bytes", v.bytes);
        err |= sxs_json_set_number(o, "heaps", v.heaps);
        err |= sxs_json_set_number(o, "problems", s->n_problems);
        err |= json_object_set_new(o, "recorded", data_json(&opened, &v));
        o = sxs_json_whole(o, err);
    }
    sxs_opened_close(&opened);
    return o;
}

/* Returns a packed session as JSON, which is not unpacked for the list. */
static json_t *pack_json(const char *name, const struct stat *st)
{
    json_t *o = json_object();
    int     err = set_names(o, name);
    err |= json_object_set_new(o, "packed", json_true());
    err |= json_object_set_new(o, "running", json_false());
    err |= sxs_json_set_number(o, "ended_ns", (uint64_t)st->st_mtime * 1000000000);
    err |= sxs_json_set_number(o, "disk_bytes", (uint64_t)st->st_size);
    return sxs_json_whole(o, err);
}

/* ---- the list ---- */

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);
    return n > m && strcmp(name + n - m, end) == 0;
}

static json_t *entry_json(int folder_fd, const char *name)
{
    char        path[NAME_MAX + 3];
    struct stat st;
    if (*name == '.' || fstatat(folder_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return NULL;
    snprintf(path, sizeof(path), "./%s", name);
    if (S_ISDIR(st.st_mode))
        return session_json(path, name);
    return S_ISREG(st.st_mode) && ends_with(name, SXS_PACK_EXTENSION) ? pack_json(name, &st) : NULL;
}

static json_int_t when(const json_t *o)
{
    json_int_t started = json_integer_value(json_object_get(o, "started_ns"));
    return started ? started : json_integer_value(json_object_get(o, "ended_ns"));
}

static int by_start(const void *a, const void *b)
{
    const json_t *const *x = a, *const *y = b;
    return (when(*x) < when(*y)) - (when(*x) > when(*y));
}

/* Reads all sessions of the working folder. @left: receives how many are left out. Returns their
 * number. */
static size_t read_folder(json_t **all, size_t *left)
{
    DIR   *d = opendir(".");
    size_t n = 0, examined = 0;
    for (struct dirent *e; d && (e = readdir(d)) && examined < MAX_EXAMINED; examined++) {
        json_t *o = entry_json(dirfd(d), e->d_name);
        if (o && n < MAX_SESSIONS)
            all[n++] = o;
        else if (o) {
            json_decref(o);
            ++*left;
        }
    }
    if (d)
        closedir(d);
    return n;
}

int sxs_serve_list(const struct sxs_serve_options *o, FILE *to)
{
    static json_t *all[MAX_SESSIONS];
    size_t         left = 0, n = 0;
    struct stat    st;
    json_t        *top = sxs_json_document_new(SXS_JSON_SERVE_SESSIONS), *rows = json_array();
    if (!o->only) {
        n = read_folder(all, &left);
    } else if (fstat(o->root_fd, &st) == 0) {
        all[0] = S_ISDIR(st.st_mode) ? session_json(".", o->only) : pack_json(o->only, &st);
        n = all[0] ? 1 : 0;
    }
    if (n > 1)
        qsort(all, n, sizeof(all[0]), by_start);
    int err = sxs_json_set_text(top, "folder", o->dir);
    for (size_t i = 0; i < n; i++)
        err |= json_array_append_new(rows, all[i]);
    err |= json_object_set_new(top, "sessions", rows);
    err |= sxs_json_set_number(top, "sessions_left_out", left);
    err |= sxs_json_dump(top, to, JSON_COMPACT);
    json_decref(top);
    return err || fflush(to) != 0 ? -1 : 0;
}
