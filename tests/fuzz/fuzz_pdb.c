/* SPDX-License-Identifier: MIT */
/*
 * Portable PDBs: known lines first, then damaged ones. With libFuzzer: clang
 * -fsanitize=fuzzer,address -DSXS_LIBFUZZER. Without:
 *
 *   fuzz_pdb [-n COUNT] [-s SEED] [FILE.dll]...
 *
 * looks up lines of every FILE, then in COUNT mutated copies of a generated PDB, assembly, and
 * assembly with the PDB in it. A wrong line of the whole ones, a crash, a sanitizer's word or a run
 * of ten seconds is a failure.
 */
#include "cmd/symbols/pdb_search.h"
#include "tests/profile/pdb_file.h"

#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Asks everything; all answers must be readable. */
static size_t ask_all(struct sxs_pdb *pdb)
{
    struct sxs_pdb_line line;
    size_t              seen = 0;
    for (uint32_t token = 0x05ffffff; pdb && token < 0x06000006; token++)
        for (uint32_t il = 0; il < 300; il += 7)
            if (sxs_pdb_find(pdb, token, il, &line))
                seen += strlen(line.file) + line.line;
    if (pdb)
        seen += sxs_pdb_find(pdb, 0x06ffffff, UINT32_MAX, &line);
    sxs_pdb_close(pdb);
    return seen;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    ask_all(sxs_pdb_parse(bytes, size, NULL));
    return 0;
}

#ifndef SXS_LIBFUZZER
static char dir[] = "/tmp/fuzz-pdb-XXXXXX", dll_path[64], pdb_path[64];
static int  failed;

static void remove_dir(void)
{
    unlink(dll_path);
    unlink(pdb_path);
    rmdir(dir);
}

static void is(struct sxs_pdb *pdb, uint32_t method, uint32_t il, const char *file, uint32_t line)
{
    struct sxs_pdb_line got = {"none", 0};
    if (!pdb || !sxs_pdb_find(pdb, 0x06000000 + method, il, &got))
        got = (struct sxs_pdb_line){"none", 0};
    if (strcmp(got.file, file) == 0 && got.line == line)
        return;
    printf("not ok - method %u, IL %u: expected %s:%u, got %s:%u\n", method, il, file, line,
           got.file, got.line);
    failed = 1;
}

static void known_lines(struct sxs_pdb *pdb, const char *which)
{
    is(pdb, 1, 0, "/src/a.cs", 10);
    is(pdb, 1, 4, "/src/a.cs", 10);
    is(pdb, 1, 6, "/src/a.cs", 10); /* hidden: the last that can be seen */
    is(pdb, 1, 9, "/src/a.cs", 300);
    is(pdb, 1, 199, "/src/a.cs", 300);
    is(pdb, 1, UINT32_MAX, "/src/a.cs", 8);
    is(pdb, 2, 0, "none", 0);
    is(pdb, 3, 3, "/src/a.cs", 20);
    is(pdb, 3, 4, "/src/b.cs", 17);
    is(pdb, 4, 0, "none", 0);
    is(pdb, 0, 0, "none", 0);
    sxs_pdb_close(pdb);
    if (!failed)
        printf("ok - lines of a PDB %s\n", which);
}

/* Returns a reader of the PDB of an assembly; NULL when there is none. */
static struct sxs_pdb *search(const char *path)
{
    static const struct sxs_file_owner own_rights;
    struct sxs_pdb_search              s = {.assembly = path, .owner = &own_rights};
    const char                        *why;
    size_t                             size = 0;
    uint8_t                           *bytes = sxs_pdb_search(&s, &size, &why);
    free(s.wrong);
    return sxs_pdb_take(bytes, size, s.debug.id);
}

static void test_known(struct bytes *pdb, struct bytes *plain, struct bytes *whole)
{
    make_pdb(pdb);
    make_assembly(plain, NULL);
    make_assembly(whole, pdb);
    write_bytes(dll_path, plain);
    write_bytes(pdb_path, pdb);
    known_lines(search(dll_path), "beside its assembly");
    struct bytes other = *plain;
    other.at[512 + 68] ^= 1;
    write_bytes(dll_path, &other);
    struct sxs_pdb *wrong = search(dll_path);
    printf("%s - another assembly's PDB is left alone\n", wrong ? "not ok" : "ok");
    failed |= wrong != NULL;
    sxs_pdb_close(wrong);
    unlink(pdb_path);
    write_bytes(dll_path, plain);
    wrong = search(dll_path);
    printf("%s - no PDB, no lines\n", wrong ? "not ok" : "ok");
    failed |= wrong != NULL;
    sxs_pdb_close(wrong);
    write_bytes(dll_path, whole);
    known_lines(search(dll_path), "embedded in its assembly");
}

static uint64_t random_state;

/* A number below @n, which is not 0. */
static size_t below(size_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (size_t)(random_state % n);
}

static void mutate(struct bytes *b)
{
    if (below(8) == 0)
        b->n = below(b->n + 1);
    for (size_t i = 1 + below(6); b->n && i > 0; i--) {
        static const uint8_t edges[] = {0, 1, 0x7f, 0x80, 0xc0, 0xdf, 0xe0, 0xff};
        size_t               at = below(b->n);
        b->at[at] = below(2) ? (uint8_t)below(256) : edges[below(sizeof(edges))];
    }
}

int main(int argc, char **argv)
{
    static struct bytes pdb, plain, whole;
    unsigned            n = 1000, seed = 1;
    for (int c; (c = getopt(argc, argv, "n:s:")) != -1;)
        *(c == 'n' ? &n : &seed) = (unsigned)strtoul(optarg, NULL, 10);
    for (int i = optind; i < argc; i++)
        printf("# %s: %zu\n", argv[i], ask_all(search(argv[i])));
    if (!mkdtemp(dir))
        return 1;
    snprintf(dll_path, sizeof(dll_path), "%s/x.dll", dir);
    snprintf(pdb_path, sizeof(pdb_path), "%s/x.pdb", dir);
    atexit(remove_dir);
    test_known(&pdb, &plain, &whole);
    random_state = seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
    for (unsigned i = 0; i < n; i++) {
        struct bytes b = pdb;
        alarm(10);
        mutate(&b);
        LLVMFuzzerTestOneInput(b.at, b.n);
        b = whole;
        mutate(&b);
        write_bytes(dll_path, &b);
        ask_all(search(dll_path));
    }
    printf("ok - %u damaged PDBs and assemblies\n", n);
    return failed;
}
#endif
