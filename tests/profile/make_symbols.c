/* SPDX-License-Identifier: MIT */
/*
 * make_symbols.c - writes a session without names of functions, for tests that look up names in files.
 *
 *   make_symbols DIR LIBRARY BUILD-ID ADDRESS ASSEMBLY
 *
 * 30 samples of the stack App.Work.Run (method 06000001 of ASSEMBLY, at IL offset 9) -> ADDRESS
 * (hexadecimal, as nm prints it) of the ELF file LIBRARY with BUILD-ID ("" for none), and 10 of
 * App.Work.Run alone.
 *
 *   make_symbols -a FILE.dll [FILE.pdb [PATH]]   an assembly, its PDB, and the path of the PDB that it has
 *   make_symbols -e FILE.dll                     an assembly that embeds its PDB
 *   make_symbols -w FILE.pdb                     the PDB of another assembly
 */
#include "tests/profile/census_file.h"
#include "tests/profile/pdb_file.h"
#include "tests/profile/samples_file.h"

#define BASE 0x7f0000000000u

static void add_library(struct samples_file *f, const char *path, const char *build_id)
{
    size_t                    p = strlen(path);
    struct sxs_record_module *r = samples_add(f, SXS_RECORD_MODULE, sizeof(*r) + p);
    r->time_ns = 1;
    r->base = r->lo = BASE;
    r->hi = BASE + 0x100000;
    r->path_size = (uint16_t)p;
    memcpy(r->path, path, p);
    for (unsigned byte; sscanf(build_id, "%2x", &byte) == 1; build_id += 2)
        r->build_id[r->build_id_size++] = (uint8_t)byte;
}

static void add_method(struct samples_file *f, const char *assembly)
{
    static const char          name[] = "App.Work.Run()";
    const struct sxs_code_line at[] = {{0, 0}, {8, 9}};
    size_t                     n = sizeof(name) - 1, p = strlen(assembly);
    size_t                     text = offsetof(struct sxs_record_code, text);
    size_t                     lines = (text + n + p + 7) & ~(size_t)7;
    struct sxs_record_code    *r = samples_add(f, SXS_RECORD_CODE, lines + sizeof(at));
    r->time_ns = 1;
    r->lo = 0x8000;
    r->hi = 0x8100;
    r->function = 1;
    r->token = 0x06000001;
    r->runtime = 1;
    r->tier = SXS_TIER_1;
    r->name_size = (uint16_t)n;
    r->file_size = (uint16_t)p;
    r->n_lines = 2;
    memcpy(r->text, name, n);
    memcpy(r->text + n, assembly, p);
    memcpy((char *)r + lines, at, sizeof(at));
}

static int write_files(int argc, char **argv)
{
    static struct bytes pdb, dll;
    make_pdb(&pdb);
    make_assembly(&dll, argv[1][1] == 'e' ? &pdb : NULL);
    if (argv[1][1] == 'w') {
        for (size_t i = 0; i < pdb.n; i++)
            if (memcmp(pdb.at + i, pdb_file_id, sizeof(pdb_file_id)) == 0)
                pdb.at[i] ^= 0xff;
        write_bytes(argv[2], &pdb);
        return 0;
    }
    if (argc > 4) { /* the CodeView entry is the last part of the file */
        set(&dll, 512 + 16, 24 + strlen(argv[4]) + 1, 4);
        memcpy(dll.at + 512 + 88, argv[4], strlen(argv[4]) + 1);
        dll.n = 512 + 88 + strlen(argv[4]) + 1;
    }
    write_bytes(argv[2], &dll);
    if (argc > 3)
        write_bytes(argv[3], &pdb);
    return 0;
}

int main(int argc, char **argv)
{
    static struct samples_file f;
    char                       path[4200];
    if (argc > 2 && argv[1][0] == '-')
        return write_files(argc, argv);
    if (argc != 6)
        return 64;
    write_census(argv[1], 4242);
    snprintf(path, sizeof(path), "%s/4242/" SXS_SAMPLES_FILE, argv[1]);
    FILE *to = fopen(path, "w");
    if (!to)
        return 1;
    const uint64_t ips[] = {BASE + strtoull(argv[4], NULL, 16) + 1, 0x8009};
    samples_begin(&f, to, 4242, "symbols");
    add_runtime(&f, 1, versions[0], "/net/8.0.29/libcoreclr.so");
    add_thread(&f, 100, "main", 2);
    add_library(&f, argv[2], argv[3]);
    add_method(&f, argv[5]);
    for (uint64_t i = 0; i < 30; i++)
        add_sample(&f, 2000000000u + i * 5000000, 100, 2, ips, SXS_SAMPLE_END_BOTTOM, 0);
    for (uint64_t i = 30; i < 40; i++)
        add_sample(&f, 2000000000u + i * 5000000, 100, 1, ips + 1, SXS_SAMPLE_END_BOTTOM, 0);
    f.head.ended_ns = 2200000000u;
    samples_end(&f);
    return fclose(to) != 0;
}
