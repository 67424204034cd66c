/* SPDX-License-Identifier: MIT */
/* fuzz_proc.c - bytes as what a process decides of its files in /proc: its name, arguments and environment, the paths of
 * its mappings, groups and sockets. See fuzz.h. A folder stands in for /proc/PID. The first byte says which file:
 * a whole one of random bytes, or one as the kernel writes it around a name that the process has chosen; then what
 * the kernel has written must be read whatever the name is. */
#define FUZZ_MAX (1u << 15)
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_text.h"

#include "cmd/processes/maps.h"
#include "cmd/processes/ports.h"
#include "cmd/processes/process_internal.h"

#include <errno.h>

#define TICKS 123456789

enum { MAPS, NAMED, STAT, STATUS, CMDLINE, CGROUP, ENVIRON, UNIX, N_KINDS };

static const char usual_stat[] =
    "7 (a) S 1 7 7 0 -1 4194560 1 0 0 0 1 2 0 0 20 0 5 0 123456789 1 2\n";
static const char usual_status[] =
    "Name:\ta\nUid:\t61001\t61002\t61003\t61004\nGid:\t1\t2\t3\t4\nNSpid:\t7\t3\n";

static const char *const  names[N_KINDS] = {"maps",    "",       "stat",    "status",
                                            "cmdline", "cgroup", "environ", "net/unix"};
static int                files[N_KINDS];
static struct sxs_process process = {.dir = -1};

static void remove_files(void)
{
    for (int i = 0; i < N_KINDS; i++)
        unlinkat(process.dir, names[i], 0);
    unlinkat(process.dir, "net", AT_REMOVEDIR);
    rmdir(fuzz_folder_path);
}

static void make_files(void)
{
    fuzz_folder_make();
    process.dir = open(fuzz_folder_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    MUST(process.dir >= 0 && mkdirat(process.dir, "net", 0700) == 0);
    for (int i = 0; i < N_KINDS; i++)
        files[i] = *names[i] ? fuzz_file_open(process.dir, names[i]) : -1;
    atexit(remove_files);
}

static void fill(int kind, const void *bytes, size_t size)
{
    fuzz_fill(files[kind], bytes, size);
}

/* ---- mappings --------------------------------------------------------------------------------- */

struct seen {
    size_t      n;
    const char *bytes; /* what the file has */
    size_t      size;
};

static int see_file(void *arg, const struct sxs_mapped_file *f)
{
    struct seen *seen = arg;
    seen->n++;
    MUST(f->path[0] == '/' && !strchr(f->path, '\n') && f->start < f->end);
    MUST(strlen(f->path) < seen->size && strlen(f->path) < sizeof(f->path));
    return roll(100) ? 0 : -1;
}

static void check_maps(const uint8_t *bytes, size_t size)
{
    struct seen seen = {0, (const char *)bytes, size}, again = seen;
    fill(MAPS, bytes, size);
    int err = sxs_maps_each(process.dir, see_file, &seen);
    MUST(err == 0 || err == -1);
    if (err == 0 && sxs_maps_each(process.dir, see_file, &again) == 0)
        MUST(seen.n == again.n);
    fuzz_whole += seen.n > 0;
}

/* ---- the other files -------------------------------------------------------------------------- */

static int read_all(void)
{
    const struct sxs_process fresh = {.dir = process.dir, .root = -1, .pid = 7, .problem = EACCES};
    process = fresh; /* problem: the mappings are not looked at */
    return sxs_process_read_files(&process);
}

static void check_texts(void)
{
    MUST(memchr(process.name, 0, sizeof(process.name)) && !strchr(process.name, '\n'));
    MUST(memchr(process.command, 0, sizeof(process.command)));
    MUST(memchr(process.container, 0, sizeof(process.container)) &&
         !strchr(process.container, '\n'));
    MUST(memchr(process.user, 0, sizeof(process.user)));
}

/* As the kernel writes a name into the file "status": a line feed and a backslash are escaped. */
static size_t escape_name(char *out, const char *name)
{
    size_t n = 0;
    for (; *name; name++) {
        if (*name == '\n' || *name == '\\')
            out[n++] = '\\';
        out[n++] = (char)(*name == '\n' ? 'n' : *name);
    }
    out[n] = '\0';
    return n;
}

/* A process has the name @chosen, and the rest is the kernel's. */
static void check_named(const char *chosen)
{
    struct sxs_identity identity;
    char                name[16], escaped[32], text[512];
    snprintf(name, sizeof(name), "%s", chosen);
    escape_name(escaped, name);
    int n = snprintf(text, sizeof(text), "7 (%s%s", name, strchr(usual_stat, ')'));
    fill(STAT, text, (size_t)n);
    n = snprintf(text, sizeof(text), "Name:\t%s%s", escaped, strchr(usual_status, '\n'));
    fill(STATUS, text, (size_t)n);
    MUST(read_all() == 0);
    MUST(process.state == 'S' && process.ns_pid == 3);
    MUST(sxs_identity_read(process.dir, &identity) == 0 && identity.start_ticks == TICKS);
    MUST(identity.uids[1] == 61002 && identity.gids[1] == 2);
    check_texts();
    MUST(sxs_process_lives(&process));
    fuzz_whole++;
}

static void check_file(int kind, const uint8_t *bytes, size_t size)
{
    fill(STAT, usual_stat, strlen(usual_stat));
    fill(STATUS, usual_status, strlen(usual_status));
    fill(kind, bytes, size);
    struct sxs_identity identity;
    int                 err = read_all();
    MUST(err == 0 || err == ESRCH);
    if (err)
        return;
    check_texts();
    err = sxs_identity_read(process.dir, &identity);
    MUST(kind == STATUS || kind == STAT || err == 0);
    MUST(kind == STAT || err || identity.start_ticks == TICKS);
    MUST(kind == STATUS || (process.ns_pid == 3 && (err || identity.uids[1] == 61002)));
    fuzz_whole++;
}

/* Compares what is found with a simple search. */
static void check_environ(const uint8_t *bytes, size_t size)
{
    static const char wanted[] = "TMPDIR";
    char             *text = fuzz_text(bytes, size), value[64];
    const char       *found = NULL;
    fill(ENVIRON, bytes, size);
    for (const char *at = text; at < text + size && !found; at += strlen(at) + 1)
        if (strncmp(at, "TMPDIR=", 7) == 0)
            found = at + 7;
    int err = sxs_process_variable(&process, wanted, value, sizeof(value));
    MUST(err == (found ? 0 : ENOENT));
    MUST(err || (strlen(value) < sizeof(value) && strncmp(value, found, strlen(value)) == 0));
    fuzz_whole += !err;
    free(text);
}

static void check_ports(const uint8_t *bytes, size_t size)
{
    static struct sxs_ports ports;
    fill(UNIX, bytes, size);
    fill(ENVIRON, "", 0); /* what it names may have a line feed */
    process.ns_pid = 7;
    sxs_ports_find(&process, &ports);
    MUST(ports.n <= SXS_MAX_PORTS);
    for (size_t i = 0; i < ports.n; i++) {
        MUST(ports.ports[i].path[0] == '/' && !strchr(ports.ports[i].path, '\n'));
        MUST(memchr(ports.ports[i].path, 0, PATH_MAX) && ports.ports[i].listener == -1);
    }
    fuzz_whole += ports.n > 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (!size)
        return 0;
    if (process.dir < 0)
        make_files();
    int   kind = bytes[0] % N_KINDS;
    char *chosen = kind == NAMED ? fuzz_text(bytes + 1, size - 1) : NULL;
    switch (kind) {
    case MAPS: check_maps(bytes + 1, size - 1); break;
    case NAMED: check_named(chosen); break;
    case ENVIRON: check_environ(bytes + 1, size - 1); break;
    case UNIX: check_ports(bytes + 1, size - 1); break;
    default: check_file(kind, bytes + 1, size - 1); break;
    }
    free(chosen);
    return 0;
}

#ifndef SXS_LIBFUZZER
static const char *const pieces[] = {
    "/usr/lib/libcoreclr.so",
    "/a b",
    " (deleted)",
    "\\012",
    "\\134",
    "\\",
    "/",
    "//",
    "..",
    "x",
    ")",
    "(",
    " ",
    ") R 1",
    ".so",
    "\x1b[31m",
    "\xc2\x9b",
    "\xff",
    "\t",
    "Uid:\t0\t0\t0\t0",
    "docker-",
    "/lxc/",
    "/machine.slice/machine-",
    ".scope",
    "TMPDIR=",
    "=",
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "/dotnet-diagnostic-7-",
    "DOTNET_DiagnosticPorts=/tmp/p",
    ",listen;"};

/* Appends a text that a process can choose. */
static size_t put_chosen(uint8_t *out)
{
    size_t n = 0;
    for (uint64_t left = roll(7); left-- > 0;)
        n += fuzz_put(out + n, pieces[roll(sizeof(pieces) / sizeof(pieces[0]))]);
    for (uint64_t left = roll(200) ? 0 : roll(6000); left-- > 0;)
        out[n++] = 'a';
    return n;
}

static size_t make_line(uint8_t *out, int kind)
{
    size_t n = 0;
    if (kind == MAPS)
        n = (size_t)sprintf(
            (char *)out, "%llx-%llx r-xp %08llx fe:00 %llu %s",
            (unsigned long long)roll(UINT64_MAX), (unsigned long long)roll(UINT64_MAX),
            (unsigned long long)roll(1u << 30), (unsigned long long)roll(9), roll(4) ? "   /" : "");
    else if (kind == STAT)
        n = fuzz_put(out, roll(3) ? "7 (a) S 1 7 7 0 -1 4194560 1 0 0 0 1 2 0 0 20 0 5 0 " : "7 (");
    else if (kind == STATUS)
        n = fuzz_put(out, roll(2) ? "Name:\t" : roll(2) ? "Uid:\t" : "NSpid:\t7\t");
    else if (kind == CGROUP)
        n = fuzz_put(out, "0::/");
    else if (kind == UNIX)
        n = fuzz_put(out, "0000000000000000: 00000002 00000000 00010000 0001 01 12345 /tmp");
    n += put_chosen(out + n);
    out[n++] = kind == CMDLINE || kind == ENVIRON ? '\0' : '\n';
    return n;
}

static size_t fuzz_make(uint8_t *out)
{
    size_t n = 1;
    int    kind = (int)roll(N_KINDS);
    out[0] = (uint8_t)kind;
    if (kind == NAMED)
        n += roll(2) ? put_chosen(out + n) : fuzz_put(out + n, "a) R 1 2 3");
    else
        for (uint64_t left = roll(roll(20) ? 5 : 30); left-- > 0 && n < FUZZ_MAX / 2;)
            n += make_line(out + n, kind);
    if (n > FUZZ_MAX - 1)
        n = FUZZ_MAX - 1;
    return roll(3) ? n : 1 + fuzz_mutate(out + 1, n - 1);
}

int main(int argc, char **argv)
{
    return fuzz_main(argc, argv, "files of processes");
}
#endif
