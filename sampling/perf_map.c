/* SPDX-License-Identifier: MIT */
#include "sampling/perf_map.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptors.h"
#include "base/log.h"
#include "base/session_state.h"
#include "base/text/utf8.h"
#include "sampling/jit_dump.h"

#define ROUND_NS    UINT64_C(1000000000)
#define LOOK_NS     (10 * ROUND_NS) /* between two searches for a file jit-PID.dump */
#define ROUND_BYTES (4u << 20)      /* read at a time */
#define FILE_BYTES  (256u << 20)    /* read of a map */
#define ROUND_READS 256u            /* of a dump, whose code is skipped */
#define DUMP_BYTES  (UINT32_MAX - SXS_JIT_DUMP_LOAD) /* of a dump that are looked at */
#define MAX_PIECES  (1u << 18)
#define MAX_PIECE   (64u << 20) /* bytes of code; a larger piece is none */
#define MAX_REGIONS 256u
#define NEAR        (1u << 20)
#define LINE_HEAD   128u /* bytes of a line before its name, at most */

struct perf_piece {
    uint64_t lo;
    uint32_t size, name_at; /* name_at: offset of the name in the file */
};

struct region {
    _Atomic uintptr_t lo, hi;
};

/* A file that names code. */
struct perf_source {
    dev_t    device;
    ino_t    inode;
    uint64_t read_to;   /* bytes */
    int      is_behind; /* 1: the file had more than was read in one round */
    struct perf_piece
          *pieces; /* MAX_PIECES, mapped when the first is found; in the order of the file */
    size_t n;
};

static struct {
    pid_t              pid; /* whose files they are; another one after a fork */
    uint64_t           next_ns;
    struct perf_source map;
    struct perf_source dump;
    char               dump_path[4096]; /* "": none is known */
    unsigned long      dump_inode;      /* of the file that is mapped */
    uint64_t           look_ns;         /* when one may be looked for again */
    int                is_wanted;       /* 1: there is code that no file has named */
    int                is_inside;       /* 1: map.read_to is inside of a line, which was taken */
    int                is_stale;        /* 1: lines of the map are not where they were */
    int                is_full;         /* 1: a limit is reached */
    int                dump_damaged;    /* 1: what follows dump.read_to cannot be read */
} known;
static struct region    regions[MAX_REGIONS];
static _Atomic unsigned n_regions;
static int              is_said; /* 1: that a limit is reached */
SXS_SESSION_RESETS(is_said);
/* The code outlives a session, and so does what is known of it. */
SXS_SESSION_KEEPS(known);
SXS_SESSION_KEEPS(regions);
SXS_SESSION_KEEPS(n_regions);

SXS_SIGSAFE int sxs_perf_map_has(uintptr_t ip)
{
    unsigned n = atomic_load_explicit(&n_regions, memory_order_acquire);
    for (unsigned i = 0; i < n; i++)
        if (ip >= atomic_load_explicit(&regions[i].lo, memory_order_relaxed) &&
            ip < atomic_load_explicit(&regions[i].hi, memory_order_relaxed))
            return 1;
    return 0;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static void add_region(uintptr_t lo, uintptr_t hi)
{
    unsigned n = atomic_load(&n_regions);
    for (unsigned i = 0; i < n; i++) {
        uintptr_t from = atomic_load(&regions[i].lo), to = atomic_load(&regions[i].hi);
        if (lo > to + NEAR || hi + NEAR < from)
            continue;
        if (lo < from)
            atomic_store(&regions[i].lo, lo);
        if (hi > to)
            atomic_store(&regions[i].hi, hi);
        return;
    }
    if (n == MAX_REGIONS) {
        known.is_full = 1;
        return;
    }
    atomic_store(&regions[n].lo, lo);
    atomic_store(&regions[n].hi, hi);
    atomic_store_explicit(&n_regions, n + 1, memory_order_release);
}

/* Takes a piece of code, unless it cannot be one. */
static void add_piece(struct perf_source *from, uint64_t lo, uint64_t size, uint64_t name_at)
{
    if (!lo || !size || size > MAX_PIECE || lo >> 47 || (lo + size) >> 47)
        return;
    if (!from->pieces) {
        void *memory = mmap(NULL, MAX_PIECES * sizeof(*from->pieces), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED)
            return;
        from->pieces = memory;
    }
    if (from->n == MAX_PIECES) {
        known.is_full = 1;
        return;
    }
    from->pieces[from->n++] = (struct perf_piece){lo, (uint32_t)size, (uint32_t)name_at};
    add_region(lo, lo + size);
}

static void add_regions(const struct perf_source *from)
{
    for (size_t i = 0; i < from->n; i++)
        add_region(from->pieces[i].lo, from->pieces[i].lo + from->pieces[i].size);
}

static void forget(struct perf_source *from)
{
    from->read_to = 0;
    from->is_behind = 0;
    known.is_full = 0;
    if (from == &known.map)
        known.is_inside = known.is_stale = 0;
    if (!from->n)
        return;
    from->n = 0;
    atomic_store(&n_regions, 0);
    add_regions(&known.map);
    add_regions(&known.dump);
}

/* ---- the files ------------------------------------------------------------------------------- */

/* Opens a file for reading. Returns -1 if there is none, or one that others may have written. */
static int open_own(const char *path, struct stat *st)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    if (fstat(fd, st) == 0 && S_ISREG(st->st_mode) && st->st_uid == geteuid() &&
        !(st->st_mode & (S_IWGRP | S_IWOTH)))
        return fd;
    close(fd);
    return -1;
}

static int open_map(struct stat *st)
{
    char path[64];
    snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
    return open_own(path, st);
}

/* The path may lead to another file than the one that is mapped; that one is not read. */
static int open_dump(struct stat *st)
{
    int fd = known.dump_path[0] ? open_own(known.dump_path, st) : -1;
    if (fd < 0 || st->st_ino == known.dump_inode)
        return fd;
    close(fd);
    return -1;
}

/* Forgets what was read of a file that has been exchanged or has become shorter. */
static void note_file(struct perf_source *from, const struct stat *st)
{
    if (st->st_dev != from->device || st->st_ino != from->inode ||
        (uint64_t)st->st_size < from->read_to)
        forget(from);
    from->device = st->st_dev;
    from->inode = st->st_ino;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Reads a number and the blanks after it. Returns what follows, or NULL. */
static const char *read_hex(const char *at, const char *end, uint64_t *out)
{
    const char *from = at;
    *out = 0;
    if (end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))
        from = at += 2;
    for (; at < end; at++) {
        int digit = *at >= '0' && *at <= '9'   ? *at - '0'
                    : *at >= 'a' && *at <= 'f' ? *at - 'a' + 10
                    : *at >= 'A' && *at <= 'F' ? *at - 'A' + 10
                                               : -1;
        if (digit < 0)
            break;
        *out = *out << 4 | (unsigned)digit;
    }
    if (at == from || at - from > 16 || at == end || *at != ' ')
        return NULL;
    while (at < end && *at == ' ')
        at++;
    return at;
}

/* @at: offset of the line in the file. */
static void take_line(const char *line, const char *end, uint64_t at)
{
    uint64_t      lo, size;
    const char   *rest = read_hex(line, end, &lo), *name;
    name = rest ? read_hex(rest, end, &size) : NULL;
    if (name && name != end && name - line <= LINE_HEAD)
        add_piece(&known.map, lo, size, at + (uint64_t)(name - line));
}

static char text[64u << 10]; /* one thread at a time reads */
SXS_SESSION_KEEPS(text);

/* Takes the whole lines of the text, which begins at the file's offset known.map.read_to. Returns their bytes. */
static size_t take_lines(size_t size)
{
    size_t      taken = 0;
    const char *end;
    if (known.is_inside) {
        end = memchr(text, '\n', size);
        known.is_inside = !end;
        taken = end ? (size_t)(end - text) + 1 : size;
    }
    while ((end = memchr(text + taken, '\n', size - taken)) != NULL) {
        take_line(text + taken, end, known.map.read_to + taken);
        taken = (size_t)(end - text) + 1;
    }
    return taken;
}

/* A line without an end is read again next time. If it fills the buffer, it is taken without its end: names are
 * shorter. */
static void read_lines(int fd, uint64_t size)
{
    uint64_t until = known.map.read_to + ROUND_BYTES, end = size < FILE_BYTES ? size : FILE_BYTES;
    known.map.is_behind = until < end;
    if (size > FILE_BYTES && known.map.read_to >= FILE_BYTES)
        known.is_full = 1;
    until = until < end ? until : end;
    while (known.map.read_to < until) {
        ssize_t n = pread(fd, text, sizeof(text), (off_t)known.map.read_to);
        size_t  taken = n > 0 ? take_lines((size_t)n) : 0;
        if (n <= 0 || (!taken && (size_t)n < sizeof(text)))
            return;
        if (!taken) {
            take_line(text, text + n, known.map.read_to);
            known.is_inside = 1;
        }
        known.map.read_to += taken ? taken : (size_t)n;
    }
}

static void read_map(void)
{
    struct stat st;
    int         fd = open_map(&st);
    if (fd < 0)
        return;
    note_file(&known.map, &st);
    if (known.is_stale)
        forget(&known.map);
    read_lines(fd, (uint64_t)st.st_size);
    close(fd);
}

/* ---- records --------------------------------------------------------------------------------- */

/* Takes the whole records of the text, @n bytes of the file from dump.read_to on. @size: bytes of the
 * file. Returns the bytes of the file that they have, which may be more than @n; 0: there is no whole
 * record, or what follows is damaged. */
static uint64_t take_records(size_t n, uint64_t size)
{
    const uint8_t        *bytes = (const uint8_t *)text;
    uint64_t              taken = 0, at = known.dump.read_to;
    struct sxs_jit_record record;
    if (at == 0) {
        taken = n >= SXS_JIT_DUMP_HEADER ? sxs_jit_dump_header(bytes) : 0;
        known.dump_damaged = n >= SXS_JIT_DUMP_HEADER && !taken;
        if (!taken)
            return 0;
    }
    while (taken < n && n - taken >= SXS_JIT_DUMP_PREFIX) {
        int read = sxs_jit_dump_record(bytes + taken, n - taken, &record);
        if (read < 0)
            known.dump_damaged = 1;
        if (read <= 0 || record.size > size - at - taken)
            break;
        if (record.is_load && at + taken < DUMP_BYTES)
            add_piece(&known.dump, record.lo, record.code_size, at + taken + SXS_JIT_DUMP_LOAD);
        taken += record.size;
    }
    return taken;
}

/* A record without its end is read again next time. */
static void read_records(int fd, uint64_t size)
{
    known.dump.is_behind = 0;
    for (unsigned i = 0; i < ROUND_READS && !known.dump_damaged && known.dump.read_to < size &&
                         known.dump.read_to < DUMP_BYTES;
         i++) {
        ssize_t  n = pread(fd, text, sizeof(text), (off_t)known.dump.read_to);
        uint64_t taken = n > 0 ? take_records((size_t)n, size) : 0;
        if (!taken)
            return;
        known.dump.read_to += taken;
    }
    if (known.dump.read_to >= DUMP_BYTES)
        known.is_full = 1;
    known.dump.is_behind =
        !known.dump_damaged && known.dump.read_to < size && known.dump.read_to < DUMP_BYTES;
}

static void read_dump(uint64_t now)
{
    struct stat st;
    int         fd;
    if (!known.dump_path[0] && known.is_wanted && now >= known.look_ns) {
        known.is_wanted = 0;
        known.look_ns = now + LOOK_NS;
        if (!sxs_jit_dump_path(known.dump_path, sizeof(known.dump_path), &known.dump_inode))
            known.dump_path[0] = '\0';
    }
    if (!known.dump_path[0])
        return;
    fd = open_dump(&st);
    if (fd < 0) { /* what was read of it stays, without names */
        known.dump_path[0] = '\0';
        return;
    }
    note_file(&known.dump, &st);
    if (known.dump.read_to == 0)
        known.dump_damaged = 0;
    read_records(fd, (uint64_t)st.st_size);
    close(fd);
}

/* ---- both ------------------------------------------------------------------------------------ */

static int read_files(void *now)
{
    if (known.pid != getpid()) {
        known.pid = getpid();
        forget(&known.map);
        forget(&known.dump);
        known.dump_path[0] = '\0';
        known.look_ns = 0;
    }
    read_map();
    read_dump(*(const uint64_t *)now);
    return 0;
}

int sxs_perf_map_update(void)
{
    uint64_t now = sxs_now_ns(CLOCK_MONOTONIC);
    size_t   in_map = known.map.n, in_dump = known.dump.n;
    int      map_was_behind = known.map.is_behind, dump_was_behind = known.dump.is_behind;
    if (now < known.next_ns && known.pid == getpid())
        return 0;
    known.next_ns = now + ROUND_NS;
    sxs_descriptors_call(read_files, &now);
    if (known.is_full && !is_said) {
        is_said = 1;
        sxs_warn("perf-%d.map or jit-%d.dump: more code than names are kept of (%u pieces, files of "
                 "%u MiB): further code has no name, or that of earlier code at its address",
                 (int)known.pid, (int)known.pid, MAX_PIECES, FILE_BYTES >> 20);
    }
    return (!in_map && known.map.n) || (!in_dump && known.dump.n) ||
           (map_was_behind && !known.map.is_behind) || (dump_was_behind && !known.dump.is_behind);
}

/* ---- names ----------------------------------------------------------------------------------- */

struct perf_question {
    const struct perf_source *source;
    const struct perf_piece  *piece;
    struct sxs_perf_code     *out;
};

/* Copies a name. @size: its bytes, or more than SXS_PERF_NAME: then it is cut, and marked as such. Returns the
 * bytes of the copy. */
static size_t copy_name(char *to, const char *name, size_t size)
{
    static const char dots[] = "...";
    size_t            kept = SXS_PERF_NAME - (sizeof(dots) - 1);
    if (size <= SXS_PERF_NAME) {
        memcpy(to, name, size);
        return size;
    }
    while (kept && !sxs_utf8_begins(name[kept]))
        kept--;
    memcpy(to, name, kept);
    memcpy(to + kept, dots, sizeof(dots) - 1);
    return kept + sizeof(dots) - 1;
}

/* Whether the text from @at to @name, which ends at @end, is the beginning of the piece's line. */
static int begins_line(const char *at, const char *name, const char *end,
                       const struct perf_piece *piece)
{
    uint64_t    lo, size;
    const char *rest = read_hex(at, end, &lo);
    return rest && read_hex(rest, end, &size) == name && lo == piece->lo && size == piece->size;
}

/* Reads a line's name. Returns its length in bytes, or 0 when the file was rewritten and another line is there. */
static size_t read_map_name(int fd, const struct perf_piece *piece, char *to)
{
    char        bytes[LINE_HEAD + SXS_PERF_NAME + 1];
    size_t      head = piece->name_at < LINE_HEAD ? piece->name_at : LINE_HEAD, room;
    ssize_t     n = pread(fd, bytes, head + SXS_PERF_NAME + 1, (off_t)(piece->name_at - head));
    const char *line, *end;
    if (n <= (ssize_t)head) {
        known.is_stale = n >= 0;
        return 0;
    }
    room = (size_t)n - head;
    line = memrchr(bytes, '\n', head);
    end = memchr(bytes + head, '\n', room);
    if (!begins_line(line ? line + 1 : bytes, bytes + head, bytes + n, piece) ||
        (!end && room <= SXS_PERF_NAME)) {
        known.is_stale = 1;
        return 0;
    }
    return copy_name(to, bytes + head, end ? (size_t)(end - bytes) - head : room);
}

/* The same, from a record. It is read again, because the name must end inside of it. */
static size_t read_dump_name(int fd, const struct perf_piece *piece, char *to)
{
    uint8_t               bytes[SXS_JIT_DUMP_LOAD + SXS_PERF_NAME + 1];
    struct sxs_jit_record record;
    ssize_t     n = pread(fd, bytes, sizeof(bytes), (off_t)piece->name_at - SXS_JIT_DUMP_LOAD);
    size_t      room;
    const void *end;
    if (n <= (ssize_t)SXS_JIT_DUMP_LOAD || sxs_jit_dump_record(bytes, (size_t)n, &record) != 1 ||
        !record.is_load || record.lo != piece->lo)
        return 0;
    room = (size_t)n - SXS_JIT_DUMP_LOAD;
    room = room < record.name_room ? room : (size_t)record.name_room;
    end = memchr(bytes + SXS_JIT_DUMP_LOAD, 0, room);
    if (!end && room <= SXS_PERF_NAME)
        return 0;
    room = end ? (size_t)((const uint8_t *)end - bytes) - SXS_JIT_DUMP_LOAD : room;
    return copy_name(to, (const char *)bytes + SXS_JIT_DUMP_LOAD, room);
}

/* The file may have been exchanged since it was read; then the piece has no name. */
static int read_name(void *arg)
{
    struct perf_question *q = arg;
    struct sxs_perf_code *out = q->out;
    struct stat           st;
    int                   is_map = q->source == &known.map;
    int                   fd = is_map ? open_map(&st) : open_dump(&st);
    if (fd < 0)
        return -1;
    out->name_size = 0;
    if (st.st_dev == q->source->device && st.st_ino == q->source->inode)
        out->name_size = (unsigned)(is_map ? read_map_name(fd, q->piece, out->name)
                                           : read_dump_name(fd, q->piece, out->name));
    close(fd);
    for (unsigned i = 0; i < out->name_size; i++)
        if (sxs_is_control((unsigned char)out->name[i]) && !((unsigned char)out->name[i] & 0x80))
            out->name[i] = ' ';
    return out->name_size ? 0 : -1;
}

static int find_in(const struct perf_source *source, uintptr_t ip, struct sxs_perf_code *out)
{
    struct perf_question q = {.source = source, .out = out};
    for (size_t i = source->n; i-- > 0 && !q.piece;)
        if (ip - source->pieces[i].lo < source->pieces[i].size)
            q.piece = &source->pieces[i];
    if (!q.piece || sxs_descriptors_call(read_name, &q) != 0)
        return 0;
    out->lo = q.piece->lo;
    out->hi = q.piece->lo + q.piece->size;
    snprintf(out->file, sizeof(out->file), source == &known.map ? "perf-%d.map" : "jit-%d.dump",
             (int)known.pid);
    return 1;
}

int sxs_perf_map_find(uintptr_t ip, struct sxs_perf_code *out)
{
    if (sxs_perf_map_has(ip) && known.pid == getpid() &&
        (find_in(&known.map, ip, out) || find_in(&known.dump, ip, out)))
        return 1;
    known.is_wanted = 1;
    return 0;
}
