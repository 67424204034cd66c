/* SPDX-License-Identifier: MIT */
#include "tools/recorder/perf_map.h"

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
#include "base/session_state.h"
#include "base/text/utf8.h"

#define ROUND_NS    UINT64_C(1000000000)
#define ROUND_BYTES (4u << 20)   /* read at a time */
#define FILE_BYTES  (256u << 20) /* read of a file */
#define MAX_PIECES  (1u << 18)
#define MAX_PIECE   (64u << 20) /* bytes of code; a larger piece is none */
#define MAX_REGIONS 256u
#define NEAR        (1u << 20)

struct piece {
    uint64_t lo;
    uint32_t size, name_at; /* name_at: offset of the name in the file */
};

struct region {
    _Atomic uintptr_t lo, hi;
};

static struct {
    pid_t         pid; /* whose file it is; another one after a fork */
    dev_t         device;
    ino_t         inode;
    uint64_t      read_to; /* bytes */
    uint64_t      next_ns;
    struct piece *pieces; /* MAX_PIECES, mapped when the first is found; in the order of the file */
    size_t        n;
} map;
static struct region    regions[MAX_REGIONS];
static _Atomic unsigned n_regions;
/* The code outlives a session, and so does what is known of it. */
SXS_SESSION_KEEPS(map);
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

/* ---- the file -------------------------------------------------------------------------------- */

/* Opens the file for reading. Returns -1 if there is none, or one that others may have written. */
static int open_map(struct stat *st)
{
    char path[64];
    int  fd;
    snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
    fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    if (fstat(fd, st) == 0 && S_ISREG(st->st_mode) && st->st_uid == geteuid() &&
        !(st->st_mode & (S_IWGRP | S_IWOTH)))
        return fd;
    close(fd);
    return -1;
}

static void forget(void)
{
    map.n = 0;
    map.read_to = 0;
    atomic_store(&n_regions, 0);
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Reads a number and the blanks behind it. Returns what follows, or NULL. */
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
    if (n == MAX_REGIONS)
        return;
    atomic_store(&regions[n].lo, lo);
    atomic_store(&regions[n].hi, hi);
    atomic_store_explicit(&n_regions, n + 1, memory_order_release);
}

static struct piece *new_piece(void)
{
    if (!map.pieces) {
        void *memory = mmap(NULL, MAX_PIECES * sizeof(*map.pieces), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED)
            return NULL;
        map.pieces = memory;
    }
    return map.n < MAX_PIECES ? &map.pieces[map.n] : NULL;
}

/* @at: offset of the line in the file. */
static void take_line(const char *line, const char *end, uint64_t at)
{
    uint64_t      lo, size;
    const char   *rest = read_hex(line, end, &lo), *name;
    struct piece *piece;
    name = rest ? read_hex(rest, end, &size) : NULL;
    if (!name || name == end || !lo || !size || size > MAX_PIECE || lo >> 47 || (lo + size) >> 47)
        return;
    piece = new_piece();
    if (!piece)
        return;
    *piece = (struct piece){lo, (uint32_t)size, (uint32_t)(at + (uint64_t)(name - line))};
    map.n++;
    add_region(lo, lo + size);
}

static char text[64u << 10]; /* one thread at a time reads */
SXS_SESSION_KEEPS(text);

/* Takes the whole lines of the text, which begins at the file's offset map.read_to. Returns their bytes. */
static size_t take_lines(size_t size)
{
    size_t      taken = 0;
    const char *end;
    while ((end = memchr(text + taken, '\n', size - taken)) != NULL) {
        take_line(text + taken, end, map.read_to + taken);
        taken = (size_t)(end - text) + 1;
    }
    return taken;
}

/* A line without an end is read again next time, unless it fills the buffer. */
static void read_lines(int fd, uint64_t size)
{
    uint64_t    until = map.read_to + ROUND_BYTES;
    until = until < size ? until : size;
    until = until < FILE_BYTES ? until : FILE_BYTES;
    while (map.read_to < until) {
        ssize_t n = pread(fd, text, sizeof(text), (off_t)map.read_to);
        size_t  taken = n > 0 ? take_lines((size_t)n) : 0;
        if (n <= 0 || (!taken && (size_t)n < sizeof(text)))
            return;
        map.read_to += taken ? taken : (size_t)n;
    }
}

static int read_map(void *unused)
{
    struct stat st;
    int         fd = open_map(&st);
    (void)unused;
    if (map.pid != getpid()) {
        map.pid = getpid();
        forget();
    }
    if (fd < 0)
        return 0;
    if (st.st_dev != map.device || st.st_ino != map.inode || (uint64_t)st.st_size < map.read_to)
        forget();
    map.device = st.st_dev;
    map.inode = st.st_ino;
    read_lines(fd, (uint64_t)st.st_size);
    close(fd);
    return 0;
}

int sxs_perf_map_update(void)
{
    uint64_t now = sxs_now_ns(CLOCK_MONOTONIC);
    size_t   before = map.n;
    if (now < map.next_ns && map.pid == getpid())
        return 0;
    map.next_ns = now + ROUND_NS;
    sxs_descriptors_call(read_map, NULL);
    return !before && map.n;
}

/* ---- names ----------------------------------------------------------------------------------- */

struct question {
    const struct piece   *piece;
    struct sxs_perf_code *out;
};

/* The file may have been exchanged since its lines were read; then the piece has no name. */
static int read_name(void *arg)
{
    struct question      *q = arg;
    struct sxs_perf_code *out = q->out;
    struct stat           st;
    int                   fd = open_map(&st);
    ssize_t               n = -1;
    const char           *end;
    if (fd < 0)
        return -1;
    if (st.st_dev == map.device && st.st_ino == map.inode)
        n = pread(fd, out->name, sizeof(out->name), (off_t)q->piece->name_at);
    close(fd);
    if (n <= 0)
        return -1;
    end = memchr(out->name, '\n', (size_t)n);
    out->name_size = (unsigned)(end ? end - out->name : n);
    for (unsigned i = 0; i < out->name_size; i++)
        if (sxs_is_control((unsigned char)out->name[i]) && !((unsigned char)out->name[i] & 0x80))
            out->name[i] = ' ';
    return out->name_size ? 0 : -1;
}

int sxs_perf_map_find(uintptr_t ip, struct sxs_perf_code *out)
{
    struct question q = {.out = out};
    if (!sxs_perf_map_has(ip) || map.pid != getpid())
        return 0;
    for (size_t i = map.n; i-- > 0 && !q.piece;)
        if (ip - map.pieces[i].lo < map.pieces[i].size)
            q.piece = &map.pieces[i];
    if (!q.piece || sxs_descriptors_call(read_name, &q) != 0)
        return 0;
    out->lo = q.piece->lo;
    out->hi = q.piece->lo + q.piece->size;
    snprintf(out->file, sizeof(out->file), "perf-%d.map", (int)map.pid);
    return 1;
}
