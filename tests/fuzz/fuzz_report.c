/* SPDX-License-Identifier: MIT */
/*
 * Damaged sessions through the verbs "report" and "diff" of the command, in every format and with their options. The
 * session has two processes, and each process all seven files: census, samples, calls with values, events, instrumented
 * methods, traced calls and guests. fuzz.h has the options. An input:
 *
 *   byte 0     what is run: one of `verbs`
 *   byte 1     with which options: one of `options`
 *   then, for each file that changes:
 *     1 byte   0 to 6: which of `names`; + 8: of the second process; + 16: cut, else zeros follow up to its whole size
 *     4 bytes  the size of what follows, little-endian
 *     bytes    what the file has instead
 */
#define FUZZ_MAX (1u << 20)
#include "session/format/calls.h"
#include "session/format/guests.h"
#include "session/format/instrument.h"
#include "session/format/session.h"
#include "session/format/thread_names.h"
#include "session/format/traced.h"
#include "cmd/command.h"
#include "tests/fuzz/fuzz.h"
#include "tests/profile/samples_file.h"

#include "session/format/events.h"

#include <stdbool.h>
#include <sys/stat.h>

/* The makers of the tests, each with its main() renamed. */
int make_calls(int argc, char **argv);
int make_events(int argc, char **argv);
int make_instrument(int argc, char **argv);
int make_guests(int argc, char **argv);

enum { CENSUS, SAMPLES, CALLS, EVENTS, INSTRUMENT, TRACED, GUESTS, THREADS, N_FILES };
static const char *const names[N_FILES] = {SXS_CENSUS_FILE, SXS_SAMPLES_FILE,     SXS_CALLS_FILE,
                                           SXS_EVENTS_FILE, SXS_INSTRUMENT_FILE,  SXS_TRACED_FILE,
                                           SXS_GUESTS_FILE, SXS_THREAD_NAMES_FILE};
static const char *const pids[2] = {"4242", "4243"};

enum { SECOND = 8, CUT = 16 };

/* NULL: diff, of the damaged session and the whole one, then the other way round. */
static const char *const verbs[] = {"text", "json", "html",  "collapsed", "speedscope", "pprof",
                                    "chrome", "firefox", NULL};
static const char *const options[][2] = {{"--top=20", "--single=50"}, {"--data=calls", NULL},
                                         {"--data=samples", NULL},    {"--runtime=2", NULL},
                                         {"--thread=main", NULL},     {"--native", NULL},
                                         {"--managed", NULL},         {"--callers=Inner", NULL},
                                         {"--by-thread", "--depth=3"}, {"--process=4243", NULL},
                                         {"--data=calls", "--thread=1*"},
                                         {"--data=alloc", NULL},      {"--data=live", "--by-count"},
                                         {"--data=native", "--runtime=1"},
                                         {"--data=native-live", "--managed"},
                                         {"--data=locks", NULL},       {"--data=lock-owners", NULL}};

#define N_VERBS   (sizeof(verbs) / sizeof(verbs[0]))
#define N_OPTIONS (sizeof(options) / sizeof(options[0]))

static struct whole_file {
    uint8_t *bytes;
    size_t   size, used; /* used: up to the last byte that is not zero */
} whole[N_FILES];

static char root[64]; /* with the folders "session", which changes, and "whole" */
static bool reporting;

/* ---- the session ------------------------------------------------------------------------------ */

static void path_of(char *out, size_t size, const char *folder, const char *pid, const char *name)
{
    snprintf(out, size, "%s/%s/%s/%s", root, folder, pid, name);
}

static void write_file(const char *folder, const char *pid, int file, const uint8_t *bytes,
                       size_t size, size_t whole_size)
{
    char  path[256];
    FILE *f;
    path_of(path, sizeof(path), folder, pid, names[file]);
    f = fopen(path, "w");
    if (!f || (size && fwrite(bytes, size, 1, f) != 1) || fflush(f) != 0 ||
        (size < whole_size && ftruncate(fileno(f), (off_t)whole_size) != 0) || fclose(f) != 0)
        exit(1);
}

static void read_whole(int file)
{
    struct whole_file *w = &whole[file];
    char               path[256];
    struct stat        st;
    FILE              *f;
    path_of(path, sizeof(path), "session", pids[0], names[file]);
    f = fopen(path, "r");
    if (!f || fstat(fileno(f), &st) != 0)
        exit(1);
    w->size = w->used = (size_t)st.st_size;
    w->bytes = malloc(w->size);
    if (!w->bytes || fread(w->bytes, 1, w->size, f) != w->size)
        exit(1);
    fclose(f);
    while (w->used && !w->bytes[w->used - 1])
        w->used--;
}

static void make_samples(void)
{
    static struct samples_file    f;
    char                          path[256];
    const uint64_t                ips[] = {0x8010, 0x9010, 0x7f0000000100, 0x8110};
    struct sxs_record_difference *d;
    path_of(path, sizeof(path), "session", pids[0], SXS_SAMPLES_FILE);
    FILE *to = fopen(path, "w");
    if (!to)
        exit(1);
    samples_begin(&f, to, 4242, "fuzz");
    add_runtime(&f, 1, "8.0.29", "/net/libcoreclr.so");
    add_runtime(&f, 2, "9.0.18", "/net/9/libcoreclr.so");
    add_thread(&f, 100, "main", 2);
    add_module(&f, 1, 0x7f0000000000, 0x7f0000000000, 0x7f0000100000, "/net/libclrgc.so", 0);
    for (uint16_t i = 0; i < 40; i++) {
        add_code(&f, i, 0x8000 + i * 0x80u, 0x8100 + i * 0x80u, (uint16_t)(1 + i % 2), SXS_TIER_1, "A.B.C<int>(D)");
        add_sample(&f, 1000000000u + i, 100 + i % 3, i % 5, ips, SXS_SAMPLE_END_BOTTOM, i & 1);
    }
    add_pause(&f, 1000000010, 5, 1);
    d = samples_add(&f, SXS_RECORD_DIFFERENCE, sizeof(*d) + 2 * sizeof(d->frames[0]));
    d->time_ns = 1000000020;
    d->tid = 100;
    d->n = 2;
    d->frames[0].ip = 0x8010;
    d->frames[1].ip = 0x9010;
    add_costs(&f, 1000000030, ips, 4);
    samples_end(&f);
    if (fclose(to) != 0)
        exit(1);
}

static void make_thread_names(void)
{
    static unsigned char            bytes[SXS_HEADER_SIZE + SXS_CHUNK_SIZE];
    struct sxs_thread_names_header *head = (void *)bytes;
    struct sxs_chunk_header        *chunk = (void *)(bytes + SXS_HEADER_SIZE);
    struct sxs_thread_name         *name = (void *)(chunk + 1);
    memcpy(head->magic, SXS_THREAD_NAMES_MAGIC, sizeof(head->magic));
    head->version = SXS_THREAD_NAMES_VERSION;
    head->chunk_size = SXS_CHUNK_SIZE;
    head->pid = 4242;
    head->n_chunks = head->max_chunks = 1;
    chunk->magic = SXS_CHUNK_MAGIC;
    for (uint32_t i = 0; i < 20; i++, name = (void *)((char *)name + name->head.size)) {
        name->head.size = 64;
        name->head.mark = SXS_RECORD_MARK;
        name->time_ns = 1000000000u + i;
        name->ended_ns = i % 3 ? 0 : 1000000000u + i;
        name->tid = 100 + i % 5;
        name->size = (uint16_t)snprintf(name->text, 32, "Order-Processor-Shard-%u", i);
        name->head.type = SXS_THREAD_NAMES_NAME;
    }
    chunk->used = (uint32_t)((unsigned char *)name - (unsigned char *)chunk);
    write_file("session", pids[0], THREADS, bytes, sizeof(bytes), 0);
}

static void run_maker(int (*maker)(int, char **), char *kind)
{
    char  name[] = "maker", dir[128];
    char *args[] = {name, dir, kind, NULL};
    snprintf(dir, sizeof(dir), "%s/session", root);
    if (maker(kind ? 3 : 2, args) != 0)
        exit(1);
}

static void remove_all(void)
{
    char path[256];
    for (int folder = 0; folder < 2; folder++) {
        const char *in = folder ? "whole" : "session";
        for (int pid = 0; pid < 2; pid++) {
            for (int file = 0; file < N_FILES; file++) {
                path_of(path, sizeof(path), in, pids[pid], names[file]);
                unlink(path);
            }
            path_of(path, sizeof(path), in, pids[pid], "");
            rmdir(path);
        }
        path_of(path, sizeof(path), in, "", "");
        rmdir(path);
    }
    rmdir(root);
}

/* The command ends the program when it has no memory: no report may come to that. */
static void must_not_exit(void)
{
    if (reporting)
        _exit(99);
}

static void make_session(void)
{
    char values[] = "values", path[256];
    const char *tmp = getenv("TMPDIR");
    snprintf(root, sizeof(root), "%.40s/fuzz-report-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(root))
        exit(1);
    atexit(remove_all);
    run_maker(make_calls, values);
    run_maker(make_events, NULL);
    run_maker(make_instrument, NULL);
    run_maker(make_guests, NULL);
    make_samples();
    make_thread_names();
    path_of(path, sizeof(path), "whole", "", "");
    mkdir(path, 0700);
    for (int pid = 0; pid < 2; pid++)
        for (int folder = 0; folder < 2; folder++) {
            path_of(path, sizeof(path), folder ? "whole" : "session", pids[pid], "");
            mkdir(path, 0700);
        }
    for (int file = 0; file < N_FILES; file++) {
        read_whole(file);
        write_file("session", pids[1], file, whole[file].bytes, whole[file].size, 0);
        for (int pid = 0; pid < 2; pid++)
            write_file("whole", pids[pid], file, whole[file].bytes, whole[file].size, 0);
    }
    atexit(must_not_exit); /* called before remove_all() */
    /* What the command says of damage is of no interest here; a sanitizer writes to descriptor 2. */
    stderr = fopen("/dev/null", "w");
    if (!stderr)
        exit(1);
}

/* ---- a run ------------------------------------------------------------------------------------ */

static void run_verb(unsigned verb, unsigned option)
{
    char  session[128], other[128], format[32];
    char  name[] = "sxsprof report", output[] = "--output=/dev/null";
    char *args[8] = {name, output};
    int   n = 2, ours = optind; /* the driver's own arguments are parsed by the same getopt() */
    snprintf(session, sizeof(session), "%s/session", root);
    snprintf(other, sizeof(other), "%s/whole", root);
    reporting = true;
    if (!verbs[verb % N_VERBS]) {
        for (int i = 0; i < 2; i++) {
            char calls[] = "--data=calls", costs[] = "--data=alloc";
            char *data = option & 2 ? costs : calls;
            args[n] = i ? other : session;
            args[n + 1] = i ? session : other;
            args[n + 2] = option & 1 ? data : NULL;
            optind = 0;
            sxs_cmd_diff(option & 1 ? n + 3 : n + 2, args);
        }
    } else {
        snprintf(format, sizeof(format), "--format=%s", verbs[verb % N_VERBS]);
        args[n++] = format;
        for (int i = 0; i < 2; i++)
            if (options[option % N_OPTIONS][i])
                args[n++] = (char *)(uintptr_t)options[option % N_OPTIONS][i];
        args[n++] = session;
        args[n] = NULL;
        optind = 0;
        fuzz_whole += sxs_cmd_report(n, args) == SXS_EXIT_OK;
    }
    reporting = false;
    optind = ours;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    bool changed[2][N_FILES] = {{false}};
    if (!root[0])
        make_session();
    if (size < 2)
        return 0;
    const uint8_t *at = bytes + 2, *end = bytes + size;
    while (end - at >= 5) {
        uint32_t len;
        unsigned which = *at++, file = which % 8, pid = which & SECOND ? 1 : 0;
        memcpy(&len, at, sizeof(len));
        at += sizeof(len);
        if (len > (size_t)(end - at))
            len = (uint32_t)(end - at);
        if (file < N_FILES) {
            write_file("session", pids[pid], (int)file, at, len, which & CUT ? 0 : whole[file].size);
            changed[pid][file] = true;
        }
        at += len;
    }
    run_verb(bytes[0], bytes[1]);
    for (int pid = 0; pid < 2; pid++)
        for (int file = 0; file < N_FILES; file++)
            if (changed[pid][file])
                write_file("session", pids[pid], file, whole[file].bytes, whole[file].size, 0);
    return 0;
}

/* ---- inputs ----------------------------------------------------------------------------------- */

#ifndef SXS_LIBFUZZER
/* Mostly what a file of numbers is damaged by: words replaced by odd ones, by small ones and by each other. */
static void damage(uint8_t *b, size_t size)
{
    static const uint64_t odd[] = {0, 1, 7, 8, 0xff, 0xffff, 0x10000, 0x7fffffff, 0xffffffff,
                                   (uint64_t)INT64_MAX, UINT64_MAX};
    for (uint64_t n = 1 + roll(roll(2) ? 4 : 24); n-- > 0 && size >= 16;) {
        size_t   at = roll(size / 8 - 1) * 8 + roll(3) * 4, from = roll(size / 8 - 1) * 8;
        size_t   width = (size_t)1 << roll(4);
        uint32_t small = (uint32_t)roll(2000);
        if (at + 8 > size)
            at = size - 8;
        switch (roll(7)) {
        case 0: memcpy(b + at, &odd[roll(11)], width); break;
        case 1: memcpy(b + at, &small, width < 4 ? width : 4); break;
        case 2: memcpy(b + at, b + from, width); break;
        case 3: memset(b + at, 0, roll(size - at < 512 ? size - at : 512)); break;
        case 4: memmove(b + at, b + from, size - (at > from ? at : from) < 256 ? 8 : 64 * roll(5)); break;
        case 5: b[at + roll(8)] ^= (uint8_t)(1u << roll(8)); break;
        default: fuzz_mutate(b + at, 8); break;
        }
    }
}

static size_t fuzz_make(uint8_t *out)
{
    static const uint8_t often[] = {CENSUS, SAMPLES, SAMPLES, CALLS, CALLS, CALLS, EVENTS, EVENTS,
                                    INSTRUMENT, TRACED, TRACED, GUESTS, THREADS};
    size_t               at = 0;
    if (!root[0])
        make_session();
    out[at++] = (uint8_t)roll(N_VERBS);
    out[at++] = (uint8_t)(roll(2) ? 0 : roll(N_OPTIONS));
    for (uint64_t n = 1 + roll(3); n-- > 0;) {
        unsigned which = often[roll(sizeof(often))];
        uint32_t len = (uint32_t)whole[which].used;
        uint8_t *head = &out[at];
        if (at + 5 + len > FUZZ_MAX)
            break;
        memcpy(out + at + 5, whole[which].bytes, len);
        damage(out + at + 5, len);
        which |= roll(2) ? SECOND : 0;
        if (!roll(8)) {
            which |= CUT;
            len = (uint32_t)roll(len);
        }
        head[0] = (uint8_t)which;
        memcpy(head + 1, &len, sizeof(len));
        at += 5 + len;
    }
    return at;
}

int main(int argc, char **argv)
{
    return fuzz_main(argc, argv, "damaged sessions");
}
#endif
