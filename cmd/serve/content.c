/* SPDX-License-Identifier: MIT */
#include "cmd/serve/content.h"

#include "cmd/heap/snapshots.h"
#include "cmd/output/json_document.h"
#include "cmd/output/json_values.h"
#include "cmd/output/print.h"
#include "cmd/output/shown.h"
#include "cmd/output/strings.h"
#include "cmd/pack/pack.h"
#include "cmd/report/data_kind.h"
#include "cmd/report/page_data.h"
#include "cmd/serve/sessions.h"
#include "cmd/symbols/debuginfod.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_MESSAGES = 50, MAX_MESSAGE_BYTES = 64 << 10 };

/* ---- opening ---- */

int sxs_serve_open(const struct sxs_serve_options *o, const char *name)
{
    struct stat st;
    if (!*name || (o->only && strcmp(name, o->only) == 0))
        return fcntl(o->root_fd, F_DUPFD_CLOEXEC, 3);
    if (o->only)
        return -1;
    int fd = openat(o->root_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd >= 0 && (fstat(fd, &st) != 0 || (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static uint64_t stamp_of(const char *name, const struct stat *st, uint64_t seed)
{
    const uint64_t facts[] = {st->st_ino, (uint64_t)st->st_size, (uint64_t)st->st_mtim.tv_sec,
                              (uint64_t)st->st_mtim.tv_nsec};
    return sxs_hash_bytes(facts, sizeof(facts), sxs_hash_bytes(name, strlen(name), seed));
}

/* Adds the files of the folder @fd, which is closed, and of those in it whose names are those of
 * processes. The order does not matter: the numbers are added. */
static uint64_t stamp_folder(int fd, bool processes)
{
    struct stat st;
    uint64_t    sum = 0;
    DIR        *d = fdopendir(fd);
    if (!d)
        close(fd);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (e->d_name[0] == '.' || fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        sum += stamp_of(e->d_name, &st, 0);
        if (processes && S_ISDIR(st.st_mode) && sxs_session_names_process(e->d_name)) {
            int below =
                openat(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            sum += below < 0 ? 1 : stamp_folder(below, false) * 31;
        }
    }
    if (d)
        closedir(d);
    return sum;
}

uint64_t sxs_serve_stamp(int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return 0;
    if (!S_ISDIR(st.st_mode))
        return stamp_of("", &st, 0);
    int folder = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return folder < 0 ? 0 : stamp_folder(folder, true);
}

/* ---- in the child process ---- */

/* Returns the path by which the readers open the session: "." in its own folder, or the path of a
 * packed file. Static. Ends the process when it cannot be opened. */
static const char *enter(const struct sxs_serve_options *o, const struct sxs_serve_wanted *wanted,
                         int fd)
{
    static char path[NAME_MAX + 3];
    struct stat st;
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        if (fchdir(fd) != 0)
            exit(1);
        sxs_show_as(".", wanted->name);
        return ".";
    }
    if (o->only)
        return o->dir;
    if (fchdir(o->root_fd) != 0)
        exit(1);
    snprintf(path, sizeof(path), "./%s", wanted->name);
    return path;
}

/* Says on the pipe whether the session is running. */
static bool tell_state(const char *dir, int tell_fd)
{
    struct sxs_session s;
    bool               running = false;
    if (sxs_session_read(dir, &s) == 0)
        running = sxs_serve_is_running(dir, &s);
    sxs_session_free(&s);
    char state = running ? SXS_SERVE_IS_RUNNING : SXS_SERVE_HAS_ENDED;
    if (write(tell_fd, &state, 1) != 1)
        exit(1);
    return running;
}

/* Writes the lines of standard error, a file, as a JSON list. */
static void put_messages(FILE *to)
{
    static char text[MAX_MESSAGE_BYTES];
    json_t     *all = json_array();
    fflush(stderr);
    ssize_t n = pread(STDERR_FILENO, text, sizeof(text) - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        const char *said = strncmp(line, "sxsprof: ", 9) == 0 ? line + 9 : line;
        if (json_array_size(all) < MAX_MESSAGES)
            json_array_append_new(all, sxs_json_text(said));
    }
    sxs_json_dump(all, to, JSON_COMPACT);
    json_decref(all);
}

/* Writes the document "serve-data": data, parts, messages and what the session is; data: null: there is nothing to show. */
static int make_data(const char *dir, const struct sxs_serve_options *o,
                     const struct sxs_serve_wanted *wanted, bool running)
{
    char              parts[256];
    size_t            heaps = 0;
    struct sxs_opened v;
    json_t           *name = sxs_json_text(wanted->name);
    sxs_json_document_begin(stdout, SXS_JSON_SERVE_DATA);
    fputs(",\"data\":", stdout);
    fflush(stdout);
    int err = sxs_opened_open(dir, NULL, &v);
    sxs_page_parts(&v, parts, sizeof(parts));
    if (err)
        sxs_print_to(stderr, "sxsprof: %s: %s; expected a folder made by sxsprof run -o DIR\n",
                     sxs_shown(dir), strerror(err));
    if (err || !sxs_page_data(&v, sxs_data_named(wanted->data), parts))
        fputs("null", stdout);
    if (!err)
        free(sxs_heap_places(&v, NULL, &heaps));
    sxs_opened_close(&v);
    printf(",\n\"parts\":[%s],\"running\":%s,\"list\":%s,\"heaps\":%zu,\"name\":", parts,
           running ? "true" : "false", o->only ? "false" : "true", heaps);
    sxs_json_dump(name, stdout, JSON_ENCODE_ANY);
    fputs(",\"messages\":", stdout);
    put_messages(stdout);
    fputs("}\n", stdout);
    json_decref(name);
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}

static int make_report(const char *dir, const struct sxs_serve_options *o,
                       const struct sxs_serve_wanted *wanted)
{
    char  name[] = "sxsprof report", format[32], data[32], path[PATH_MAX];
    char *argv[] = {name, format, path, data, NULL};
    snprintf(format, sizeof(format), "--format=%s", wanted->format);
    snprintf(data, sizeof(data), "--data=%s", wanted->data);
    snprintf(path, sizeof(path), "%s", dir);
    return o->verbs->report(*wanted->data ? 4 : 3, argv);
}

static int make_heap(const char *dir, const struct sxs_serve_options *o)
{
    char  name[] = "sxsprof heap", format[] = "--format=html", path[PATH_MAX];
    char *argv[] = {name, format, path, NULL};
    snprintf(path, sizeof(path), "%s", dir);
    return o->verbs->heap(3, argv);
}

_Noreturn void sxs_serve_make(const struct sxs_serve_options *o,
                              const struct sxs_serve_wanted *wanted, int source_fd, int tell_fd)
{
    char why[512];
    sxs_debuginfod_disable(); /* a page must not wait for downloads */
    if (wanted->kind == SXS_SERVE_LIST) {
        if (fchdir(source_fd) != 0 && !o->only) /* a packed session is no folder */
            exit(1);
        exit(sxs_serve_list(o, stdout) == 0 ? 0 : 1);
    }
    const char *path = enter(o, wanted, source_fd), *dir = path;
    if (wanted->kind == SXS_SERVE_DATA && sxs_pack_open(path, &dir, why, sizeof(why)) != 0) {
        sxs_print_to(stderr, "sxsprof: %s: %s\n", wanted->name, why);
        exit(1);
    }
    bool running = tell_state(dir, tell_fd);
    switch (wanted->kind) {
    case SXS_SERVE_DATA: exit(make_data(dir, o, wanted, running));
    case SXS_SERVE_REPORT: exit(make_report(dir, o, wanted));
    case SXS_SERVE_HEAP: exit(make_heap(dir, o));
    default: exit(1);
    }
}
