/* SPDX-License-Identifier: MIT */
#include "base/tree.h"
#include "cmd/output/output_file.h"
#include "cmd/pack/pack.h"
#include "cmd/pack/pack_format.h"
#include "session/format/chunks.h"
#include "session/read/file_read.h"
#include "session/read/heap_read.h"
#include "session/read/session_files.h"

#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct pack_writer {
    struct archive       *to;
    uLong                 sum;
    struct sxs_pack_sums *sums;
    char                 *why; /* borrowed; holds `size` bytes */
    size_t                size;
};

static int fail(struct pack_writer *w, const char *name, const char *reason)
{
    snprintf(w->why, w->size, "%s: %s", name, reason ? reason : "cannot be written");
    return -1;
}

/* Begins an entry. @mtime: seconds since 1970. */
static int begin_entry(struct pack_writer *w, const char *name, uint64_t size, time_t mtime)
{
    struct archive_entry *e = archive_entry_new();
    if (!e)
        return fail(w, name, "out of memory");
    archive_entry_set_pathname(e, name);
    archive_entry_set_size(e, (int64_t)size);
    archive_entry_set_filetype(e, AE_IFREG);
    archive_entry_set_perm(e, 0600);
    archive_entry_set_mtime(e, mtime, 0);
    int err = archive_write_header(w->to, e);
    archive_entry_free(e);
    w->sum = sxs_pack_sum_head(w->sum, name, size);
    return err == ARCHIVE_OK ? 0 : fail(w, name, archive_error_string(w->to));
}

static int put_bytes(struct pack_writer *w, const char *name, const void *bytes, size_t size)
{
    w->sum = crc32_z(w->sum, bytes, size);
    if (archive_write_data(w->to, bytes, size) != (la_ssize_t)size)
        return fail(w, name, archive_error_string(w->to));
    return 0;
}

static int put_entry(struct pack_writer *w, const char *name, const void *bytes, size_t size)
{
    return begin_entry(w, name, size, 0) == 0 ? put_bytes(w, name, bytes, size) : -1;
}

/* Returns the check sum of @n zeros, without reading that many. */
static uLong sum_zeros(uint64_t n)
{
    uLong sum = crc32(0, NULL, 0), unit = crc32(sum, (const Bytef *)"", 1);
    for (uint64_t size = 1; n; n >>= 1, size *= 2) {
        if (n & 1)
            sum = crc32_combine(sum, unit, (z_off_t)size);
        unit = crc32_combine(unit, unit, (z_off_t)size);
    }
    return sum;
}

static int put_zeros(struct pack_writer *w, const char *name, uint64_t size)
{
    static const char zeros[1 << 18];
    w->sum = crc32_combine(w->sum, sum_zeros(size), (z_off_t)size);
    for (size_t n; size; size -= n) {
        n = size < sizeof(zeros) ? (size_t)size : sizeof(zeros);
        if (archive_write_data(w->to, zeros, n) != (la_ssize_t)n)
            return fail(w, name, archive_error_string(w->to));
    }
    return 0;
}

/* Packs the bytes from @at to @end, of which no byte is in a hole. */
static int put_range(struct pack_writer *w, const char *name, int fd, uint64_t at, uint64_t end)
{
    static char buffer[1 << 16];
    while (at < end) {
        size_t want = end - at < sizeof(buffer) ? (size_t)(end - at) : sizeof(buffer);
        size_t n = sxs_file_read_at(fd, buffer, want, at);
        if (n == 0)
            return fail(w, name, "became shorter while it was packed; pack the session again");
        if (put_bytes(w, name, buffer, n) != 0)
            return -1;
        at += n;
    }
    return 0;
}

/* Returns how many bytes of a file are packed: all, unless its format does not allow so many. Then
 * what has no data at the end is cut off, except for the rest of a chunk. */
static uint64_t packed_size(int fd, uint64_t size, uint64_t max_bytes)
{
    uint64_t end = 0;
    if (size <= max_bytes)
        return size;
    for (uint64_t at = 0; (at = sxs_file_next_data(fd, at, max_bytes)) < max_bytes; at = end)
        end = sxs_file_next_hole(fd, at + 1, max_bytes);
    if (end > SXS_HEADER_SIZE)
        end += (SXS_CHUNK_SIZE - (end - SXS_HEADER_SIZE) % SXS_CHUNK_SIZE) % SXS_CHUNK_SIZE;
    return end;
}

/* Packs an open file of the session up to its present size: it can still be growing. */
static int put_file(struct pack_writer *w, const char *name, int fd, const struct stat *st,
                    uint64_t max_bytes)
{
    uint64_t size = packed_size(fd, (uint64_t)st->st_size, max_bytes), at = 0;
    if (begin_entry(w, name, size, st->st_mtime) != 0)
        return -1;
    while (at < size) {
        uint64_t data = sxs_file_next_data(fd, at, size);
        uint64_t hole = sxs_file_next_hole(fd, data, size);
        if (hole <= data)
            hole = size;
        if (put_zeros(w, name, data - at) != 0 || put_range(w, name, fd, data, hole) != 0)
            return -1;
        at = hole;
    }
    w->sums->n_files++;
    return 0;
}

/* Packs the file @file of a process's folder if the process has it. */
static int put_file_of(struct pack_writer *w, int folder_fd, const char *folder, const char *file,
                       uint64_t max_bytes)
{
    char        name[512], why[256];
    struct stat st;
    int         fd = sxs_file_open_regular(SXS_FILES_OF(folder_fd), file, &st);
    snprintf(name, sizeof(name), "%s/%s", folder, file);
    if (fd < 0)
        return fd == -ENOENT ? 0 : fail(w, name, sxs_file_why(-fd, why, sizeof(why)));
    int err = put_file(w, name, fd, &st, max_bytes);
    close(fd);
    return err;
}

/* Packs the heap snapshots of a process. */
static int put_snapshots(struct pack_writer *w, int folder_fd, const char *folder)
{
    int            err = 0;
    DIR           *dir = sxs_tree_list(folder_fd, ".");
    struct dirent *entry;
    if (!dir)
        return fail(w, folder, strerror(errno));
    while (!err && (entry = readdir(dir)))
        if (sxs_heap_number_of(entry->d_name))
            err = put_file_of(w, folder_fd, folder, entry->d_name,
                              sxs_session_file_named(entry->d_name)->max_bytes);
    closedir(dir);
    return err;
}

static int put_process(struct pack_writer *w, int dir_fd, const char *folder)
{
    int err = 0;
    int fd = openat(dir_fd, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return fail(w, folder, strerror(errno));
    for (size_t i = 0; !err && i < sxs_session_n_files; i++)
        if (sxs_session_files[i].is_packed && !sxs_session_files[i].is_numbered)
            err = put_file_of(w, fd, folder, sxs_session_files[i].name,
                              sxs_session_files[i].max_bytes);
    if (!err)
        err = put_snapshots(w, fd, folder);
    close(fd);
    return err;
}

static int put_session(struct pack_writer *w, const char *dir, const struct sxs_session *s)
{
    int err = 0, fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return fail(w, dir, strerror(errno));
    for (size_t i = 0; !err && i < s->n_processes; i++)
        err = put_process(w, fd, s->processes[i].folder);
    for (size_t i = 0; !err && i < s->n_unread; i++)
        err = put_process(w, fd, s->unread[i].folder);
    close(fd);
    return err;
}

static int put_all(struct pack_writer *w, const char *dir, const struct sxs_session *session,
                   const uint8_t *names, size_t names_size)
{
    char end[16];
    if (put_entry(w, SXS_PACK_HEAD, SXS_PACK_VERSION, strlen(SXS_PACK_VERSION)) != 0 ||
        put_session(w, dir, session) != 0 || put_entry(w, SXS_PACK_NAMES, names, names_size) != 0)
        return -1;
    snprintf(end, sizeof(end), "%08lx\n", w->sum & 0xffffffffu);
    return put_entry(w, SXS_PACK_END, end, strlen(end));
}

static int write_archive(struct pack_writer *w, int fd, const char *dir,
                         const struct sxs_session *session, const uint8_t *names, size_t names_size)
{
    w->to = archive_write_new();
    if (!w->to)
        return fail(w, dir, "out of memory");
    int err = -1;
    if (archive_write_set_format_pax_restricted(w->to) != ARCHIVE_OK ||
        archive_write_add_filter_zstd(w->to) != ARCHIVE_OK ||
        archive_write_set_bytes_in_last_block(w->to, 1) != ARCHIVE_OK ||
        archive_write_open_fd(w->to, fd) != ARCHIVE_OK)
        fail(w, dir, archive_error_string(w->to));
    else
        err = put_all(w, dir, session, names, names_size);
    if (!err && archive_write_close(w->to) != ARCHIVE_OK)
        err = fail(w, dir, archive_error_string(w->to));
    archive_write_free(w->to);
    return err;
}

int sxs_pack_write(const char *dir, const struct sxs_session *session, const char *path,
                   const uint8_t *names, size_t names_size, struct sxs_pack_sums *sums, char *why,
                   size_t size)
{
    struct stat        st;
    struct sxs_output  out;
    struct pack_writer w = {.sums = sums, .why = why, .size = size};
    *sums = (struct sxs_pack_sums){0, 0};
    w.sum = crc32(0, NULL, 0);
    mode_t before = umask(0077); /* a session can hold values of the program */
    int    failed = sxs_output_open(&out, path);
    umask(before);
    if (failed)
        return fail(&w, path, sxs_output_error(failed));
    int err = write_archive(&w, fileno(out.to), dir, session, names, names_size);
    if (!err && fstat(fileno(out.to), &st) == 0 && S_ISREG(st.st_mode))
        sums->bytes = (uint64_t)st.st_size;
    failed = sxs_output_close(&out, err != 0);
    if (!err && failed)
        err = fail(&w, path, strerror(failed));
    return err;
}
