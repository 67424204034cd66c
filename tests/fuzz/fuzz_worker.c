/* SPDX-License-Identifier: MIT */
/* fuzz_worker.c - bytes as what a worker for symbols answers that a hostile file has taken over. See fuzz.h. The first
 * byte says which reader asks: the reader of names of native functions, or that of lines of managed
 * methods. Messages follow: a struct head, and the bytes. Whatever they are, the command keeps no
 * descriptor and no text without an end, and gives an answer. */
#include "tests/fuzz/fuzz.h"

#include "cmd/symbols/answers.h"
#include "cmd/symbols/native.h"
#include "cmd/symbols/sources.h"
#include "cmd/symbols/worker_message.h"
#include "cmd/symbols/worker_process.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>

/* What comes with a message. */
enum passed {
    NOTHING,
    SEALED,
    SEALED_LARGE,
    SEALED_EMPTY,
    PARTLY,
    UNSEALED,
    DEVICE,
    TWO,
    N_PASSED
};

#define SIZE       600u
#define LARGE_SIZE (49u << 20) /* more than a PDB of others may have */

struct head {
    uint8_t  passed, repeat; /* how often the bytes are sent again in the same message */
    uint16_t size;
};

static int            files[N_PASSED];
static const uint8_t *messages; /* of the input at work */
static size_t         n_messages;

/* Time stands still, so that the budget of a command is enough for all inputs. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
    (void)clock;
    *now = (struct timespec){1000, 0};
    return 0;
}

/* ---- the process, which is none ----------------------------------------------------------------- */

static void send_message(int to, const struct head *h, const uint8_t *bytes)
{
    static uint8_t all[sizeof(struct sxs_symbol_message) + 64];
    size_t         n = 0, n_fds = h->passed == TWO ? 2 : 1;
    union {
        struct cmsghdr align;
        char           bytes[CMSG_SPACE(2 * sizeof(int))];
    } control = {0};
    for (unsigned i = 0; i <= h->repeat && n + h->size <= sizeof(all); i++, n += h->size)
        memcpy(all + n, bytes, h->size);
    struct iovec  part = {all, n};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
    if (h->passed % N_PASSED != NOTHING) {
        const int fds[2] = {files[h->passed % N_PASSED], files[SEALED]};
        m.msg_control = &control;
        m.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
        memcpy(CMSG_DATA(c), fds, n_fds * sizeof(int));
    }
    (void)!sendmsg(to, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Sends all messages of the input, and the end. */
pid_t sxs_symbol_process_start(const struct sxs_symbol_job *job, int fd)
{
    struct head h;
    (void)job;
    for (size_t at = 0; n_messages - at >= sizeof(h); at += h.size) {
        memcpy(&h, messages + at, sizeof(h));
        at += sizeof(h);
        if (h.size > n_messages - at)
            break;
        send_message(fd, &h, messages + at);
    }
    shutdown(fd, SHUT_WR);
    MUST(dup2(fd, files[NOTHING]) >= 0); /* until the next start: requests find a reader */
    return INT_MAX;
}

int sxs_symbol_process_end(pid_t pid)
{
    MUST(pid == INT_MAX);
    return -1;
}

void sxs_symbol_starter(const struct sxs_confinement *c, const struct sxs_symbol_job *jobs, size_t n)
{
    (void)c;
    (void)jobs;
    (void)n;
    MUST(0); /* nobody makes one here */
}

/* ---- who asks ----------------------------------------------------------------------------------- */

static void check_text(const char *text, size_t most)
{
    MUST(text && strlen(text) <= most);
}

static void ask_names(void)
{
    static const struct sxs_lookup nowhere;
    static const char              path[] = "/usr/lib/libany.so";
    struct sxs_natives            *all = sxs_natives_new(&nowhere);
    bool                           end;
    uint32_t file = sxs_natives_add(all, path, sizeof(path), (const uint8_t *)"", 0);
    for (unsigned i = 0; i < 3; i++) {
        struct sxs_native_name name;
        sxs_natives_name(all, file, 0x1000 + i, &name);
        check_text(name.symbol, SXS_ELF_TEXT);
        check_text(name.source, SXS_ELF_TEXT);
        MUST(name.line <= INT32_MAX && name.at_line <= INT32_MAX);
        fuzz_whole += strcmp(name.symbol, "?") != 0;
    }
    const char *problem = sxs_natives_problem(all, file, &end);
    if (problem)
        check_text(problem, 127);
    sxs_natives_free(all);
}

static void ask_lines(void)
{
    static const struct sxs_lookup nowhere;
    static const char              path[] = "/usr/lib/any.dll";
    struct sxs_sources            *all = sxs_sources_new(&nowhere);
    struct sxs_pdb_line            line;
    bool                           end;
    uint32_t                       assembly = sxs_sources_add(all, path, sizeof(path));
    if (sxs_sources_find(all, assembly, 0x6000001, 0, &line))
        check_text(line.file, SXS_SYMBOL_WORKER_MESSAGE);
    const char *problem = sxs_sources_problem(all, assembly, &end);
    if (problem)
        check_text(problem, SXS_SYMBOL_WORKER_MESSAGE);
    fuzz_whole += problem && strstr(problem, "not the PDB of") != NULL;
    fuzz_whole += problem && strstr(problem, "its PDB is damaged") != NULL; /* it was mapped */
    sxs_sources_free(all);
}

static int make_file(size_t size, unsigned seals)
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    MUST(fd >= 0 && ftruncate(fd, (off_t)size) == 0);
    MUST(!seals || fcntl(fd, F_ADD_SEALS, (int)seals) == 0);
    return fd;
}

static void make_files(void)
{
    files[NOTHING] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    files[SEALED] = make_file(SIZE, SXS_PDB_SEALS);
    files[SEALED_LARGE] = make_file(LARGE_SIZE, SXS_PDB_SEALS);
    files[SEALED_EMPTY] = make_file(0, SXS_PDB_SEALS);
    files[PARTLY] = make_file(SIZE, F_SEAL_GROW | F_SEAL_WRITE);
    files[UNSEALED] = make_file(SIZE, 0);
    files[DEVICE] = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    files[TWO] = make_file(SIZE, SXS_PDB_SEALS);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (!files[SEALED])
        make_files();
    if (!size)
        return 0;
    messages = bytes + 1;
    n_messages = size - 1;
    int before = dup(files[SEALED]);
    close(before);
    if (bytes[0] & 1)
        ask_lines();
    else
        ask_names();
    int after = dup(files[SEALED]);
    close(after);
    MUST(before == after); /* no descriptor is left */
    return 0;
}

#ifndef SXS_LIBFUZZER
/* Each part of a made input may be wrong; most are not, so that what follows is met. */
static uint64_t odd(uint64_t right)
{
    static const uint64_t wrong[] = {
        0, 1, 2, 0x7f, 0xff, 0xffff, SXS_ELF_TEXT, SXS_ELF_TEXT + 1, UINT64_MAX};
    return roll(12) ? right : wrong[roll(9)];
}

static size_t put_message(uint8_t *out, unsigned passed, const void *bytes, size_t size)
{
    struct head h = {(uint8_t)(roll(15) ? passed : roll(N_PASSED)), 0,
                     (uint16_t)(roll(15) ? size : roll(size + 1))};
    if (!roll(60))
        h.repeat = (uint8_t)roll(256);
    memcpy(out, &h, sizeof(h));
    memcpy(out + sizeof(h), bytes, h.size);
    return sizeof(h) + h.size;
}

static size_t put_answer(uint8_t *out, unsigned passed, const void *bytes, size_t size)
{
    static struct sxs_symbol_message m;
    m.tell = (uint8_t)(roll(30) ? SXS_TELL_ANSWER : roll(256));
    memcpy(m.bytes, bytes, size);
    return put_message(out, passed, &m, SXS_SYMBOL_HEAD + size);
}

static size_t put_tells(uint8_t *out)
{
    size_t n = 0;
    for (uint64_t left = roll(3); left-- > 0;) {
        uint8_t tell = (uint8_t)(roll(20) ? SXS_TELL_LIMITED + roll(2) : roll(256));
        n += put_message(out + n, NOTHING, &tell, 1);
    }
    return n;
}

static void put_text(char *to, size_t size)
{
    for (size_t i = 0; i < size; i++)
        to[i] = (char)(roll(200) ? 'a' + (char)roll(26) : (char)roll(256));
}

static size_t make_opened(uint8_t *out)
{
    struct sxs_elf_opened o = {.build_id_size = (uint8_t)odd(SXS_BUILD_ID)};
    uint8_t               raw[sizeof(o)];
    put_text(o.problem, roll(4) ? roll(sizeof(o.problem)) : sizeof(o.problem) - !roll(2));
    memcpy(raw, &o, sizeof(o));
    raw[offsetof(struct sxs_elf_opened, is_ours)] = (uint8_t)odd(roll(2));
    raw[offsetof(struct sxs_elf_opened, is_usable)] = (uint8_t)odd(1);
    raw[offsetof(struct sxs_elf_opened, no_debug)] = (uint8_t)odd(roll(2));
    return put_answer(out, NOTHING, raw, sizeof(raw));
}

static size_t make_named(uint8_t *out)
{
    static uint8_t       raw[sizeof(struct sxs_elf_named) + 800];
    uint64_t             symbol = roll(400), source = roll(400);
    struct sxs_elf_named n = {(uint32_t)odd(symbol), (uint32_t)odd(source), (uint32_t)odd(7),
                              (uint32_t)odd(9)};
    memcpy(raw, &n, sizeof(n));
    put_text((char *)raw + sizeof(n), symbol + source);
    return put_answer(out, NOTHING, raw, sizeof(n) + symbol + source);
}

static size_t make_found(uint8_t *out)
{
    static uint8_t       raw[sizeof(struct sxs_pdb_found) + 200];
    unsigned             passed = (unsigned)roll(N_PASSED);
    uint64_t             size = passed == NOTHING || passed == SEALED_EMPTY ? 0
                                : passed == SEALED_LARGE                    ? LARGE_SIZE
                                                                            : SIZE;
    struct sxs_pdb_found f = {.size = odd(size)};
    size_t               wrong = roll(3) ? 0 : roll(200);
    put_text(f.problem, roll(2) ? 0 : sizeof(f.problem) - !roll(2));
    memcpy(raw, &f, sizeof(f));
    raw[offsetof(struct sxs_pdb_found, is_ours)] = (uint8_t)odd(roll(2));
    put_text((char *)raw + sizeof(f), wrong);
    return put_answer(out, passed, raw, sizeof(f) + wrong);
}

static size_t fuzz_make(uint8_t *out)
{
    size_t n = 1;
    out[0] = (uint8_t)roll(2);
    for (uint64_t i = 0, left = 1 + roll(5); i < left; i++) {
        n += put_tells(out + n);
        n += out[0] && roll(20) ? make_found(out + n)
             : i && roll(20)    ? make_named(out + n)
                                : make_opened(out + n);
    }
    return roll(4) ? n : 1 + fuzz_mutate(out + 1, n - 1);
}

int main(int argc, char **argv)
{
    return fuzz_main(argc, argv, "series of answers of workers");
}
#endif
