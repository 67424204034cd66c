/* SPDX-License-Identifier: MIT */
#include "cmd/push/queue.h"
#include "cmd/output/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder_path.h"
#include "cmd/output/must.h"
#include "cmd/output/print.h"
#include "cmd/push/queue_entry.h"
#include "session/format/folder_safe.h"

/* Files: "state", "lock" and one "NUMBER.batch" for each batch; "*.part" are incomplete. */
#define EXTENSION ".batch"
enum { NAME_SIZE = 40, MAX_STATE = 64 << 20 };

struct waiting {
    uint64_t number, size;
};

struct sxs_push_queue {
    int                    fd, lock_fd;
    char                  *path;      /* owned */
    bool                   temporary; /* it goes with the command */
    bool                   opened;    /* it is for this target, and its state was read */
    char                  *target;    /* owned */
    uint64_t               limit, size, next;
    struct waiting        *entries; /* owned; by number, from `first` on */
    size_t                 first, n, cap;
    struct sxs_push_counts counts;
    json_t                *positions; /* owned; by source */
};

static void name_of(uint64_t number, char name[NAME_SIZE])
{
    snprintf(name, NAME_SIZE, "%020" PRIu64 EXTENSION, number);
}

/* ---- files ------------------------------------------------------------------------------------ */

static int write_all(int fd, const void *bytes, size_t size)
{
    const char *at = bytes;
    while (size) {
        ssize_t n = write(fd, at, size);
        if (n < 0 && errno != EINTR)
            return -errno;
        at += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* Writes a file that is there whole or not at all. Returns 0 or a negative errno. */
static int write_file(const struct sxs_push_queue *q, const char *name, const char *head,
                      const void *bytes, size_t size)
{
    char part[NAME_SIZE + 8];
    snprintf(part, sizeof(part), "%s.part", name);
    unlinkat(q->fd, part, 0); /* of a push that was killed */
    int fd = openat(q->fd, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    int err = fd < 0 ? -errno : write_all(fd, head, strlen(head));
    if (!err)
        err = write_all(fd, bytes, size);
    if (!err && !q->temporary && fsync(fd) != 0)
        err = -errno;
    if (fd >= 0 && close(fd) != 0 && !err)
        err = -errno;
    if (!err && renameat(q->fd, part, q->fd, name) != 0)
        err = -errno;
    if (err && fd >= 0)
        unlinkat(q->fd, part, 0);
    if (!err && !q->temporary)
        fsync(q->fd);
    return err;
}

/* Reads a file. Returns owned bytes, or NULL. */
static uint8_t *read_file(const struct sxs_push_queue *q, const char *name, uint64_t limit,
                          size_t *size)
{
    struct stat st;
    uint8_t    *bytes = NULL;
    size_t      done = 0;
    int         fd = openat(q->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size <= limit) {
        bytes = sxs_must_zeroed((size_t)st.st_size + 1, 1);
        ssize_t n;
        while (done < (size_t)st.st_size &&
               (n = read(fd, bytes + done, (size_t)st.st_size - done)) > 0)
            done += (size_t)n;
    }
    if (fd >= 0)
        close(fd);
    *size = done;
    return bytes;
}

/* ---- state ------------------------------------------------------------------------------------ */

static int write_state(struct sxs_push_queue *q)
{
    json_t *top =
        json_pack("{s:i, s:s, s:I, s:I, s:I, s:O}", "version", 1, "target", q->target, "sent",
                  (json_int_t)q->counts.sent, "refused", (json_int_t)q->counts.refused, "dropped",
                  (json_int_t)q->counts.dropped, "positions", q->positions);
    char *text = top ? json_dumps(top, JSON_INDENT(1)) : NULL;
    int   err = text ? write_file(q, "state", text, "\n", 1) : -ENOMEM;
    free(text);
    json_decref(top);
    return err;
}

/* The counts are of interest only: that they cannot be written is no reason to stop. */
static void note_counts(struct sxs_push_queue *q)
{
    (void)write_state(q);
}

static void set_position(struct sxs_push_queue *q, const char *source, uint64_t next_ns)
{
    if (next_ns > sxs_push_queue_position(q, source))
        json_object_set_new(q->positions, source, json_integer((json_int_t)next_ns));
}

static bool is_missing(const struct sxs_push_queue *q, const char *name)
{
    struct stat st;
    return fstatat(q->fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT;
}

static bool are_positions(json_t *positions)
{
    const char *key;
    json_t     *value;
    json_object_foreach(positions, key, value) if (!json_is_integer(value) ||
                                                   json_integer_value(value) < 0) return false;
    return json_is_object(positions);
}

/* Returns 0, or -1 with a line in @why. A state that is there, but cannot be used, is not taken for
 * a new queue: everything would be sent again. */
static int read_state(struct sxs_push_queue *q, char *why, size_t why_size)
{
    size_t      size;
    uint8_t    *text = read_file(q, "state", MAX_STATE, &size);
    const char *target, *key;
    json_t     *value, *positions, *top = text ? json_loadb((char *)text, size, 0, NULL) : NULL;
    json_int_t  sent, refused, dropped;
    bool        is_new = !text && is_missing(q, "state");
    free(text);
    if (is_new)
        return 0;
    int bad = !top ||
              json_unpack(top, "{s:s, s:I, s:I, s:I, s:o}", "target", &target, "sent", &sent,
                          "refused", &refused, "dropped", &dropped, "positions", &positions) != 0 ||
              !are_positions(positions);
    if (bad) {
        snprintf(why, why_size,
                 "--queue %s: its file \"state\" is damaged; expected another folder, "
                 "or this one without that file: then everything is pushed again",
                 q->path);
    } else if (strcmp(target, q->target) != 0) {
        snprintf(why, why_size,
                 "--queue %s: it is a queue for %.40s; expected a queue of its own "
                 "for %s",
                 q->path, target, q->target);
        bad = 1;
    } else {
        q->counts = (struct sxs_push_counts){(uint64_t)sent, (uint64_t)refused, (uint64_t)dropped};
        json_object_foreach(positions, key, value)
            set_position(q, key, (uint64_t)json_integer_value(value));
    }
    json_decref(top);
    return bad ? -1 : 0;
}

uint64_t sxs_push_queue_position(const struct sxs_push_queue *q, const char *source)
{
    return (uint64_t)json_integer_value(json_object_get(q->positions, source));
}

void sxs_push_queue_finish(struct sxs_push_queue *q, const char *source, uint64_t next_ns)
{
    if (next_ns <= sxs_push_queue_position(q, source))
        return;
    set_position(q, source, next_ns);
    note_counts(q);
}

void sxs_push_queue_forget(struct sxs_push_queue *q, bool (*known)(void *arg, const char *source),
                           void                  *arg)
{
    const char *key;
    json_t     *value;
    void       *next;
    bool        changed = false;
    json_object_foreach_safe(q->positions, next, key, value)
    {
        (void)value;
        if (!known(arg, key)) {
            json_object_del(q->positions, key);
            changed = true;
        }
    }
    if (changed)
        note_counts(q);
}

void sxs_push_queue_each(const struct sxs_push_queue *q,
                         void (*take)(void *arg, const char *source, uint64_t next_ns), void *arg)
{
    const char *key;
    json_t     *value;
    json_object_foreach(q->positions, key, value)
        take(arg, key, (uint64_t)json_integer_value(value));
}

size_t sxs_push_queue_length(const struct sxs_push_queue *q)
{
    return q->n - q->first;
}

struct sxs_push_counts sxs_push_queue_counts(const struct sxs_push_queue *q)
{
    return q->counts;
}

/* ---- batches ---------------------------------------------------------------------------------- */

static void append_entry(struct sxs_push_queue *q, uint64_t number, uint64_t size)
{
    SXS_GROW(q->entries, q->n, q->cap);
    q->entries[q->n++] = (struct waiting){number, size};
    q->size += size;
    q->next = number >= q->next ? number + 1 : q->next;
}

static void take_away(struct sxs_push_queue *q)
{
    char name[NAME_SIZE];
    name_of(q->entries[q->first].number, name);
    unlinkat(q->fd, name, 0);
    q->size -= q->entries[q->first++].size;
}

void sxs_push_queue_remove(struct sxs_push_queue *q, bool accepted)
{
    take_away(q);
    *(accepted ? &q->counts.sent : &q->counts.refused) += 1;
    if (!accepted)
        note_counts(q);
}

static void drop(struct sxs_push_queue *q)
{
    take_away(q);
    q->counts.dropped++;
}

int sxs_push_queue_add(struct sxs_push_queue *q, const struct sxs_push_out *requests,
                       const uint8_t id[16], const char *source, uint64_t next_ns)
{
    char batch[33], name[NAME_SIZE];
    for (size_t i = 0; i < 16; i++)
        snprintf(batch + 2 * i, 3, "%02x", id[i]);
    char    *line = sxs_must(sxs_push_entry_line(requests, batch, source, next_ns));
    uint64_t size = strlen(line) + requests->size;
    int      err = 0;
    if (size > q->limit) {
        q->counts.dropped++;
    } else {
        name_of(q->next, name);
        err = write_file(q, name, line, requests->bytes, requests->size);
        if (!err)
            append_entry(q, q->next, size);
    }
    free(line);
    if (err)
        return err;
    while (q->size > q->limit)
        drop(q);
    set_position(q, source, next_ns);
    note_counts(q); /* if it cannot be written, the batch's own file says the same */
    return 0;
}

/* Reads the batch @i. Returns false when it is damaged. */
static bool read_entry(const struct sxs_push_queue *q, size_t i, struct sxs_push_entry *out)
{
    struct sxs_push_note note;
    char                 name[NAME_SIZE];
    size_t               size;
    name_of(q->entries[q->first + i].number, name);
    uint8_t *bytes = read_file(q, name, SIZE_MAX / 4, &size);
    if (!bytes)
        return false;
    int bad = sxs_push_entry_parse(bytes, size, &out->requests, &note);
    memcpy(out->batch, note.batch, sizeof(out->batch));
    free(note.source);
    free(bytes);
    if (bad)
        sxs_push_out_free(&out->requests);
    return !bad;
}

bool sxs_push_queue_peek(const struct sxs_push_queue *q, size_t i, struct sxs_push_entry *out,
                         uint64_t *size)
{
    if (i >= sxs_push_queue_length(q) || !read_entry(q, i, out))
        return false;
    *size = q->entries[q->first + i].size;
    return true;
}

bool sxs_push_queue_head(struct sxs_push_queue *q, struct sxs_push_entry *out)
{
    for (; sxs_push_queue_length(q); note_counts(q)) {
        char name[NAME_SIZE];
        if (read_entry(q, 0, out))
            return true;
        name_of(q->entries[q->first].number, name);
        sxs_print_to(stderr, "sxsprof: %s/%s: damaged: it is dropped\n", q->path, name);
        drop(q);
    }
    return false;
}

/* ---- opening ---------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    const struct waiting *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

/* Takes the position that a batch's file notes; see write_state() in sxs_push_queue_add(). */
static void read_position(struct sxs_push_queue *q, const char *name)
{
    struct sxs_push_note note;
    size_t               size;
    uint8_t             *bytes = read_file(q, name, SIZE_MAX / 4, &size);
    if (bytes && sxs_push_entry_parse(bytes, size, NULL, &note) == 0)
        set_position(q, note.source, note.next_ns);
    if (bytes)
        free(note.source);
    free(bytes);
}

static void scan(struct sxs_push_queue *q)
{
    DIR *d = fdopendir(dup(q->fd));
    if (!d)
        return;
    rewinddir(d);
    for (struct dirent *e; (e = readdir(d));) {
        struct stat st;
        char        name[NAME_SIZE], *end;
        uint64_t    number = strtoull(e->d_name, &end, 10);
        size_t      len = strlen(e->d_name);
        if (len > 5 && strcmp(e->d_name + len - 5, ".part") == 0)
            unlinkat(q->fd, e->d_name, 0);
        name_of(number, name);
        if (strcmp(name, e->d_name) != 0 || number == UINT64_MAX ||
            fstatat(q->fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
            continue;
        append_entry(q, number, (uint64_t)st.st_size);
        read_position(q, name);
    }
    closedir(d);
    if (q->n)
        qsort(q->entries, q->n, sizeof(*q->entries), by_number);
}

/* Opens the folder, made when missing. Returns 0, or -1 with a line in @why. */
static int open_folder(struct sxs_push_queue *q, const char *dir, char *why, size_t size)
{
    struct stat st;
    char        reason[512], real[PATH_MAX];
    if (!dir) {
        if (asprintf(&q->path, "%s/sxsprof-push-XXXXXX", sxs_temporary_folder()) < 0)
            sxs_must(NULL);
        q->temporary = mkdtemp(q->path) != NULL;
    } else {
        q->path = sxs_must(strdup(dir));
    }
    q->fd =
        sxs_folder_path_open(q->path, dir ? SXS_FOLDER_PATH_MAKE | SXS_FOLDER_PATH_LAST_LINK : 0,
                             real, NULL, reason, sizeof(reason));
    bool opened = q->fd >= 0;
    if (opened && fstat(q->fd, &st) != 0) {
        snprintf(reason, sizeof(reason), "%s", strerror(errno));
        opened = false;
    }
    if (!opened) {
        snprintf(why, size, "--queue %s: %s%s", q->path, reason,
                 strstr(reason, "expected") ? "" : "; expected a folder, or a name that is free");
        return -1;
    }
    if (sxs_folder_refused(&st, reason, sizeof(reason))) {
        snprintf(why, size, "--queue %s: %s", q->path, reason);
        return -1;
    }
    q->lock_fd = openat(q->fd, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (q->lock_fd < 0 || flock(q->lock_fd, LOCK_EX | LOCK_NB) != 0) {
        bool busy = q->lock_fd >= 0 && errno == EWOULDBLOCK;
        snprintf(why, size, "--queue %s: %s", q->path,
                 busy ? "another sxsprof push is using it; expected a queue of its own for each"
                      : strerror(errno));
        return -1;
    }
    return 0;
}

int sxs_push_queue_open(const char *dir, uint64_t limit, const char *target,
                        struct sxs_push_queue **out, char *why, size_t size)
{
    struct sxs_push_queue *q = sxs_must_zeroed(1, sizeof(*q));
    *q = (struct sxs_push_queue){.fd = -1, .lock_fd = -1, .limit = limit, .next = 1};
    q->target = sxs_must(strdup(target));
    q->positions = sxs_must(json_object());
    int err = open_folder(q, dir, why, size);
    if (!err)
        err = read_state(q, why, size);
    if (!err) {
        q->opened = true;
        scan(q);
        while (q->size > q->limit)
            drop(q);
        int written = write_state(q);
        if (written) {
            snprintf(why, size, "--queue %s: %s", q->path, strerror(-written));
            err = -1;
        }
    }
    *out = err ? NULL : q;
    if (err)
        sxs_push_queue_close(q);
    return err;
}

void sxs_push_queue_close(struct sxs_push_queue *q)
{
    if (!q)
        return;
    if (q->fd >= 0 && q->temporary) {
        while (sxs_push_queue_length(q))
            take_away(q);
        unlinkat(q->fd, "state", 0);
        unlinkat(q->fd, "lock", 0);
        rmdir(q->path);
    } else if (q->opened) {
        note_counts(q);
    }
    if (q->fd >= 0)
        close(q->fd);
    if (q->lock_fd >= 0)
        close(q->lock_fd);
    json_decref(q->positions);
    free(q->entries);
    free(q->target);
    free(q->path);
    free(q);
}
