/* SPDX-License-Identifier: MIT */
/** live_fixture.h - a file "samples" that is made in memory, and then written to the disk step by
 *  step, as several threads of a process do it. For test_live.c, which includes cmocka.h first. */
#ifndef SXS_TESTS_LIVE_FIXTURE_H
#define SXS_TESTS_LIVE_FIXTURE_H

#include "tests/profile/census_file.h"
#include "tests/profile/samples_file.h"
#include "tests/unit/dice.h"

#define MS        1000000u
#define BEGAN     (50 * UINT64_C(1000000000))
#define FUNCTIONS 300u
#define LATE_MAX  4096u

static char     dir[] = "/tmp/sxsprof-test.XXXXXX";
static uint64_t virtual_ns;

static uint64_t virtual_now(void)
{
    return virtual_ns;
}

/* ---- the file in memory ---- */

static struct samples_file made;
static char               *image;
static size_t              image_size;

static uint64_t code_at(unsigned function)
{
    return 0x7f0000000000u + function * 0x1000u;
}

static void name_function(unsigned function, uint64_t time, unsigned version)
{
    char name[64];
    snprintf(name, sizeof(name), "App.Type%u.Method%u(v%u)", function % 7, function, version);
    add_code(&made, time, code_at(function), code_at(function) + 0x800,
             (uint16_t)(function % 3 + 1), (enum sxs_code_tier)(function % 4), name);
}

/* Functions get their names up to 0.3 s after their first sample, and a pause is recorded at its
 * end. Some addresses never have a name; some have another one later. */
static void make_samples(unsigned n)
{
    static uint64_t due[FUNCTIONS];
    static unsigned version[FUNCTIONS];
    uint64_t        pause = 0;
    memset(due, 0, sizeof(due));
    memset(version, 0, sizeof(version));
    for (unsigned i = 0; i < n; i++) {
        uint64_t t = BEGAN + i * 5 * (uint64_t)MS, ips[24];
        uint16_t depth = (uint16_t)(1 + roll(23));
        uint32_t tid = 100 + (uint32_t)roll(6);
        for (unsigned k = 0; k < depth; k++) {
            unsigned function = (unsigned)roll(1 + FUNCTIONS * (i + 1) / n);
            ips[k] = code_at(function % FUNCTIONS) + 8 * roll(16) + 1;
            if (!due[function % FUNCTIONS])
                due[function % FUNCTIONS] = t + roll(300) * MS;
        }
        if (roll(10) == 0)
            ips[roll(depth)] = 0xdead0000 + roll(100);
        if (roll(5) == 0)
            ips[0] = 0x5000000 + roll(1000);
        add_sample(&made, t, tid, depth, ips, SXS_SAMPLE_END_BOTTOM, roll(4) == 0 ? SXS_WAITS : 0);
        if (pause && t > pause + 180 * (uint64_t)MS) {
            add_pause(&made, pause, 170 * MS, 1 + (uint16_t)roll(3));
            struct sxs_record_pause *p =
                (void *)(made.chunk + made.used - ((sizeof(*p) + 7) & ~7u));
            p->tid = 100;
            pause = 0;
        } else if (!pause && roll(60) == 0) {
            pause = t;
        }
        for (unsigned f = 0; f < FUNCTIONS; f++)
            if (due[f] && due[f] <= t) {
                name_function(f, due[f] - 300 * MS, version[f]++);
                due[f] = roll(40) ? UINT64_MAX : t + 3000 * (uint64_t)MS; /* another one later */
            }
    }
    if (pause)
        add_pause(&made, pause, 1, 1);
}

static void begin_image(void)
{
    free(image); /* of the test before */
    image = NULL;
    FILE *to = open_memstream(&image, &image_size);
    samples_begin(&made, to, (uint32_t)getpid(), "app");
    made.head.started_ns = BEGAN;
    for (uint32_t i = 0; i < 3; i++) {
        char path[64];
        snprintf(path, sizeof(path), "/net/%s/libcoreclr.so", versions[i]);
        add_runtime(&made, i + 1, versions[i], path);
    }
    for (uint32_t tid = 100; tid < 106; tid++)
        add_thread(&made, tid, tid == 105 ? ".NET BGC" : "worker", 1u << (1 + tid % 3));
    add_module(&made, BEGAN, 0x5000000, 0x5000000, 0x5001000, "/net/8.0.29/libcoreclr.so", 0);
}

static void end_image(void)
{
    made.head.ended_ns = BEGAN + 1000000 * (uint64_t)MS;
    samples_end(&made);
    fclose(made.to);
}

/* ---- the file on the disk ---- */

struct late {
    size_t   at;
    uint32_t size;
    unsigned step;
};

static struct {
    int         fd;
    size_t      at; /* of the image, up to which it is written */
    struct late late[LATE_MAX];
    size_t      n_late;
    uint64_t    time_ns; /* of the newest sample */
} disk;

static void put(size_t at, size_t size)
{
    assert_int_equal(pwrite(disk.fd, image + at, size, (off_t)at), (ssize_t)size);
}

static void open_disk(void)
{
    char                      path[256];
    struct sxs_samples_header head;
    write_census(dir, (uint32_t)getpid());
    snprintf(path, sizeof(path), "%s/%u/" SXS_SAMPLES_FILE, dir, (unsigned)getpid());
    disk.fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(disk.fd >= 0);
    memcpy(&head, image, sizeof(head));
    head.ended_ns = 0;
    assert_int_equal(pwrite(disk.fd, &head, sizeof(head), 0), sizeof(head));
    assert_int_equal(ftruncate(disk.fd, SXS_HEADER_SIZE + 2 * SXS_CHUNK_SIZE), 0);
    disk.at = SXS_HEADER_SIZE;
    disk.n_late = 0;
    disk.time_ns = BEGAN;
}

/* Writes the next record, or only a part of it. Returns false at the end. */
static bool write_record(unsigned step)
{
    size_t chunk = SXS_HEADER_SIZE + (disk.at - SXS_HEADER_SIZE) / SXS_CHUNK_SIZE * SXS_CHUNK_SIZE;
    uint32_t used, head[4];
    if (disk.at == chunk)
        disk.at += sizeof(struct sxs_chunk_header);
    if (disk.at >= image_size)
        return false;
    memcpy(&used, image + chunk + offsetof(struct sxs_chunk_header, used), sizeof(used));
    if (disk.at - chunk >= used) {
        disk.at = chunk + SXS_CHUNK_SIZE;
        return disk.at < image_size;
    }
    const struct sxs_record *r = (const void *)(image + disk.at);
    uint32_t                 size = r->size;
    if (r->type == SXS_RECORD_SAMPLE)
        disk.time_ns = ((const struct sxs_record_sample *)(const void *)r)->time_ns;
    uint64_t kind = roll(12);
    memcpy(head, image + chunk, sizeof(head));
    head[2] = (uint32_t)(disk.at - chunk) + size;
    assert_int_equal(ftruncate(disk.fd, (off_t)(chunk + 2 * SXS_CHUNK_SIZE)), 0);
    assert_int_equal(pwrite(disk.fd, head, sizeof(head), (off_t)chunk), sizeof(head));
    if (kind < 2 && disk.n_late < 200) { /* 0: reserved only; 1: not committed */
        if (kind)
            put(disk.at, 6);
        disk.late[disk.n_late++] = (struct late){disk.at, size, step + 1 + (unsigned)roll(2)};
    } else {
        put(disk.at, size);
    }
    disk.at += size;
    return true;
}

static void write_late(unsigned step)
{
    size_t kept = 0;
    for (size_t i = 0; i < disk.n_late; i++)
        if (disk.late[i].step <= step)
            put(disk.late[i].at, disk.late[i].size);
        else
            disk.late[kept++] = disk.late[i];
    disk.n_late = kept;
}

static void end_disk(void)
{
    write_late(UINT32_MAX);
    put(0, sizeof(struct sxs_samples_header));
}

#endif
