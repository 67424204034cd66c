/* SPDX-License-Identifier: MIT */
#include "control/ring/segments.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "base/descriptors.h"
#include "control/ring/segments_internal.h"

#define FOLDER (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* ---- names ----------------------------------------------------------------------------------- */

void sxs_segment_name_write(struct sxs_segment_name name, char out[SXS_SEGMENT_NAME])
{
    struct tm utc;
    time_t    at = (time_t)name.began_s;
    gmtime_r(&at, &utc);
    snprintf(out, SXS_SEGMENT_NAME, "%04d%02d%02dT%02d%02d%02dZ-%" PRIu64,
             (utc.tm_year + 1900) % 10000, utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min,
             utc.tm_sec, name.number % UINT64_C(10000000000));
}

/* Reads @n digits at @text. Returns the number, or -1. */
static int read_digits(const char *text, int n)
{
    int value = 0;
    for (int i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9')
            return -1;
        value = value * 10 + text[i] - '0';
    }
    return value;
}

int sxs_segment_name_read(const char *text, struct sxs_segment_name *out)
{
    static const char form[] = "00000000T000000Z-";
    struct tm         utc = {0};
    char             *end, again[SXS_SEGMENT_NAME];
    for (size_t i = 0; form[i]; i++)
        if (form[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != form[i])
            return -1;
    utc.tm_year = read_digits(text, 4) - 1900;
    utc.tm_mon = read_digits(text + 4, 2) - 1;
    utc.tm_mday = read_digits(text + 6, 2);
    utc.tm_hour = read_digits(text + 9, 2);
    utc.tm_min = read_digits(text + 11, 2);
    utc.tm_sec = read_digits(text + 13, 2);
    text += strlen(form);
    if (*text < '1' || *text > '9' || strlen(text) > 10)
        return -1;
    out->began_s = (uint64_t)timegm(&utc);
    out->number = strtoull(text, &end, 10);
    if (*end)
        return -1;
    sxs_segment_name_write(*out, again); /* timegm() takes the 40th of May, too */
    return strcmp(again, text - strlen(form)) == 0 ? 0 : -1;
}

/* ---- the folder of segments ------------------------------------------------------------------ */

/* Deletes what an interrupted deletion has left. */
static void delete_rests(int dir)
{
    DIR                 *list = sxs_segments_opendir(dir, ".");
    const struct dirent *e;
    while (list && (e = readdir(list))) {
        struct sxs_segment_name name;
        char                    text[SXS_SEGMENT_NAME + 8];
        size_t                  len = strlen(e->d_name), end = strlen(SXS_SEGMENT_GONE);
        if (e->d_name[0] != '.' || len <= end + 1 || len >= sizeof(text) ||
            strcmp(e->d_name + len - end, SXS_SEGMENT_GONE) != 0)
            continue;
        snprintf(text, sizeof(text), "%.*s", (int)(len - end - 1), e->d_name + 1);
        if (sxs_segment_name_read(text, &name) == 0)
            sxs_segments_delete_tree(dir, e->d_name);
    }
    if (list)
        closedir(list);
}

static int delete_rests_job(void *arg)
{
    const struct sxs_folder *dir = arg;
    int                      fd = sxs_folder_use(dir);
    if (fd >= 0)
        delete_rests(fd);
    sxs_folder_used(dir, fd);
    return 0;
}

int sxs_segments_open(struct sxs_folder *dir, const char *path, char *why, size_t size)
{
    if (sxs_folder_open_segments(dir, path, why, size) != 0)
        return -1;
    sxs_descriptors_call(delete_rests_job, dir);
    return 0;
}

static int check_dir(void *arg)
{
    const struct sxs_folder *dir = *(const struct sxs_folder **)arg;
    struct stat              st;
    if (lstat(dir->path, &st) != 0)
        return -errno;
    return st.st_dev == dir->dev && st.st_ino == dir->ino ? 0 : -ESTALE;
}

int sxs_segments_check(const struct sxs_folder *dir)
{
    return sxs_descriptors_call(check_dir, &dir);
}

/* ---- what is there --------------------------------------------------------------------------- */

struct segment_listing {
    const struct sxs_folder  *dir;
    struct sxs_segment_found *found;
    size_t                    n, room;
    uint64_t                  highest;
};

static int add_found(struct segment_listing *l, int dir, const char *name, int is_kept)
{
    struct sxs_segment_found *more;
    struct sxs_segment_name   parsed;
    if (sxs_segment_name_read(name, &parsed) != 0 || !sxs_segments_is_ours(dir, name))
        return 0;
    if (l->n == l->room) {
        more = realloc(l->found, (l->room + 64) * 2 * sizeof(*more));
        if (!more)
            return -ENOMEM;
        l->found = more;
        l->room = (l->room + 64) * 2;
    }
    if (parsed.number > l->highest)
        l->highest = parsed.number;
    more = &l->found[l->n++];
    sxs_segment_name_write(parsed, more->name);
    more->bytes = sxs_segments_tree_bytes(dir, name);
    more->is_kept = is_kept;
    more->has_trigger = sxs_segments_has_trigger(dir, name);
    sxs_segments_read_process(dir, name, more);
    return 0;
}

static int list_folder(struct segment_listing *l, int dir, const char *name, int is_kept)
{
    DIR                 *list = sxs_segments_opendir(dir, name);
    const struct dirent *e;
    int                  err = 0;
    while (list && !err && (e = readdir(list)))
        err = add_found(l, dirfd(list), e->d_name, is_kept);
    if (list)
        closedir(list);
    return err;
}

static int list_dir(void *arg)
{
    struct segment_listing *l = arg;
    int                     dir = sxs_folder_use(l->dir), err;
    if (dir < 0)
        return dir;
    err = list_folder(l, dir, ".", 0);
    if (!err)
        err = list_folder(l, dir, SXS_SEGMENT_KEPT, 1);
    sxs_folder_used(l->dir, dir);
    return err;
}

static int by_number(const void *a, const void *b)
{
    const struct sxs_segment_found *x = a, *y = b;
    struct sxs_segment_name         p = {0}, q = {0};
    sxs_segment_name_read(x->name, &p);
    sxs_segment_name_read(y->name, &q);
    if (p.number != q.number)
        return p.number < q.number ? -1 : 1;
    return strcmp(x->name, y->name);
}

int sxs_segments_list(const struct sxs_folder *dir, struct sxs_segment_found **out, size_t *n,
                      uint64_t *highest)
{
    struct segment_listing l = {.dir = dir};
    int                    err = sxs_descriptors_call(list_dir, &l);
    if (err) {
        free(l.found);
        return err;
    }
    if (l.n)
        qsort(l.found, l.n, sizeof(*l.found), by_number);
    *out = l.found;
    *n = l.n;
    *highest = l.highest;
    return 0;
}

/* ---- one segment ----------------------------------------------------------------------------- */

struct segment_job {
    const struct sxs_folder *dir;
    const char              *name, *file, *text;
    int                      is_kept;
    struct sxs_segment_name *next;
    char                    *made;
    uint64_t                 bytes, all;
};

/* Opens the folder that has the segment. Returns a descriptor or -errno; @used: of the folder of
 * segments, to be given back. */
static int open_parent(const struct segment_job *j, int *used)
{
    int fd;
    *used = sxs_folder_use(j->dir);
    if (*used < 0)
        return *used;
    fd = openat(*used, j->is_kept ? SXS_SEGMENT_KEPT : ".", FOLDER);
    return fd < 0 ? -errno : fd;
}

static void close_parent(const struct segment_job *j, int fd, int used)
{
    if (fd >= 0)
        close(fd);
    sxs_folder_used(j->dir, used);
}

/* Runs @what on the folder that has the segment. */
static int with_parent(struct segment_job *j, int (*what)(struct segment_job *, int parent))
{
    int used, fd = open_parent(j, &used), err = fd < 0 ? fd : what(j, fd);
    close_parent(j, fd, used);
    return err;
}

static int make_in(struct segment_job *j, int parent)
{
    for (int tries = 0; tries < 10000; tries++, j->next->number++) {
        sxs_segment_name_write(*j->next, j->made);
        if (mkdirat(parent, j->made, 0700) == 0)
            return 0;
        if (errno != EEXIST)
            return -errno;
    }
    return -EEXIST;
}

static int make_job(void *arg)
{
    return with_parent(arg, make_in);
}

int sxs_segment_make(const struct sxs_folder *dir, struct sxs_segment_name *name,
                     char out[SXS_SEGMENT_NAME])
{
    struct segment_job j = {.dir = dir, .next = name, .made = out};
    return sxs_descriptors_call(make_job, &j);
}

static int undo_in(struct segment_job *j, int parent)
{
    return sxs_segments_delete_tree(parent, j->name);
}

static int undo_job(void *arg)
{
    return with_parent(arg, undo_in);
}

void sxs_segment_undo(const struct sxs_folder *dir, const char *name)
{
    struct segment_job j = {.dir = dir, .name = name};
    sxs_descriptors_call(undo_job, &j);
}

static int write_all(int fd, const char *text)
{
    size_t left = strlen(text);
    while (left) {
        ssize_t n = write(fd, text, left);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -EIO;
        text += n;
        left -= (size_t)n;
    }
    return 0;
}

static int write_in(struct segment_job *j, int parent)
{
    static const char next[] = ".next";
    int               segment = openat(parent, j->name, FOLDER), fd, err;
    if (segment < 0)
        return -errno;
    unlinkat(segment, next, 0);
    fd = openat(segment, next, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    err = fd < 0 ? -errno : write_all(fd, j->text);
    if (fd >= 0)
        close(fd);
    if (!err && renameat(segment, next, segment, j->file) != 0)
        err = -errno;
    if (err && fd >= 0)
        unlinkat(segment, next, 0);
    close(segment);
    return err;
}

static int write_job(void *arg)
{
    return with_parent(arg, write_in);
}

int sxs_segment_write(const struct sxs_folder *dir, const char *name, int is_kept, const char *file,
                      const char *text)
{
    struct segment_job j = {
        .dir = dir, .name = name, .is_kept = is_kept, .file = file, .text = text};
    return sxs_descriptors_call(write_job, &j);
}

static int keep_in(struct segment_job *j, int parent)
{
    int kept, err = 0;
    if (mkdirat(parent, SXS_SEGMENT_KEPT, 0700) != 0 && errno != EEXIST)
        return -errno;
    kept = openat(parent, SXS_SEGMENT_KEPT, FOLDER);
    if (kept < 0)
        return -errno;
    if (renameat(parent, j->name, kept, j->name) != 0)
        err = -errno;
    close(kept);
    return err;
}

static int keep_job(void *arg)
{
    return with_parent(arg, keep_in);
}

int sxs_segment_keep(const struct sxs_folder *dir, const char *name)
{
    struct segment_job j = {.dir = dir, .name = name};
    return sxs_descriptors_call(keep_job, &j);
}

static int delete_in(struct segment_job *j, int parent)
{
    char gone[SXS_SEGMENT_NAME + 8];
    if (!sxs_segments_is_ours(parent, j->name))
        return 0;
    snprintf(gone, sizeof(gone), ".%s" SXS_SEGMENT_GONE, j->name);
    if (renameat(parent, j->name, parent, gone) != 0)
        return -errno;
    return sxs_segments_delete_tree(parent, gone);
}

static int delete_job(void *arg)
{
    return with_parent(arg, delete_in);
}

int sxs_segment_delete(const struct sxs_folder *dir, const char *name, int is_kept)
{
    struct segment_job j = {.dir = dir, .name = name, .is_kept = is_kept};
    return sxs_descriptors_call(delete_job, &j);
}

static int measure_in(struct segment_job *j, int parent)
{
    j->bytes = sxs_segments_tree_bytes(parent, j->name);
    return 0;
}

static int measure_job(void *arg)
{
    return with_parent(arg, measure_in);
}

uint64_t sxs_segment_bytes(const struct sxs_folder *dir, const char *name, int is_kept)
{
    struct segment_job j = {.dir = dir, .name = name, .is_kept = is_kept};
    return sxs_descriptors_call(measure_job, &j) == 0 ? j.bytes : 0;
}

static int room_in(struct segment_job *j, int parent)
{
    struct statvfs st;
    if (fstatvfs(parent, &st) != 0)
        return -errno;
    j->bytes = (uint64_t)st.f_bavail * st.f_frsize;
    j->all = (uint64_t)st.f_blocks * st.f_frsize;
    return 0;
}

static int room_job(void *arg)
{
    return with_parent(arg, room_in);
}

int sxs_segments_room(const struct sxs_folder *dir, uint64_t *left, uint64_t *all)
{
    struct segment_job j = {.dir = dir};
    int                err = sxs_descriptors_call(room_job, &j);
    *left = j.bytes;
    *all = j.all;
    return err;
}
