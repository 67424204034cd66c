/* SPDX-License-Identifier: MIT */
/* jitted - a host with a JIT compiler of its own, as V8 and HotSpot are: it makes two functions at run
 * time, the outer one calls the inner one, and names them in /tmp/perf-PID.map or jit-PID.dump.
 *
 * jitted [dump-][good|link|writable|none|damaged|hidden]: what the file is like. "good" is the default, and has damaged lines,
 * too; "link" is a link to such a file; "writable" may be written by others; "none": there is none. Of a dump only: "damaged" has another number at its beginning; "hidden" is not
 * mapped. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/hosts/hosting.h"

enum { OUTER = 0, INNER = 64, SIZE = 4096 };

static char path[512], target[520];

/* Returns the outer function, which counts to some millions in the inner one. */
static void (*compile(uint8_t **code))(void)
{
    static const uint8_t outer[] = {0x55, 0x48,
                                    0x89, 0xe5, /* push rbp; mov rbp, rsp */
                                    0xe8, INNER - (OUTER + 9),
                                    0,    0,
                                    0,                            /* call inner */
                                    0x5d, 0xc3};                  /* pop rbp; ret */
    static const uint8_t inner[] = {0x55, 0x48, 0x89, 0xe5,       /* push rbp; mov rbp, rsp */
                                    0xb9, 0x00, 0x00, 0x40, 0x00, /* mov ecx, 0x400000 */
                                    0xff, 0xc9, 0x75, 0xfc,       /* dec ecx; jnz */
                                    0x5d, 0xc3};                  /* pop rbp; ret */
    void (*made)(void);
    *code = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (*code == MAP_FAILED)
        return NULL;
    memcpy(*code + OUTER, outer, sizeof(outer));
    memcpy(*code + INNER, inner, sizeof(inner));
    mprotect(*code, SIZE, PROT_READ | PROT_EXEC);
    memcpy(&made, code, sizeof(made));
    return made;
}

/* Writes the beginning of a record JIT_CODE_LOAD of @size bytes, then its name with the zero. */
static void write_load(FILE *dump, uint32_t size, const uint8_t *code, uint64_t code_size,
                       const char *name)
{
    struct {
        uint32_t id, size;
        uint64_t time;
        uint32_t pid, tid;
        uint64_t vma, code, code_size, index;
    } record = {.size = size, .code = (uintptr_t)code, .code_size = code_size};
    _Static_assert(sizeof(record) == 56, "as in the file");
    record.vma = record.code;
    record.pid = record.tid = (uint32_t)getpid();
    fwrite(&record, sizeof(record), 1, dump);
    fwrite(name, strlen(name) + 1, 1, dump);
}

static void write_named(FILE *dump, const uint8_t *code, const char *name)
{
    write_load(dump, (uint32_t)(56 + strlen(name) + 1 + 32), code, 32, name);
    fwrite(code, 32, 1, dump);
}

static void write_dump(const uint8_t *code, const char *how)
{
    static char all[200 << 10]; /* more than a reader takes at once */
    uint32_t    header[10] = {0x4a695444, 1, 40, 62, 0, (uint32_t)getpid()};
    uint32_t    other[4] = {4, 16 + sizeof(all)}; /* a record of another kind */
    const char *at = strcmp(how, "link") == 0 ? target : path;
    FILE       *dump;
    snprintf(path, sizeof(path), "%s/jit-%d.dump", hosting_env("HOSTS_TMP"), (int)getpid());
    snprintf(target, sizeof(target), "%s.other", path);
    dump = strcmp(how, "none") ? fopen(at, "w") : NULL;
    if (!dump)
        return;
    if (strcmp(how, "damaged") == 0)
        header[0] = 1;
    fwrite(header, sizeof(header), 1, dump);
    fwrite(other, sizeof(other), 1, dump);
    fwrite(all, sizeof(all), 1, dump);
    write_load(dump, 56 + 11, code, UINT64_MAX, "all of it 1"); /* the zero is of the next record */
    fseek(dump, -1, SEEK_CUR);
    write_named(dump, code + INNER, "LazyCompile:*early");
    write_named(dump, code + OUTER, "LazyCompile:*outer /app/\033[1mindex.js:7");
    write_named(dump, code + INNER, "LazyCompile:*inner");
    write_load(dump, 4096, code, 32, "all of it 2"); /* without its end */
    fclose(dump);
    if (strcmp(how, "link") == 0)
        (void)!symlink(target, path);
    if (strcmp(how, "writable") == 0)
        chmod(path, 0666);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (strcmp(how, "hidden") != 0 &&
        mmap(NULL, SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
        hosting_claim(0, "the file can be mapped executable");
    close(fd);
}

static void write_map(const uint8_t *code, const char *how)
{
    const char *at = strcmp(how, "link") == 0 ? target : path;
    FILE       *map;
    snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
    snprintf(target, sizeof(target), "%s.other", path);
    map = strcmp(how, "none") ? fopen(at, "w") : NULL;
    if (!map)
        return;
    fprintf(map,
            "not a line\n%jx\n%jx 20\n%jx ffffffffffffffff all of it\nffffffffffff0000 20 far\n",
            (uintmax_t)(uintptr_t)code, (uintmax_t)(uintptr_t)code, (uintmax_t)(uintptr_t)code);
    fprintf(map, "%jx 20 LazyCompile:*early\n", (uintmax_t)(uintptr_t)(code + INNER));
    fprintf(map, "%jx 20 LazyCompile:*outer /app/\033[1mindex.js:7\n0x%jx 20 LazyCompile:*inner\n",
            (uintmax_t)(uintptr_t)(code + OUTER), (uintmax_t)(uintptr_t)(code + INNER));
    fclose(map);
    if (strcmp(how, "link") == 0)
        (void)!symlink(target, path);
    if (strcmp(how, "writable") == 0)
        chmod(path, 0666);
}

int main(int argc, char **argv)
{
    const char     *how = argc > 1 ? argv[1] : "good";
    uint8_t        *code;
    struct timespec began, now;
    void (*outer)(void) = compile(&code);
    if (!outer)
        return 2;
    umask(022);
    if (strncmp(how, "dump-", 5) == 0)
        write_dump(code, how + 5);
    else
        write_map(code, how);
    hosting_start();
    clock_gettime(CLOCK_MONOTONIC, &began);
    do {
        for (int i = 0; i < 20; i++)
            outer();
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec - began.tv_sec < 6);
    hosting_claim(hosting_work(1) == 0, "the runtimes work");
    unlink(path);
    unlink(target);
    hosting_stop();
    return hosting_n_wrong() != 0;
}
