/* SPDX-License-Identifier: MIT */
#include "cmd/processes/copy.h"

#include "base/clock.h"
#include "base/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "cmd/output/segments.h"
#include "session/format/heap.h"
#include "session/read/file_read.h"
#include "session/read/session_files.h"
#include "session/read/session_read.h"

#define SESSION_DEPTH 4      /* of folders to copy: PID/kept/SEGMENT/PID */
#define MAX_ENTRIES   65536u /* names that are looked at in one copy */

/* ---- one file -------------------------------------------------------------------------------- */

/* How far a copy may go. Without rules everything is allowed. */
struct copying {
    const struct sxs_copy_rules *rules; /* NULL: none */
    struct sxs_copy_result      *result;
    uint64_t                     room; /* bytes that may still be written */
    size_t                       n_entries;
};

/* Returns 0 when the copy may go on, else an errno value. */
static int check_limits(const struct copying *c)
{
    if (!c || !c->rules)
        return 0;
    if (c->rules->deadline_ns && sxs_now_ns(CLOCK_MONOTONIC) >= c->rules->deadline_ns)
        return ETIMEDOUT;
    if (c->rules->go_on && !c->rules->go_on(c->rules->arg, c->result->bytes))
        return EINTR;
    return 0;
}

static int write_bytes(int to, const char *bytes, size_t size, off_t at)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = pwrite(to, bytes + done, size - done, at + (off_t)done);
        if (n < 0 && errno != EINTR)
            return errno;
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* A file system that does not know holes lists them as data. */
static bool all_zero(const char *p, size_t size)
{
    return size == 0 || (p[0] == 0 && memcmp(p, p + 1, size - 1) == 0);
}

/* Copies the bytes from @at to @end. Returns 0 or an errno value. @c: may be NULL. */
static int copy_range(int from, int to, uint64_t at, uint64_t end, struct copying *c)
{
    static char buf[1 << 16];
    while (at < end) {
        size_t want = end - at < sizeof(buf) ? (size_t)(end - at) : sizeof(buf);
        size_t n = sxs_file_read_at(from, buf, want, at);
        int    err = check_limits(c);
        bool   zero = all_zero(buf, n);
        if (!err && c && n > c->room && !zero)
            err = EFBIG;
        if (!err && !zero)
            err = write_bytes(to, buf, n, (off_t)at);
        if (err || n == 0)
            return err; /* no more bytes: the file was cut meanwhile */
        if (c && !zero) {
            c->room -= n;
            c->result->bytes += n;
        }
        at += n;
    }
    return 0;
}

static int copy_file(int from, int to, struct copying *c)
{
    struct stat st;
    int         err = fstat(from, &st) == 0 ? 0 : errno;
    uint64_t    end = err ? 0 : (uint64_t)st.st_size;
    for (uint64_t at = 0; !err && (at = sxs_file_next_data(from, at, end)) < end;) {
        uint64_t hole = sxs_file_next_hole(from, at, end);
        if (hole <= at)
            hole = end; /* the file changes */
        err = copy_range(from, to, at, hole, c);
        at = hole;
    }
    if (!err && ftruncate(to, (off_t)end) != 0)
        err = errno;
    return err;
}

int sxs_copy_file(int from, int to)
{
    return copy_file(from, to, NULL);
}

/* ---- a session ------------------------------------------------------------------------------- */

/* Counts a thing that is left out, and keeps the name of the first. */
static void leave_out(struct copying *c, const char *name, const char *why)
{
    if (c->result->n_skipped++ == 0)
        snprintf(c->result->skipped, sizeof(c->result->skipped), "%s: %s", name, why);
}

/* Returns NULL, or why a file or folder is not copied. */
static const char *find_fault(const struct copying *c, const struct stat *st, uint64_t max_bytes)
{
    if (c->rules->has_owner && st->st_uid != c->rules->owner)
        return "it belongs to another user";
    return (uint64_t)st->st_size > max_bytes ? "larger than its format allows" : NULL;
}

/* Copies the file @name, of which sessions have files. Returns 0 or an errno value. */
static int copy_entry(int from, int to, const char *name, uint64_t max_bytes, struct copying *c)
{
    struct stat st = {0};
    int         in = sxs_file_open_regular(SXS_FILES_OF(from), name, &st), out = -1, err = 0;
    const char *fault = in < 0 ? NULL : find_fault(c, &st, max_bytes);
    if (in == -ELOOP || in == -EINVAL)
        fault = "not a regular file";
    else if (in < 0)
        return in == -ENOENT ? 0 : -in; /* it was removed meanwhile */
    if (fault) {
        leave_out(c, name, fault);
    } else {
        out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        err = out < 0 ? errno : copy_file(in, out, c);
        c->result->n_files += !err;
    }
    if (out >= 0 && close(out) != 0 && !err)
        err = errno;
    if (in >= 0)
        close(in);
    return err;
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static int open_folder(int dir, const char *name)
{
    return openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Returns the type of an entry as DT_REG..., also on file systems that do not list it. */
static int type_of(int dir, const struct dirent *e)
{
    struct stat st;
    if (e->d_type != DT_UNKNOWN)
        return e->d_type;
    if (fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return DT_UNKNOWN;
    return S_ISDIR(st.st_mode) ? DT_DIR : S_ISREG(st.st_mode) ? DT_REG : DT_UNKNOWN;
}

static bool names_folder(const char *name)
{
    return sxs_session_names_process(name) || sxs_segment_name(name, NULL, NULL) ||
           strcmp(name, SXS_SEGMENT_KEPT) == 0;
}

static int copy_tree(int from, int to, int depth, struct copying *c);

// NOLINTNEXTLINE(misc-no-recursion): as deep as SESSION_DEPTH
static int copy_subfolder(int from, int to, const char *name, int depth, struct copying *c)
{
    struct stat st = {0};
    int         in = open_folder(from, name), out = -1;
    int         err = in < 0 || fstat(in, &st) != 0 ? errno : 0;
    const char *fault = err ? NULL : find_fault(c, &st, UINT64_MAX);
    if (fault) {
        leave_out(c, name, fault);
    } else if (!err) {
        if (mkdirat(to, name, 0700) != 0 && errno != EEXIST)
            err = errno;
        else
            out = open_folder(to, name);
        if (!err)
            err = out < 0 ? errno : copy_tree(in, out, depth + 1, c);
    }
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
    return err;
}

/* Returns true for a name that a session has only while a file is being made or removed in it. */
static bool is_passing(const char *name)
{
    size_t len = strlen(name);
    return *name == '.' || strncmp(name, SXS_HEAP_ASK_FILE ".", sizeof(SXS_HEAP_ASK_FILE)) == 0 ||
           (len > 5 && strcmp(name + len - 5, ".gone") == 0);
}

/* Copies what is a part of a session; the rest is left out. */
// NOLINTNEXTLINE(misc-no-recursion): as deep as SESSION_DEPTH
static int copy_named(int from, int to, const struct dirent *e, int depth, struct copying *c)
{
    const struct sxs_session_file *file = sxs_session_file_named(e->d_name);
    if (file)
        return copy_entry(from, to, e->d_name, file->max_bytes, c);
    if (names_folder(e->d_name) && depth < SESSION_DEPTH && type_of(from, e) == DT_DIR)
        return copy_subfolder(from, to, e->d_name, depth, c);
    if (!is_passing(e->d_name))
        leave_out(c, e->d_name, "no part of a session");
    return 0;
}

/* A limit that is reached ends the copy; after another failure it goes on. */
static bool ends_copy(int err)
{
    return err == EINTR || err == ETIMEDOUT || err == EFBIG || err == ENOSPC || err == EDQUOT;
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as SESSION_DEPTH
static int copy_tree(int from, int to, int depth, struct copying *c)
{
    DIR *d = sxs_tree_list(from, ".");
    int  first = d ? 0 : errno;
    for (struct dirent *e; d && !ends_copy(first) && (e = readdir(d));) {
        int err = check_limits(c);
        if (is_dots(e->d_name))
            continue;
        if (!err && c->n_entries++ >= MAX_ENTRIES)
            err = EFBIG;
        if (!err)
            err = copy_named(from, to, e, depth, c);
        if (err && (!first || ends_copy(err)))
            first = err;
    }
    if (d)
        closedir(d);
    return first;
}

/* Half of what is free stays free. */
static uint64_t room_in(int to, uint64_t max_bytes)
{
    struct statvfs st;
    uint64_t       half = fstatvfs(to, &st) == 0 ? (uint64_t)st.f_bavail * st.f_frsize / 2 : 0;
    return max_bytes && max_bytes < half ? max_bytes : half;
}

int sxs_copy_session(int from, int to, const struct sxs_copy_rules *rules,
                     struct sxs_copy_result *result)
{
    static const struct sxs_copy_rules none;
    struct sxs_copy_result             spare;
    struct copying                     c = {rules ? rules : &none, result ? result : &spare, 0, 0};
    struct stat                        st;
    *c.result = (struct sxs_copy_result){0};
    c.room = room_in(to, c.rules->max_bytes);
    if (fstat(from, &st) != 0)
        return errno;
    if (find_fault(&c, &st, UINT64_MAX))
        return EPERM;
    return copy_tree(from, to, 0, &c);
}
