/* SPDX-License-Identifier: MIT */
/*
 * make_paths.c - writes a session that needs a name of each of some modules, and the lines of a method of each of some
 * assemblies.
 *
 *   make_paths DIR MODULE... -- ASSEMBLY...
 */
#include "tests/profile/census_file.h"
#include "tests/profile/samples_file.h"

#define BASE 0x7f0000000000u
#define STEP 0x100000u

static void add_method(struct samples_file *f, uint64_t lo, uint32_t number, const char *assembly)
{
    static const struct sxs_code_line at[] = {{0, 0}};
    char                              name[32];
    int                               n = snprintf(name, sizeof(name), "App.Work%u.Run()", number);
    size_t                  p = strlen(assembly), text = offsetof(struct sxs_record_code, text);
    size_t                  lines = (text + (size_t)n + p + 7) & ~(size_t)7;
    struct sxs_record_code *r = samples_add(f, SXS_RECORD_CODE, lines + sizeof(at));
    r->time_ns = 1;
    r->lo = lo;
    r->hi = lo + 0x100;
    r->function = number;
    r->token = 0x06000001;
    r->runtime = 1;
    r->tier = SXS_TIER_1;
    r->name_size = (uint16_t)n;
    r->file_size = (uint16_t)p;
    r->n_lines = 1;
    memcpy(r->text, name, (size_t)n);
    memcpy(r->text + n, assembly, p);
    memcpy((char *)r + lines, at, sizeof(at));
}

int main(int argc, char **argv)
{
    static struct samples_file f;
    char                       path[4200];
    uint64_t                   now = 2000000000u;
    int                        i = 2;
    if (argc < 3)
        return 64;
    write_census(argv[1], 4242);
    snprintf(path, sizeof(path), "%s/4242/" SXS_SAMPLES_FILE, argv[1]);
    FILE *to = fopen(path, "w");
    if (!to)
        return 1;
    samples_begin(&f, to, 4242, "paths");
    add_runtime(&f, 1, versions[0], "/net/8.0.29/libcoreclr.so");
    add_thread(&f, 100, "main", 2);
    for (; i < argc && strcmp(argv[i], "--") != 0; i++) {
        uint64_t lo = BASE + (uint64_t)i * STEP, ip = lo + 0x1101;
        add_module(&f, 1, lo, lo, lo + STEP, argv[i], 0);
        add_sample(&f, now += 5000000, 100, 1, &ip, SXS_SAMPLE_END_BOTTOM, 0);
    }
    for (i++; i < argc; i++) {
        uint64_t lo = 0x10000u + (uint64_t)i * 0x1000, ip = lo + 9;
        add_method(&f, lo, (uint32_t)i, argv[i]);
        add_sample(&f, now += 5000000, 100, 1, &ip, SXS_SAMPLE_END_BOTTOM, 0);
    }
    f.head.ended_ns = now;
    samples_end(&f);
    return fclose(to) != 0;
}
