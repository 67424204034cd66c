/* SPDX-License-Identifier: MIT */
/* test_processes.c - parts of cmd/processes: the protocol of diagnostics ports with a runtime that is
 * played by the test, names of containers, versions, copies of folders. */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/held.h"
#include "base/tree.h"
#include "cmd/processes/account.h"
#include "cmd/processes/container.h"
#include "cmd/processes/copy.h"
#include "cmd/processes/diagnostics.h"
#include "cmd/processes/examine.h"
#include "cmd/processes/ports.h"
#include "cmd/processes/written.h"
#include "cmd/symbols/elf_exports.h"
#include "runtime_facts/version.h"
#include "session/format/samples.h"

/* ---- messages -------------------------------------------------------------------------------- */

static void a_request_has_the_layout_of_the_protocol(void **state)
{
    static uint8_t out[SXS_DIAG_MAX];
    (void)state;
    assert_int_equal(sxs_diag_request(out, 3, 1, "abc", 3), 23);
    assert_memory_equal(out, "DOTNET_IPC_V1\0\x17\0\x03\x01\0\0abc", 23);
    assert_int_equal(sxs_diag_request(out, 4, 4, NULL, 0), 20);
    assert_int_equal(sxs_diag_request(out, 4, 4, out, SXS_DIAG_MAX), 0);
}

static void an_attach_has_timeout_class_path_and_data(void **state)
{
    static uint8_t out[SXS_DIAG_MAX];
    const uint8_t  clsid[16] = {1, 2, 3};
    (void)state;
    size_t        size = sxs_diag_attach_payload(out, 0x01020304, clsid, "/\xc3\xa4", "xy", 2);
    const uint8_t expected[] = {4, 3, 2, 1, 1, 2, 3,   0, 0,    0, 0, 0, 0, 0, 0, 0, 0,   0,
                                0, 0, 3, 0, 0, 0, '/', 0, 0xe4, 0, 0, 0, 2, 0, 0, 0, 'x', 'y'};
    assert_int_equal(size, sizeof(expected));
    assert_memory_equal(out, expected, sizeof(expected));
    assert_int_equal(sxs_diag_attach_payload(out, 1, clsid, "/\xff", "", 0), 0); /* no UTF-8 */
    assert_int_equal(sxs_diag_attach_payload(out, 1, clsid, "/a", out, SXS_DIAG_MAX), 0);
}

static size_t put_string(uint8_t *at, const char *text)
{
    size_t n = strlen(text) + 1;
    memset(at, 0, 4 + 2 * n);
    at[0] = (uint8_t)n;
    for (size_t i = 0; i < n; i++)
        at[4 + 2 * i] = (uint8_t)text[i];
    return 4 + 2 * n;
}

/* Writes the payload of an answer to ProcessInfo2. Returns its size. */
static size_t put_info(uint8_t *out)
{
    static const char *const texts[] = {"run app", "Linux", "x64", "app", "10.0.11"};
    size_t                   at = 24;
    memset(out, 0, at);
    out[0] = 42;
    memcpy(out + 8, "0123456789abcdef", 16); /* NOLINT(bugprone-not-null-terminated-result) */
    for (size_t i = 0; i < 5; i++)
        at += put_string(out + at, texts[i]);
    return at;
}

static void info_is_read_and_refused_at_each_shorter_size(void **state)
{
    static uint8_t       payload[512];
    struct sxs_diag_info info;
    size_t               size = put_info(payload);
    (void)state;
    assert_int_equal(sxs_diag_parse_info(payload, size, &info), 0);
    assert_int_equal(info.pid, 42);
    assert_string_equal(info.version, "10.0.11");
    assert_memory_equal(info.cookie, "0123456789abcdef", 16);
    for (size_t cut = 0; cut < size; cut++) {
        uint8_t *exact = malloc(cut ? cut : 1); /* a sanitizer sees reads after it */
        memcpy(exact, payload, cut);
        assert_int_equal(sxs_diag_parse_info(exact, cut, &info), -1);
        free(exact);
    }
}

static void an_answer_is_refused_when_it_is_damaged(void **state)
{
    static uint8_t         bytes[SXS_DIAG_MAX];
    struct sxs_diag_answer answer;
    size_t                 size = sxs_diag_request(bytes, 0xFF, 0, "four", 4);
    (void)state;
    assert_int_equal(sxs_diag_parse_answer(bytes, size, &answer), 0);
    assert_int_equal(answer.size, 4);
    for (size_t cut = 0; cut < size; cut++)
        assert_int_equal(sxs_diag_answer_size(bytes, cut), 0);
    bytes[3] ^= 1;
    assert_int_equal(sxs_diag_answer_size(bytes, 4), (size_t)-1);
    bytes[3] ^= 1;
    bytes[14] = 19; /* shorter than its header */
    assert_int_equal(sxs_diag_answer_size(bytes, size), (size_t)-1);
    bytes[14] = 24;
    bytes[16] = 4; /* not of a server */
    assert_int_equal(sxs_diag_parse_answer(bytes, size, &answer), -1);
    bytes[16] = 0xFF;
    bytes[17] = 0xFF;                          /* an error code */
    memcpy(bytes + 20, "\x6a\x13\x13\x80", 4); /* NOLINT(bugprone-not-null-terminated-result) */
    assert_int_equal(sxs_diag_parse_answer(bytes, size, &answer), 0);
    assert_int_equal(answer.failed, 1);
    assert_int_equal(answer.error, 0x8013136A);
    assert_non_null(strstr(sxs_diag_hresult(answer.error), "ALREADY_ACTIVE"));
    assert_null(sxs_diag_hresult(0x12345678));
    assert_int_equal(sxs_diag_parse_answer(bytes, size - 1, &answer), -1);
}

/* Any bytes at all: nothing is read after the end, which the sanitizers watch. */
static void random_bytes_are_parsed_or_refused(void **state)
{
    unsigned seed = 17;
    (void)state;
    for (int round = 0; round < 20000; round++) {
        size_t                 size = (size_t)(rand_r(&seed) % 200);
        uint8_t               *bytes = malloc(size + 1);
        struct sxs_diag_answer answer;
        struct sxs_diag_info   info;
        for (size_t i = 0; i < size; i++)
            bytes[i] = (uint8_t)rand_r(&seed);
        if (round % 2 && size > 20) { /* a sound header */
            memcpy(bytes, "DOTNET_IPC_V1", 14);
            bytes[14] = (uint8_t)size;
            bytes[15] = 0;
            bytes[16] = 0xFF;
            bytes[17] = 0;
        }
        if (sxs_diag_parse_answer(bytes, size, &answer) == 0)
            assert_true(answer.payload + answer.size <= bytes + size);
        if (size >= 24 && round % 3 == 0) /* short lengths of strings */
            for (size_t i = 24; i + 4 <= size; i += 4)
                bytes[i + 1] = bytes[i + 2] = bytes[i + 3] = 0;
        (void)sxs_diag_parse_info(bytes, size, &info);
        free(bytes);
    }
}

/* ---- a runtime that is played ---------------------------------------------------------------- */

struct play {
    int            fd;
    const uint8_t *bytes;
    size_t         size, step; /* bytes that are sent at once */
    int            waits;      /* does not answer, and does not close */
};

static void *answer_like_a_runtime(void *arg)
{
    const struct play *p = arg;
    uint8_t            request[20];
    if (recv(p->fd, request, sizeof(request), MSG_WAITALL) == (ssize_t)sizeof(request))
        for (size_t at = 0; at < p->size; at += p->step) {
            size_t n = p->size - at < p->step ? p->size - at : p->step;
            if (send(p->fd, p->bytes + at, n, MSG_NOSIGNAL) < 0)
                break;
            usleep(100);
        }
    if (!p->waits)
        close(p->fd);
    return NULL;
}

/* Asks a runtime that answers as @p says. Returns the result of the exchange. */
static int exchange_with(struct play *p, unsigned timeout_ms, struct sxs_diag_answer *answer)
{
    static uint8_t buf[SXS_DIAG_MAX];
    uint8_t        request[20];
    pthread_t      thread;
    int            io[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, io), 0);
    fcntl(io[0], F_SETFL, O_NONBLOCK);
    p->fd = io[1];
    pthread_create(&thread, NULL, answer_like_a_runtime, p);
    size_t size = sxs_diag_request(request, 4, 4, NULL, 0);
    int    err = sxs_diag_exchange(io[0], request, size, timeout_ms, buf, answer);
    close(io[0]);
    pthread_join(thread, NULL);
    if (p->waits)
        close(io[1]);
    return err;
}

static void an_answer_may_come_in_pieces(void **state)
{
    static uint8_t         payload[512], bytes[SXS_DIAG_MAX];
    size_t                 size = put_info(payload);
    struct sxs_diag_answer answer;
    struct sxs_diag_info   info;
    (void)state;
    for (size_t step = 1; step < 64; step = 2 * step + 1) {
        struct play p = {.bytes = bytes, .step = step};
        p.size = sxs_diag_request(bytes, 0xFF, 0, payload, size);
        assert_int_equal(exchange_with(&p, 20000, &answer), 0);
        assert_int_equal(sxs_diag_parse_info(answer.payload, answer.size, &info), 0);
    }
}

static void a_runtime_that_does_not_answer_costs_a_limited_time(void **state)
{
    static uint8_t         bytes[SXS_DIAG_MAX];
    struct sxs_diag_answer answer;
    struct play            mute = {.bytes = bytes, .step = 1, .waits = 1};
    struct play            half = {.bytes = bytes, .step = 1, .size = 10, .waits = 1};
    struct play            closed = {.bytes = bytes, .step = 1, .size = 10};
    struct play garbage = {.bytes = (const uint8_t *)"HTTP/1.1 400", .step = 12, .size = 12};
    (void)state;
    sxs_diag_request(bytes, 0xFF, 0, "four", 4);
    assert_int_equal(exchange_with(&mute, 50, &answer), ETIMEDOUT);
    assert_int_equal(exchange_with(&half, 50, &answer), ETIMEDOUT);
    assert_int_equal(exchange_with(&closed, 20000, &answer), ECONNRESET);
    assert_int_equal(exchange_with(&garbage, 20000, &answer), EBADMSG);
}

/* ---- accounts -------------------------------------------------------------------------------- */

static void subordinate_users_are_charged_to_who_has_them(void **state)
{
    const char *subuid =
        "bad\n:::\nann:100000:65536\n1002:200000:65536\nroot:300000:10\ngone:400000:10";
    const char *passwd =
        "root:x:0:0::/:/bin/sh\nanna:x:1:1\nann:x:1001:1001:Ann:/home/ann:/bin/sh\n";
    (void)state;
    assert_int_equal(sxs_account_of_range(subuid, passwd, 99999), 99999);
    assert_int_equal(sxs_account_of_range(subuid, passwd, 100000), 1001);
    assert_int_equal(sxs_account_of_range(subuid, passwd, 165535), 1001);
    assert_int_equal(sxs_account_of_range(subuid, passwd, 165536), 165536);
    assert_int_equal(sxs_account_of_range(subuid, passwd, 200001), 1002);
    assert_int_equal(sxs_account_of_range(subuid, passwd, 300009), 300000);
    assert_int_equal(sxs_account_of_range(subuid, passwd, 400009), 400000);
    assert_int_equal(sxs_account_of_range("", "", 7), 7);
    assert_int_equal(sxs_account_of_range(subuid, "ann", 100000), 100000);
}

/* ---- ports ----------------------------------------------------------------------------------- */

static void the_setting_of_ports_names_paths_and_modes(void **state)
{
    struct sxs_ports *ports = calloc(1, sizeof(*ports));
    (void)state;
    sxs_ports_of_setting("/a/b,nosuspend;/c,LISTEN;;relative,connect;/d;/a/b", ports);
    assert_int_equal(ports->n, 3);
    assert_string_equal(ports->ports[0].path, "/a/b");
    assert_true(ports->ports[0].connects);
    assert_string_equal(ports->ports[1].path, "/c");
    assert_false(ports->ports[1].connects);
    assert_true(ports->ports[2].connects);
    char many[1024] = "";
    for (int i = 0; i < 100; i++)
        snprintf(many + strlen(many), sizeof(many) - strlen(many), "/p%d;", i);
    sxs_ports_of_setting(many, ports);
    assert_int_equal(ports->n, SXS_MAX_PORTS);
    free(ports);
}

static void an_advert_has_cookie_and_process(void **state)
{
    uint8_t              bytes[SXS_DIAG_ADVERT] = "ADVR_V1";
    struct sxs_diag_info info;
    (void)state;
    memset(bytes + 8, 7, 16);
    bytes[24] = 9;
    assert_int_equal(sxs_diag_parse_advert(bytes, &info), 0);
    assert_int_equal(info.pid, 9);
    assert_int_equal(info.cookie[15], 7);
    bytes[6] = '2';
    assert_int_equal(sxs_diag_parse_advert(bytes, &info), -1);
}

/* ---- containers and versions ----------------------------------------------------------------- */

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void containers_are_named_as_their_makers_write_them(void **state)
{
    static const struct {
        const char *cgroup, *name;
    } rows[] = {
        {"0::/system.slice/docker-" ID ".scope\n", "docker 0123456789ab"},
        {"12:pids:/docker/" ID "\n0::/\n", "docker 0123456789ab"},
        {"0::/machine.slice/libpod-" ID ".scope/container\n", "podman 0123456789ab"},
        {"0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-" ID ".scope",
         "containerd 0123456789ab"},
        {"0::/kubepods.slice/kubepods-pod1.slice/crio-" ID ".scope", "cri-o 0123456789ab"},
        {"0::/kubepods/besteffort/pod1234/" ID "\n", "kubernetes 0123456789ab"},
        {"0::/lxc.payload.web/init.scope\n", "lxc web"},
        {"0::/machine.slice/systemd-nspawn@db.service/payload\n", "nspawn db"},
        {"0::/user.slice/user-1000.slice\n", ""},
        {"0::/" ID "0\n", ""}, /* 65 digits */
        {"", ""},
    };
    char name[64];
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        sxs_container_name(rows[i].cgroup, name, sizeof(name));
        assert_string_equal(name, rows[i].name);
    }
}

static void versions_come_from_the_path_or_the_build(void **state)
{
    static const struct {
        const char *build, *version;
    } rows[] = {
        {"10.0.1126.37416 @Commit", "10.0.11"},
        {"8.0.23.53103", "8.0.0"},
        {"9.0.1826", ""},
        {"8.x", ""},
        {"", ""},
        {"99999999.0.1.1", ""},
        {"4.700.20.11803", ""}, /* 3.1.3 */
    };
    char version[64];
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        sxs_version_of_build(rows[i].build, strlen(rows[i].build), version, sizeof(version));
        assert_string_equal(version, rows[i].version);
    }
    sxs_version_in_path("/usr/share/dotnet/shared/Microsoft.NETCore.App/8.0.29/libcoreclr.so",
                        version, sizeof(version));
    assert_string_equal(version, "8.0.29");
    sxs_version_in_path("/srv/11.0.0-rc.1/libcoreclr.so", version, sizeof(version));
    assert_string_equal(version, "11.0.0-rc.1");
    sxs_version_in_path("/srv/app/libcoreclr.so.1.0", version, sizeof(version));
    assert_string_equal(version, "");
}

/* ---- copies ---------------------------------------------------------------------------------- */

static int make_file(int dir, const char *name, const char *text, off_t at)
{
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, text, strlen(text), at), strlen(text));
    return close(fd);
}

/* The address at which the C library is mapped, or 0. */
static int first_address(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    if (!strstr(info->dlpi_name, "/libc.so"))
        return 0;
    *(uint64_t *)arg = info->dlpi_addr;
    return 1;
}

static void a_library_is_known_by_its_exports_in_memory(void **state)
{
    static const char *const symbols[] = {"malloc", "DllGetClassObject", "free", NULL};
    uint64_t                 base = 0;
    int                      fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    (void)state;
    assert_true(fd >= 0);
    dl_iterate_phdr(first_address, &base);
    if (base) { /* statically linked, or another C library */
        assert_int_equal(sxs_elf_exports_in_memory(fd, base, symbols), 5);
        assert_int_equal(sxs_elf_exports_in_memory(fd, base + 4096, symbols), 0);
    }
    assert_int_equal(sxs_elf_exports_in_memory(fd, 4096, symbols), 0);
    close(fd);
}

static int process_dir(pid_t pid)
{
    char path[32];
    snprintf(path, sizeof(path), "/proc/%d", (int)pid);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static void a_process_that_nobody_has_waited_for_has_no_program_any_more(void **state)
{
    struct sxs_process p = {.dir = process_dir(getpid())};
    struct rlimit      most, none;
    siginfo_t          info;
    (void)state;
    assert_true(sxs_process_has_program(&p));
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &most), 0);
    none = (struct rlimit){0, most.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    bool when_unreadable = sxs_process_has_program(&p); /* no descriptor is left */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &most), 0);
    assert_true(when_unreadable);
    close(p.dir);
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    p.dir = process_dir(child);
    assert_false(sxs_process_has_program(&p));
    waitpid(child, NULL, 0);
    assert_false(sxs_process_has_program(&p));
    close(p.dir);
}

/* The tracer keeps it where it still has its memory, as a slow disk does with a thread that is in the kernel. */
static void a_process_that_was_killed_has_no_program_although_the_kernel_keeps_it(void **state)
{
    siginfo_t info = {0};
    char      to[2];
    (void)state;
    pid_t child = fork();
    if (child == 0)
        for (prctl(PR_SET_PDEATHSIG, SIGKILL);;)
            pause();
    struct sxs_process p = {.dir = process_dir(child)};
    if (ptrace(PTRACE_SEIZE, child, NULL, (void *)(PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL)) != 0) {
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        close(p.dir);
        skip(); /* a sandbox refuses it */
    }
    assert_true(sxs_process_has_program(&p));
    kill(child, SIGKILL);
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WSTOPPED | WNOWAIT), 0);
    assert_int_equal(info.si_code, CLD_TRAPPED);
    bool has_file = readlinkat(p.dir, "exe", to, sizeof(to)) > 0, has = sxs_process_has_program(&p);
    ptrace(PTRACE_DETACH, child, NULL, NULL);
    waitpid(child, NULL, 0);
    assert_true(has_file);
    assert_false(has);
    close(p.dir);
}

/* ---- does a process still write ---- */

/* A folder of a process with a census, which is mapped and marked as in use. */
struct recorded {
    char                       path[64];
    int                        folder, census;
    void                      *map;
    struct sxs_session_process p;
};

static void begin_recorded(struct recorded *r)
{
    char top[] = "/tmp/sxsprof-test.XXXXXX";
    memset(r, 0, sizeof(*r));
    assert_non_null(mkdtemp(top));
    snprintf(r->p.folder, sizeof(r->p.folder), "%d", (int)getpid());
    snprintf(r->path, sizeof(r->path), "%s/%d", top, (int)getpid());
    assert_int_equal(mkdir(r->path, 0700), 0);
    r->folder = open(r->path, O_RDONLY | O_DIRECTORY);
    r->census = openat(r->folder, SXS_CENSUS_FILE, O_RDWR | O_CREAT, 0600);
    assert_int_equal(ftruncate(r->census, 4096), 0);
    r->map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, r->census, 0);
    assert_ptr_not_equal(r->map, MAP_FAILED);
    assert_int_equal(sxs_held_mark(r->census), 0);
    r->p.pid = (uint32_t)getpid();
    r->p.held = true;
}

static void end_recorded(struct recorded *r)
{
    unlinkat(r->folder, SXS_CENSUS_FILE, 0);
    close(r->folder);
    rmdir(r->path);
    *strrchr(r->path, '/') = '\0';
    assert_int_equal(rmdir(r->path), 0);
}

static enum sxs_written written(const struct recorded *r)
{
    char dir[64];
    snprintf(dir, sizeof(dir), "%.*s", (int)(strrchr(r->path, '/') - r->path), r->path);
    enum sxs_written by_path = sxs_session_written(dir, &r->p);
    assert_int_equal(sxs_process_written(r->folder, &r->p), by_path);
    return by_path;
}

static void make_quiet(const struct recorded *r)
{
    struct timespec long_ago[2] = {{.tv_sec = time(NULL) - 121}, {.tv_sec = time(NULL) - 121}};
    assert_int_equal(futimens(r->census, long_ago), 0);
}

static void the_lock_says_whether_a_process_writes(void **state)
{
    struct recorded r;
    (void)state;
    begin_recorded(&r);
    r.p.pid = 1; /* the lock counts, whatever the number is here */
    make_quiet(&r);
    assert_int_equal(written(&r), SXS_WRITTEN_YES);
    munmap(r.map, 4096); /* the map has the lock, too */
    assert_int_equal(written(&r), SXS_WRITTEN_YES);
    close(r.census); /* as at the end of the process; a recent change says nothing */
    r.p.pid = (uint32_t)getpid();
    assert_int_equal(utimensat(r.folder, SXS_CENSUS_FILE, NULL, 0), 0);
    assert_int_equal(written(&r), SXS_WRITTEN_NO);
    end_recorded(&r);
}

static void without_a_lock_the_map_and_the_latest_change_say_it(void **state)
{
    struct recorded r;
    (void)state;
    begin_recorded(&r);
    r.p.held = false;
    make_quiet(&r);
    assert_true(sxs_process_writes(getpid(), r.folder));
    assert_int_equal(written(&r), SXS_WRITTEN_YES);
    r.p.pid = 1; /* another process has this number here */
    assert_false(sxs_process_writes(1, r.folder));
    assert_true(sxs_process_writes(0, r.folder));
    assert_int_equal(written(&r), SXS_WRITTEN_NO); /* quiet: nobody looks through all processes */
    close(openat(r.folder, SXS_SAMPLES_FILE, O_WRONLY | O_CREAT, 0600));
    assert_int_equal(written(&r), SXS_WRITTEN_YES);
    munmap(r.map, 4096);
    assert_int_equal(written(&r), SXS_WRITTEN_MAYBE);
    unlinkat(r.folder, SXS_SAMPLES_FILE, 0);
    assert_int_equal(written(&r), SXS_WRITTEN_NO);
    close(r.census);
    end_recorded(&r);
}

/* A file is held as long as a descriptor is open, by whatever process. */
static void a_folder_is_held_as_long_as_its_holder_lives(void **state)
{
    char path[] = "/tmp/test_processes.XXXXXX";
    int  ready[2], status;
    (void)state;
    assert_non_null(mkdtemp(path));
    assert_int_equal(sxs_held_is(AT_FDCWD, path), SXS_HELD_NO);
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        int fd = open(path, O_RDONLY | O_DIRECTORY);
        (void)!write(ready[1], sxs_held_mark(fd) == 0 ? "+" : "-", 1);
        pause();
        _exit(0);
    }
    char c = 0;
    assert_int_equal(read(ready[0], &c, 1), 1);
    assert_int_equal(c, '+');
    assert_int_equal(sxs_held_is(AT_FDCWD, path), SXS_HELD_YES);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    assert_int_equal(sxs_held_is(AT_FDCWD, path), SXS_HELD_NO);
    rmdir(path);
    assert_int_equal(sxs_held_is(AT_FDCWD, path), SXS_HELD_UNKNOWN);
    close(ready[0]);
    close(ready[1]);
}

static void a_copy_has_the_bytes_and_the_holes_and_no_links(void **state)
{
    char        from_name[] = "/tmp/sxsprof-copy-XXXXXX", to_name[] = "/tmp/sxsprof-copy-XXXXXX";
    char        text[8] = "";
    struct stat a, b;
    (void)state;
    assert_non_null(mkdtemp(from_name));
    assert_non_null(mkdtemp(to_name));
    int from = open(from_name, O_RDONLY | O_DIRECTORY), to = open(to_name, O_RDONLY | O_DIRECTORY);
    assert_int_equal(mkdirat(from, "12", 0700), 0);
    int sub = openat(from, "12", O_RDONLY | O_DIRECTORY);
    make_file(sub, "samples", "end", 64L << 20);
    assert_int_equal(symlinkat("/etc/passwd", sub, "link"), 0);
    assert_int_equal(mkfifoat(sub, "pipe", 0600), 0);
    assert_int_equal(sxs_copy_session(from, to, NULL, NULL), 0);
    assert_int_equal(fstatat(sub, "samples", &a, 0), 0);
    assert_int_equal(fstatat(to, "12/samples", &b, 0), 0);
    assert_int_equal(a.st_size, b.st_size);
    assert_true(b.st_blocks < 2048); /* of 131,072 */
    int copy = openat(to, "12/samples", O_RDONLY);
    assert_int_equal(pread(copy, text, 7, 64L << 20), 3);
    assert_string_equal(text, "end");
    close(copy);
    assert_int_not_equal(fstatat(to, "12/link", &b, AT_SYMLINK_NOFOLLOW), 0);
    assert_int_not_equal(fstatat(to, "12/pipe", &b, AT_SYMLINK_NOFOLLOW), 0);
    assert_int_equal(sxs_copy_session(from, to, NULL, NULL), EEXIST); /* nothing is overwritten */
    assert_int_equal(sxs_tree_clear(from, 8), 0);
    assert_int_equal(sxs_tree_clear(to, 8), 0);
    close(sub);
    close(from);
    close(to);
    assert_int_equal(rmdir(from_name), 0);
    assert_int_equal(rmdir(to_name), 0);
    assert_int_equal(stat("/etc/passwd", &a), 0);
}

struct copied {
    char from_name[32], to_name[32];
    int  from, to, sub; /* sub: the process's folder 12 in from */
};

static void begin_copy(struct copied *c)
{
    strcpy(c->from_name, "/tmp/sxsprof-copy-XXXXXX");
    strcpy(c->to_name, "/tmp/sxsprof-copy-XXXXXX");
    assert_non_null(mkdtemp(c->from_name));
    assert_non_null(mkdtemp(c->to_name));
    c->from = open(c->from_name, O_RDONLY | O_DIRECTORY);
    c->to = open(c->to_name, O_RDONLY | O_DIRECTORY);
    assert_int_equal(mkdirat(c->from, "12", 0700), 0);
    c->sub = openat(c->from, "12", O_RDONLY | O_DIRECTORY);
}

static void end_copy(struct copied *c)
{
    close(c->sub);
    assert_int_equal(sxs_tree_clear(c->from, 12), 0);
    assert_int_equal(sxs_tree_clear(c->to, 12), 0);
    close(c->from);
    close(c->to);
    assert_int_equal(rmdir(c->from_name), 0);
    assert_int_equal(rmdir(c->to_name), 0);
}

static bool was_copied(const struct copied *c, const char *path)
{
    struct stat st;
    return fstatat(c->to, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static void a_copy_takes_only_files_that_sessions_have(void **state)
{
    struct sxs_copy_result result;
    struct copied          c;
    (void)state;
    begin_copy(&c);
    make_file(c.sub, "census", "c", 0);
    make_file(c.sub, "passwd", "x", 0);
    make_file(c.sub, ".next", "x", 0);
    make_file(c.sub, "heap-ask.77", "x", 0);
    assert_int_equal(symlinkat("/etc/passwd", c.sub, "samples"), 0);
    assert_int_equal(mkfifoat(c.sub, "calls", 0600), 0);
    bool device = mknodat(c.sub, "events", S_IFCHR | 0600, makedev(1, 5)) == 0;
    int  huge = openat(c.sub, "guests", O_WRONLY | O_CREAT, 0600);
    assert_int_equal(ftruncate(huge, INT64_C(1) << 40), 0);
    close(huge);
    assert_int_equal(sxs_copy_session(c.from, c.to, NULL, &result), 0);
    assert_int_equal(result.n_files, 1);
    assert_int_equal(result.n_skipped, device ? 5 : 4);
    assert_non_null(strstr(result.skipped, ": "));
    assert_true(was_copied(&c, "12/census"));
    static const char *const left_out[] = {"passwd", ".next",  "heap-ask.77", "samples",
                                           "calls",  "events", "guests"};
    for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++) {
        char path[40];
        snprintf(path, sizeof(path), "12/%s", left_out[i]);
        assert_false(was_copied(&c, path));
    }
    end_copy(&c);
}

static void a_copy_goes_only_so_deep(void **state)
{
    struct sxs_copy_result result;
    struct copied          c;
    (void)state;
    begin_copy(&c);
    int at = dup(c.sub);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(mkdirat(at, "12", 0700), 0);
        int next = openat(at, "12", O_RDONLY | O_DIRECTORY);
        close(at);
        at = next;
        make_file(at, "census", "c", 0);
    }
    close(at);
    assert_int_equal(sxs_copy_session(c.from, c.to, NULL, &result), 0);
    assert_int_equal(result.n_files, 3);
    assert_int_equal(result.n_skipped, 1);
    assert_true(was_copied(&c, "12/12/12/12/census"));
    assert_false(was_copied(&c, "12/12/12/12/12"));
    end_copy(&c);
}

static void a_copy_has_an_owner(void **state)
{
    struct sxs_copy_rules  rules = {.has_owner = true, .owner = geteuid()};
    struct sxs_copy_result result;
    struct copied          c;
    (void)state;
    if (geteuid() != 0)
        skip(); /* needs files of two users */
    begin_copy(&c);
    make_file(c.sub, "census", "c", 0);
    make_file(c.from, "secret", "s", 0);
    assert_int_equal(linkat(c.from, "secret", c.sub, "samples", 0), 0);
    assert_int_equal(fchownat(c.from, "secret", 61002, 61002, 0), 0);
    assert_int_equal(sxs_copy_session(c.from, c.to, &rules, &result), 0);
    assert_int_equal(result.n_skipped, 2); /* and "secret", which sessions do not have */
    assert_true(was_copied(&c, "12/census"));
    assert_false(was_copied(&c, "12/samples"));
    rules.owner = 61002;
    assert_int_equal(sxs_copy_session(c.from, c.to, &rules, &result), EPERM);
    end_copy(&c);
}

static bool end_after_one(void *arg, uint64_t bytes)
{
    (void)bytes;
    return ++*(int *)arg < 3;
}

static void a_copy_ends_at_its_limits(void **state)
{
    int                   calls = 0;
    struct sxs_copy_rules small = {.max_bytes = 100},
                          asked = {.go_on = end_after_one, .arg = &calls},
                          late = {.deadline_ns = 1};
    struct sxs_copy_result result;
    struct copied          c;
    char                   text[1000];
    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    begin_copy(&c);
    make_file(c.sub, "samples", text, 0);
    make_file(c.sub, "events", text, 0);
    assert_int_equal(sxs_copy_session(c.from, c.to, &small, &result), EFBIG);
    assert_true(result.bytes <= 100);
    assert_int_equal(sxs_tree_clear(c.to, 12), 0);
    assert_int_equal(sxs_copy_session(c.from, c.to, &late, &result), ETIMEDOUT);
    assert_int_equal(result.n_files, 0);
    assert_int_equal(sxs_tree_clear(c.to, 12), 0);
    assert_int_equal(sxs_copy_session(c.from, c.to, &asked, &result), EINTR);
    assert_int_equal(calls, 3);
    end_copy(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_has_the_layout_of_the_protocol),
        cmocka_unit_test(an_attach_has_timeout_class_path_and_data),
        cmocka_unit_test(info_is_read_and_refused_at_each_shorter_size),
        cmocka_unit_test(an_answer_is_refused_when_it_is_damaged),
        cmocka_unit_test(random_bytes_are_parsed_or_refused),
        cmocka_unit_test(an_answer_may_come_in_pieces),
        cmocka_unit_test(a_runtime_that_does_not_answer_costs_a_limited_time),
        cmocka_unit_test(subordinate_users_are_charged_to_who_has_them),
        cmocka_unit_test(the_setting_of_ports_names_paths_and_modes),
        cmocka_unit_test(an_advert_has_cookie_and_process),
        cmocka_unit_test(containers_are_named_as_their_makers_write_them),
        cmocka_unit_test(a_library_is_known_by_its_exports_in_memory),
        cmocka_unit_test(a_folder_is_held_as_long_as_its_holder_lives),
        cmocka_unit_test(the_lock_says_whether_a_process_writes),
        cmocka_unit_test(without_a_lock_the_map_and_the_latest_change_say_it),
        cmocka_unit_test(versions_come_from_the_path_or_the_build),
        cmocka_unit_test(a_copy_has_the_bytes_and_the_holes_and_no_links),
        cmocka_unit_test(a_copy_takes_only_files_that_sessions_have),
        cmocka_unit_test(a_process_that_nobody_has_waited_for_has_no_program_any_more),
        cmocka_unit_test(a_process_that_was_killed_has_no_program_although_the_kernel_keeps_it),
        cmocka_unit_test(a_copy_goes_only_so_deep),
        cmocka_unit_test(a_copy_has_an_owner),
        cmocka_unit_test(a_copy_ends_at_its_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
