/* SPDX-License-Identifier: MIT */
#include "cmd/output/shown.h"
#include "cmd/pack/pack.h"
#include "cmd/pack/pack_format.h"
#include "session/read/session_files.h"
#include "cmd/pack/private_folder.h"
#include "cmd/symbols/names_table.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_ENTRIES 65536u              /* more than the files of any session */
#define MAX_TOTAL   ((uint64_t)1 << 34) /* bytes of all entries, and of the packed file */
/* A packed file can unpack to this many times its size: five times what real sessions need or more
 * (docs/internals/session.md has a table). Zeros, of which the files of a process that was killed can have
 * many, take no disk space when they are unpacked. */
#define MAX_RATIO      300u
#define MAX_ZERO_RATIO 4000u
#define MIN_ROOM       ((uint64_t)64 << 20) /* but always this many bytes, */
#define MIN_ZERO_ROOM  ((uint64_t)256 << 20) /* and this many together with zeros */

enum step { STEP_HEAD, STEP_SESSION, STEP_END, STEP_DONE }; /* the entry that comes next */

struct reader {
    struct archive *from;
    const char     *folder;
    enum step       step;
    size_t          n_entries;
    uint64_t        left; /* bytes that further entries can have, and of these those that */
    uint64_t        data_left; /* are not zeros */
    uLong           sum;
    char           *why; /* borrowed; holds `size` bytes */
    size_t          size;
};

__attribute__((format(printf, 2, 3))) static int refuse(struct reader *r, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(r->why, r->size, fmt, ap);
    va_end(ap);
    for (char *p = r->why; *p; p++) /* names of entries are untrusted */
        if ((unsigned char)*p < 0x20 || (unsigned char)*p >= 0x7f)
            *p = '?';
    return -1;
}

static int refuse_archive(struct reader *r)
{
    const char *text = archive_error_string(r->from);
    return refuse(r, "damaged: %s", text ? text : "it ends too early");
}

/* Returns the kind of a file "<pid>/<file>" of a session; NULL for other names. @folder: receives
 * "<pid>"; holds 256 bytes. */
static const struct sxs_session_file *names_file(const char *name, char *folder)
{
    const char *slash = strchr(name, '/');
    if (!slash || slash - name >= 256)
        return NULL;
    memcpy(folder, name, (size_t)(slash - name));
    folder[slash - name] = 0;
    const struct sxs_session_file *file = sxs_session_file_named(slash + 1);
    return file && file->is_packed && sxs_session_names_process(folder) ? file : NULL;
}

/* Reads the contents of an entry of at most @room bytes. Returns its size, or -1 after a failure. */
static la_ssize_t read_text(struct reader *r, char *out, size_t room)
{
    size_t n = 0;
    for (la_ssize_t got; n < room; n += (size_t)got) {
        got = archive_read_data(r->from, out + n, room - n);
        if (got < 0)
            return refuse_archive(r);
        if (got == 0)
            break;
    }
    return (la_ssize_t)n;
}

static int read_head(struct reader *r)
{
    char       text[16] = "";
    la_ssize_t n = read_text(r, text, sizeof(text) - 1);
    if (n < 0)
        return -1;
    r->sum = crc32(r->sum, (const Bytef *)text, (uInt)n);
    if (strcmp(text, SXS_PACK_VERSION) != 0)
        return refuse(r, "version %.*s of the format; expected version %.*s",
                      (int)strcspn(text, "\n"), text, (int)strcspn(SXS_PACK_VERSION, "\n"),
                      SXS_PACK_VERSION);
    r->step = STEP_SESSION;
    return 0;
}

static int read_end(struct reader *r, uLong sum)
{
    char       text[16] = "", expected[16];
    la_ssize_t n = read_text(r, text, sizeof(text) - 1);
    if (n < 0)
        return -1;
    snprintf(expected, sizeof(expected), "%08lx\n", sum & 0xffffffffu);
    if (strcmp(text, expected) != 0)
        return refuse(r, "damaged: its check sum is wrong");
    r->step = STEP_DONE;
    return 0;
}

static int write_all(int fd, const char *bytes, size_t size, uint64_t at)
{
    while (size) {
        ssize_t n = pwrite(fd, bytes, size, (off_t)at);
        if (n < 0 && errno != EINTR)
            return -1;
        if (n > 0) {
            bytes += n;
            at += (uint64_t)n;
            size -= (size_t)n;
        }
    }
    return 0;
}

static bool all_zero(const char *p, size_t size)
{
    return size == 0 || (p[0] == 0 && memcmp(p, p + 1, size - 1) == 0);
}

/* Writes a part of an entry; zeros become a hole. Returns 0, or -1 with errno; EFBIG: the pack unpacks to
 * too much. */
static int write_part(struct reader *r, int fd, const char *bytes, size_t size, uint64_t at)
{
    if (all_zero(bytes, size))
        return 0;
    if (size > r->data_left) {
        errno = EFBIG;
        return -1;
    }
    r->data_left -= size;
    return write_all(fd, bytes, size, at);
}

/* Unpacks the contents of an entry to the file @name. */
static int unpack(struct reader *r, const char *name, uint64_t size)
{
    static char buffer[1 << 16];
    uint64_t    done = 0;
    la_ssize_t  n = 0;
    int         fd = sxs_private_file(r->folder, name);
    if (fd < 0)
        return errno == EEXIST ? refuse(r, "damaged: it has '%s' twice", name)
                               : refuse(r, "%s: %s", r->folder, strerror(errno));
    while ((n = archive_read_data(r->from, buffer, sizeof(buffer))) > 0) {
        r->sum = crc32(r->sum, (const Bytef *)buffer, (uInt)n);
        if ((uint64_t)n > size - done || write_part(r, fd, buffer, (size_t)n, done) != 0)
            break;
        done += (uint64_t)n;
    }
    if (n == 0 && ftruncate(fd, (off_t)done) != 0)
        n = 1;
    int err = errno;
    close(fd);
    if (n > 0 && err == EFBIG)
        return refuse(r, "'%s': the pack has more data than expected: more than %u times its size",
                      name, MAX_RATIO);
    if (n > 0 && done <= size)
        return refuse(r, "%s: %s", r->folder, strerror(err));
    return n < 0 || done != size ? refuse_archive(r) : 0;
}

/* Checks the kind and the size of an entry before anything of it is unpacked. */
static int check_entry(struct reader *r, struct archive_entry *e, const char *name)
{
    int64_t size = archive_entry_size(e);
    if (archive_entry_filetype(e) != AE_IFREG || archive_entry_hardlink(e) ||
        archive_entry_symlink(e))
        return refuse(r, "'%s': not a regular file", name);
    if (++r->n_entries > MAX_ENTRIES)
        return refuse(r, "more than %u entries", MAX_ENTRIES);
    if (!archive_entry_size_is_set(e) || size < 0 || (uint64_t)size > r->left)
        return refuse(r, "'%s': %lld bytes; expected at most %llu, for which there is room", name,
                      (long long)size, (unsigned long long)r->left);
    r->left -= (uint64_t)size;
    return 0;
}

static int take_entry(struct reader *r, struct archive_entry *e)
{
    char        folder[256];
    const char *name = archive_entry_pathname(e);
    uLong       before = r->sum;
    if (!name || check_entry(r, e, name) != 0)
        return name ? -1 : refuse(r, "damaged: an entry without a name");
    uint64_t size = (uint64_t)archive_entry_size(e);
    r->sum = sxs_pack_sum_head(r->sum, name, size);
    if (r->step == STEP_HEAD)
        return strcmp(name, SXS_PACK_HEAD) == 0 ? read_head(r) : refuse(r, "not a packed session");
    if (r->step == STEP_SESSION && names_file(name, folder))
        return sxs_private_subfolder(r->folder, folder) == 0
                   ? unpack(r, name, size)
                   : refuse(r, "%s: %s", r->folder, strerror(errno));
    if (r->step == STEP_SESSION && strcmp(name, SXS_PACK_NAMES) == 0) {
        r->step = STEP_END;
        return size <= SXS_MAX_NAMES ? unpack(r, name, size)
                                     : refuse(r, "'%s': %llu bytes; expected at most %u", name,
                                              (unsigned long long)size, SXS_MAX_NAMES);
    }
    if (r->step == STEP_END && strcmp(name, SXS_PACK_END) == 0)
        return read_end(r, before);
    return refuse(r, "'%s' is not a file of a packed session, or not at its place", name);
}

static int check_names(struct reader *r)
{
    const char       *why = NULL;
    int               fd = open(r->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct sxs_names *names = fd < 0 ? NULL : sxs_names_read(fd, &why);
    if (fd >= 0)
        close(fd);
    if (!names)
        return refuse(r, "its names: %s", why ? why : "missing");
    sxs_names_free(names);
    return 0;
}

static int read_entries(struct reader *r, int fd)
{
    struct archive_entry *e;
    int                   err;
    if (archive_read_support_filter_zstd(r->from) != ARCHIVE_OK ||
        archive_read_support_format_tar(r->from) != ARCHIVE_OK ||
        archive_read_open_fd(r->from, fd, 1 << 16) != ARCHIVE_OK)
        return refuse(r, "not a packed session");
    while ((err = archive_read_next_header(r->from, &e)) == ARCHIVE_OK)
        if (take_entry(r, e) != 0)
            return -1;
    if (err != ARCHIVE_EOF)
        return r->step == STEP_HEAD ? refuse(r, "not a packed session") : refuse_archive(r);
    if (r->step != STEP_DONE)
        return r->step == STEP_HEAD ? refuse(r, "not a packed session")
                                    : refuse(r, "damaged: it ends too early");
    return check_names(r);
}

static uint64_t at_most(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Sets how much may be unpacked, by the size of the packed file without its holes. */
static void set_room(struct reader *r, int fd)
{
    struct stat st;
    uint64_t    size = fstat(fd, &st) == 0
                           ? at_most((uint64_t)st.st_size,
                                     st.st_blocks ? (uint64_t)st.st_blocks * 512 : UINT64_MAX)
                           : 0;
    uint64_t    room = sxs_private_room(r->folder), zeros = size * MAX_ZERO_RATIO;
    r->data_left = size * MAX_RATIO > MIN_ROOM ? size * MAX_RATIO : MIN_ROOM;
    r->left = at_most(at_most(room, MAX_TOTAL), zeros > MIN_ZERO_ROOM ? zeros : MIN_ZERO_ROOM);
}

static int read_pack(struct reader *r, int fd)
{
    r->from = archive_read_new();
    r->folder = r->from ? sxs_private_folder() : NULL;
    if (!r->folder) {
        archive_read_free(r->from);
        return refuse(r, "no folder can be made below TMPDIR: %s", strerror(errno));
    }
    set_room(r, fd);
    r->sum = crc32(0, NULL, 0);
    int err = read_entries(r, fd);
    archive_read_free(r->from);
    if (err)
        sxs_private_remove(r->folder);
    return err;
}

int sxs_pack_open(const char *path, const char **dir, char *why, size_t size)
{
    struct stat   st;
    struct reader r = {.why = why, .size = size};
    *dir = path;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return 0;
    if ((uint64_t)st.st_size > MAX_TOTAL)
        return refuse(&r, "not a packed session: larger than any");
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return refuse(&r, "%s", strerror(errno));
    int err = read_pack(&r, fd);
    close(fd);
    if (err)
        return -1;
    *dir = r.folder;
    sxs_show_as(r.folder, path);
    return 0;
}
