/* SPDX-License-Identifier: MIT */
/* jitted - a host with a JIT compiler of its own, as V8 and HotSpot are: it makes two functions at run
 * time, the outer one calls the inner one, and names them in /tmp/perf-PID.map.
 *
 * jitted [good|link|writable|none]: what the file is like. "good" is the default, and has damaged lines,
 * too; "link" is a link to such a file; "writable" may be written by others; "none": there is none. */
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

static char path[64], target[80];

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
