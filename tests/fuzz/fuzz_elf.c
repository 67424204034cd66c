/* SPDX-License-Identifier: MIT */
/* fuzz_elf.c - bytes as a program or library that a process has mapped. See fuzz.h. A symbol is found only when its name
 * is in the file, and twice the same file gives the same answer. */
#define FUZZ_MAX 8192u
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_text.h"

#include "cmd/symbols/elf_file.h"

#include <elf.h>

static const char *const symbols[] = {"DllGetClassObject", "sxsprof_print_stack",
                                      "DotNetRuntimeDebugHeader", "DotNetRuntimeInfo", NULL};
static char              path[96];
static int               file = -1;

static void remove_file(void)
{
    unlink(path);
    rmdir(fuzz_folder_path);
}

static void make_file(void)
{
    fuzz_folder_make();
    snprintf(path, sizeof(path), "%s/elf", fuzz_folder_path);
    file = fuzz_file_open(AT_FDCWD, path);
    atexit(remove_file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct sxs_elf_file kind;
    if (file < 0)
        make_file();
    fuzz_fill(file, bytes, size);
    unsigned found = sxs_elf_exports_of(path, symbols);
    for (unsigned k = 0; symbols[k]; k++)
        MUST(!(found & 1u << k) || memmem(bytes, size, symbols[k], strlen(symbols[k])));
    MUST(found < 16);
    MUST(sxs_elf_exports_of(path, symbols) == found);
    MUST(sxs_elf_read(path, &kind) == 0);
    MUST(kind.is_elf || (!kind.is_native && !kind.is_shared && !kind.has_loader && !kind.is_64));
    MUST(!kind.is_elf || (size >= SELFMAG && memcmp(bytes, ELFMAG, SELFMAG) == 0));
    MUST(!found || kind.is_elf);
    fuzz_whole += found != 0;
    return 0;
}

#ifndef SXS_LIBFUZZER
/* A number that is right, or now and then another one. */
static uint64_t or_odd(uint64_t right)
{
    static const uint64_t odd[] = {
        0, 1, 7, 0xff, 0xffff, 0x7fffffff, 0xffffffff, UINT64_MAX, UINT64_MAX - 63, 1ull << 62};
    return roll(40) ? right : roll(3) ? odd[roll(10)] : right + roll(64);
}

static size_t put_names(uint8_t *out, uint32_t starts[8])
{
    size_t n = 1;
    out[0] = '\0';
    for (int i = 0; i < 8; i++) {
        starts[i] = (uint32_t)n;
        n += fuzz_put(out + n, i < 4 ? symbols[i] : "other");
        out[n++] = '\0';
    }
    return n;
}

static size_t fuzz_make(uint8_t *out)
{
    uint32_t starts[8];
    size_t   names = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr), n_names, table, n_symbols = roll(12),
           headers;
    Elf64_Ehdr eh = {.e_type = (Elf64_Half)(roll(8) ? ET_DYN : roll(5)),
                     .e_machine = EM_X86_64,
                     .e_version = EV_CURRENT};
    Elf64_Phdr ph = {
        .p_type = (Elf64_Word)(roll(2) ? PT_INTERP : PT_LOAD), .p_offset = names, .p_filesz = 8};
    memset(out, 0, FUZZ_MAX);
    n_names = put_names(out + names, starts);
    table = (names + n_names + 7) & ~(size_t)7;
    for (size_t i = 0; i < n_symbols; i++) {
        Elf64_Sym sym = {.st_name = (Elf64_Word)or_odd(starts[roll(8)]),
                         .st_shndx = (Elf64_Half)roll(4)};
        memcpy(out + table + i * sizeof(sym), &sym, sizeof(sym));
    }
    headers = table + n_symbols * sizeof(Elf64_Sym);
    const Elf64_Shdr sections[] = {{0},
                                   {.sh_type = SHT_DYNSYM,
                                    .sh_offset = or_odd(table),
                                    .sh_size = or_odd(n_symbols * sizeof(Elf64_Sym)),
                                    .sh_link = (Elf64_Word)or_odd(2),
                                    .sh_entsize = or_odd(sizeof(Elf64_Sym)),
                                    .sh_addralign = or_odd(8)},
                                   {.sh_type = SHT_STRTAB,
                                    .sh_offset = or_odd(names),
                                    .sh_size = or_odd(n_names),
                                    .sh_addralign = 1}};
    memcpy(out + headers, sections, sizeof(sections));
    memcpy(eh.e_ident, ELFMAG, SELFMAG);
    eh.e_ident[EI_CLASS] = (unsigned char)(roll(20) ? ELFCLASS64 : roll(4));
    eh.e_ident[EI_DATA] = (unsigned char)(roll(20) ? ELFDATA2LSB : roll(4));
    eh.e_ident[EI_VERSION] = EV_CURRENT;
    eh.e_ehsize = sizeof(eh);
    eh.e_phoff = or_odd(sizeof(eh));
    eh.e_phentsize = sizeof(ph);
    eh.e_phnum = (Elf64_Half)or_odd(1);
    eh.e_shoff = or_odd(headers);
    eh.e_shentsize = (Elf64_Half)or_odd(sizeof(Elf64_Shdr));
    eh.e_shnum = (Elf64_Half)or_odd(3);
    eh.e_shstrndx = (Elf64_Half)or_odd(2);
    memcpy(out, &eh, sizeof(eh));
    memcpy(out + sizeof(eh), &ph, sizeof(ph));
    return roll(3) ? headers + sizeof(sections) : fuzz_mutate(out, headers + sizeof(sections));
}

int main(int argc, char **argv)
{
    return fuzz_main(argc, argv, "programs and libraries");
}
#endif
