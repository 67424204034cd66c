/* SPDX-License-Identifier: MIT */
#include "session/read/session_read.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/read.h"
#include "session/format/folder_open.h"
#include "session/read/file_read.h"

bool sxs_session_names_process(const char *name)
{
    return sxs_name_is_process(name);
}

/* Append a message to the problems of @s, as by printf(). */
#define note(s, ...) sxs_lines_add(&(s)->problems, &(s)->n_problems, __VA_ARGS__)

/* Copy a text of at most @size - 1 bytes and terminate it. Returns false when @from has no zero
 * within
 * @size bytes. */
static bool take_text(char *to, const char *from, size_t size)
{
    size_t len = strnlen(from, size);
    bool   whole = len < size;
    if (!whole)
        len = size - 1;
    memcpy(to, from, len);
    to[len] = '\0';
    return whole;
}

static uint64_t get64(const _Atomic uint64_t *v)
{
    return atomic_load_explicit(v, memory_order_relaxed);
}

static void take_row(struct sxs_session *s, struct sxs_session_process *p, const char *where,
                     size_t index, const struct sxs_census_runtime *row)
{
    uint32_t state = atomic_load_explicit(&row->state, memory_order_acquire);
    if (state == SXS_STATE_NONE) /* the runtime was just being admitted: its row is not complete */
        return;
    if (state > SXS_STATE_CANCELLED) {
        note(s, "%s: runtime row %zu left out: state %u is not one of 1 to 3", where, index + 1,
             state);
        return;
    }
    struct sxs_session_runtime *r = &p->runtimes[p->n_runtimes++];
    r->number = row->number;
    r->state = (enum sxs_state)state;
    r->modules = get64(&row->modules);
    r->methods = get64(&row->methods);
    r->threads = get64(&row->threads);
    r->gcs = get64(&row->gcs);
    r->exceptions = get64(&row->exceptions);
    r->signals = get64(&row->signals);
    r->errors = get64(&row->errors);
    r->started_ns = row->started_ns;
    r->ended_ns = get64(&row->ended_ns);
    if (!take_text(r->version, row->version, sizeof(r->version)))
        note(s, "%s: the version in runtime row %zu has no end: cut", where, index + 1);
    if (!take_text(r->path, row->path, sizeof(r->path)))
        note(s, "%s: the path in runtime row %zu has no end: cut", where, index + 1);
}

static int by_number(const void *a, const void *b)
{
    const struct sxs_session_runtime *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

/* Return true when the header has a format that this reader knows; otherwise add a message. @size:
 * number of bytes of the file that were read. */
static bool header_is_ours(struct sxs_session *s, const char *where, const struct sxs_census *c,
                           size_t size)
{
    if (size < offsetof(struct sxs_census, runtimes)) {
        note(s, "%s: cut: %zu bytes, a header has %zu", where, size,
             offsetof(struct sxs_census, runtimes));
        return false;
    }
    if (memcmp(c->magic, SXS_CENSUS_MAGIC, sizeof(c->magic)) != 0) {
        note(s, "%s: not a census file: it does not begin with \"" SXS_CENSUS_MAGIC "\"", where);
        return false;
    }
    if (c->version != SXS_CENSUS_VERSION) {
        note(s, "%s: format version %u, this command reads version %u", where, c->version,
             SXS_CENSUS_VERSION);
        return false;
    }
    if (c->size != sizeof(*c) || c->row_size != sizeof(c->runtimes[0])) {
        note(s, "%s: says it has %u bytes in rows of %u, version %u has %zu in rows of %zu", where,
             c->size, c->row_size, SXS_CENSUS_VERSION, sizeof(*c), sizeof(c->runtimes[0]));
        return false;
    }
    return true;
}

/* Return the number of rows to read: rows in use, but not more than the format has and not more
 * than lie in the @size bytes of the file. */
static size_t usable_rows(struct sxs_session *s, const char *where, const struct sxs_census *c,
                          size_t size)
{
    size_t rows = atomic_load_explicit(&c->n_runtimes, memory_order_acquire);
    size_t whole = (size - offsetof(struct sxs_census, runtimes)) / sizeof(c->runtimes[0]);
    if (rows > SXS_MAX_RUNTIMES) {
        note(s, "%s: says %zu runtimes, at most %u can be", where, rows, SXS_MAX_RUNTIMES);
        rows = SXS_MAX_RUNTIMES;
    }
    if (size < sizeof(*c))
        note(s, "%s: cut: %zu of %zu bytes, %zu of %zu runtimes are whole", where, size, sizeof(*c),
             whole < rows ? whole : rows, rows);
    return whole < rows ? whole : rows;
}

/* Release the memory of rows that were left out: a session can have many processes. */
static void shrink_rows(struct sxs_session_process *p)
{
    size_t n = p->n_runtimes ? p->n_runtimes : 1;
    void  *smaller = reallocarray(p->runtimes, n, sizeof(*p->runtimes));
    if (smaller)
        p->runtimes = smaller;
}

/* Add the process that @c describes. Returns 0 or ENOMEM. A file with another format adds
 * nothing. */
static int take_census(struct sxs_session *s, const char *folder, const struct sxs_census *c,
                       size_t size)
{
    char where[256 + sizeof(SXS_CENSUS_FILE)];
    snprintf(where, sizeof(where), "%s/%s", folder, SXS_CENSUS_FILE);
    if (!header_is_ours(s, where, c, size))
        return 0;

    size_t rows = usable_rows(s, where, c, size);
    size_t listed = SXS_SESSION_MAX_RUNTIMES - s->n_runtimes;
    if (listed > rows)
        listed = rows;
    struct sxs_session_process *grown =
        realloc(s->processes, (s->n_processes + 1) * sizeof(*grown));
    if (!grown)
        return ENOMEM;
    s->processes = grown;
    struct sxs_session_process *p = &grown[s->n_processes];
    memset(p, 0, sizeof(*p));
    p->runtimes = calloc(listed ? listed : 1, sizeof(*p->runtimes));
    if (!p->runtimes)
        return ENOMEM;
    s->n_processes++;

    snprintf(p->folder, sizeof(p->folder), "%s", folder);
    p->pid = c->pid;
    p->started_ns = c->started_ns;
    p->preloaded = c->preloaded != 0;
    p->signals_off = c->signals_off != 0;
    p->has_children = atomic_load_explicit(&c->has_children, memory_order_relaxed) != 0;
    p->held = c->held != 0;
    p->mask = c->mask;
    p->signals_unwanted = get64(&c->signals_unwanted);
    p->n_unlisted = atomic_load_explicit(&c->n_unlisted, memory_order_relaxed);
    if (!take_text(p->command, c->command, sizeof(p->command)))
        note(s, "%s: the command has no end: cut", where);
    for (size_t i = 0; i < listed; i++)
        take_row(s, p, where, i, &c->runtimes[i]);
    p->n_unlisted += (uint32_t)(rows - listed);
    s->n_runtimes += p->n_runtimes;
    shrink_rows(p);
    qsort(p->runtimes, p->n_runtimes, sizeof(*p->runtimes), by_number);
    return 0;
}

/* Read the census of one process. The file is copied, not mapped, because a mapped file that
 * shrinks would end this process by SIGBUS. Returns 0 or ENOMEM. */
static int read_census(struct sxs_session *s, int folder_fd, const char *folder)
{
    struct sxs_census *c;
    char               why[256];
    uint64_t           size;
    int                err = 0;
    int fd = sxs_file_open(SXS_FILES_OF(folder_fd), SXS_CENSUS_FILE, &size, why, sizeof(why));
    if (fd < 0) {
        note(s, "%s/%s: %s", folder, SXS_CENSUS_FILE, why);
        return 0;
    }
    if (size > sizeof(*c))
        note(s, "%s/%s: %llu bytes, expected %zu: the rest is left unread", folder, SXS_CENSUS_FILE,
             (unsigned long long)size, sizeof(*c));
    c = calloc(1, sizeof(*c));
    if (!c) {
        err = ENOMEM;
        goto done;
    }
    err = take_census(s, folder, c, sxs_file_read_data(fd, c, sizeof(*c), 0));
done:
    free(c);
    close(fd);
    return err;
}

/* Keep the folder of a process whose census cannot be read, because the folder may hold other
 * files.
 * Returns 0 or ENOMEM. */
static int keep_unread(struct sxs_session *s, const char *folder)
{
    struct sxs_session_process *grown = realloc(s->unread, (s->n_unread + 1) * sizeof(*grown));
    if (!grown)
        return ENOMEM;
    s->unread = grown;
    memset(&grown[s->n_unread], 0, sizeof(*grown));
    snprintf(grown[s->n_unread].folder, sizeof(grown->folder), "%s", folder);
    grown[s->n_unread++].pid = (uint32_t)strtoul(folder, NULL, 10);
    return 0;
}

enum { MAX_NOTES = 32 }; /* of one process */

/* Reads what the library had to say in the process, line by line. Returns whether there is a log. */
static bool read_log(struct sxs_session *s, int folder_fd, const char *folder)
{
    char     why[256], *text = calloc(1, SXS_LOG_BYTES + 1), *save = NULL;
    uint64_t size;
    int      fd =
        text ? sxs_file_open(SXS_FILES_OF(folder_fd), SXS_LOG_FILE, &size, why, sizeof(why)) : -1;
    unsigned n = 0;
    if (fd >= 0) {
        sxs_file_read_data(fd, text, SXS_LOG_BYTES, 0);
        close(fd);
        for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
            if (n++ < MAX_NOTES)
                sxs_lines_add(&s->notes, &s->n_notes, "%s/" SXS_LOG_FILE ": %s", folder,
                              strncmp(line, "sxsprof: ", 9) == 0 ? line + 9 : line);
        if (n > MAX_NOTES)
            sxs_lines_add(&s->notes, &s->n_notes, "%s/" SXS_LOG_FILE ": %u more lines", folder,
                          n - MAX_NOTES);
    }
    free(text);
    return fd >= 0;
}

static int read_process(struct sxs_session *s, int dir_fd, const char *folder)
{
    size_t read_before = s->n_processes;
    int    fd = openat(dir_fd, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        bool link = errno == ELOOP || errno == ENOTDIR;
        note(s, "%s: %s", folder, link ? "not a folder (links are not followed)" : strerror(errno));
        return 0;
    }
    struct stat st;
    bool        left_out = read_log(s, fd, folder) &&
                    fstatat(fd, SXS_CENSUS_FILE, &st, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT;
    int err = left_out ? 0 : read_census(s, fd, folder);
    close(fd);
    if (left_out) /* it has nothing but the reason why */
        return 0;
    return err || s->n_processes > read_before ? err : keep_unread(s, folder);
}

enum sxs_held sxs_session_is_held(const char *dir, const struct sxs_session_process *p)
{
    char path[PATH_MAX];
    int  n = snprintf(path, sizeof(path), "%s/%s/" SXS_CENSUS_FILE, dir,
                     p->n_parts ? p->parts[p->n_parts - 1] : p->folder);
    return p->held && n < (int)sizeof(path) ? sxs_held_is(AT_FDCWD, path) : SXS_HELD_UNKNOWN;
}

int sxs_session_read_one(int dir_fd, const char *folder, struct sxs_session *out)
{
    memset(out, 0, sizeof(*out));
    return read_process(out, dir_fd, folder);
}

static int by_start(const void *a, const void *b)
{
    const struct sxs_session_process *x = a, *y = b;
    if (x->started_ns != y->started_ns)
        return x->started_ns < y->started_ns ? -1 : 1;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return strverscmp(x->folder, y->folder);
}

/* ---- which processes are read ---------------------------------------------------------------- */

typedef char folder_name[24]; /* "4294967295-4294967295" */

static int by_name(const void *a, const void *b)
{
    return strverscmp(a, b);
}

/* Sorts the names and keeps the first ones, as many as are read. */
static size_t keep_first(folder_name *names, size_t n)
{
    qsort(names, n, sizeof(*names), by_name);
    return n < SXS_SESSION_MAX_PROCESSES ? n : SXS_SESSION_MAX_PROCESSES;
}

/* Lists the folders of the processes to be read: the first ones by their names, in memory for twice as many.
 * Returns their number. @left_out: receives the number of the others. */
static size_t list_processes(DIR *d, folder_name *names, size_t *left_out)
{
    size_t n = 0, all = 0;
    for (const struct dirent *e; (e = readdir(d));) {
        if (!sxs_session_names_process(e->d_name))
            continue;
        all++;
        snprintf(names[n++], sizeof(*names), "%.23s", e->d_name);
        if (n == 2 * SXS_SESSION_MAX_PROCESSES)
            n = keep_first(names, n);
    }
    n = keep_first(names, n);
    *left_out = all - n;
    return n;
}

const char *sxs_session_left_out(const struct sxs_session *s, char *buf, size_t size)
{
    if (!s->n_left_out)
        return NULL;
    snprintf(buf, size,
             "%zu processes are left out: at most %u are read, those with the lowest numbers",
             s->n_left_out, SXS_SESSION_MAX_PROCESSES);
    return buf;
}

int sxs_session_read(const char *dir, struct sxs_session *out)
{
    char why[200];
    memset(out, 0, sizeof(*out));
    DIR *d = opendir(dir);
    if (!d)
        return errno;
    folder_name *names = calloc(2 * SXS_SESSION_MAX_PROCESSES, sizeof(*names));
    int          err = names ? 0 : ENOMEM;
    size_t       n = names ? list_processes(d, names, &out->n_left_out) : 0;
    if (sxs_session_left_out(out, why, sizeof(why)))
        note(out, "*/" SXS_CENSUS_FILE ": %s", why);
    for (size_t i = 0; i < n && !err; i++)
        err = read_process(out, dirfd(d), names[i]);
    free(names);
    closedir(d);
    if (out->n_processes)
        qsort(out->processes, out->n_processes, sizeof(*out->processes), by_start);
    return err;
}

void sxs_session_free(struct sxs_session *s)
{
    for (size_t i = 0; i < s->n_processes; i++) {
        free(s->processes[i].runtimes);
        free(s->processes[i].parts);
    }
    free(s->processes);
    free(s->unread);
    sxs_lines_free(s->problems, s->n_problems);
    sxs_lines_free(s->notes, s->n_notes);
    memset(s, 0, sizeof(*s));
}
