/* SPDX-License-Identifier: MIT */
/* test_elf_symbols.c - names of functions that are not exported, from the file's symbol table. */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbols/elf_symbols.h"
#include "tests/unit/dice.h"

#define CODE 0x1000u

/* A small ELF file: header, four section headers, symbols, names. */
struct image {
    Elf64_Ehdr head;
    Elf64_Shdr sections[4];
    Elf64_Sym  symbols[8];
    char       names[64];
};

static char path[] = "/tmp/test_elf_symbols.XXXXXX";

static struct image new_image(void)
{
    struct image i = {.names = "\0outer\0inner\0strong\0weak\0object\0sizeless"};
    memcpy(i.head.e_ident, ELFMAG "\2\1\1", 7);
    i.head.e_shoff = offsetof(struct image, sections);
    i.head.e_shentsize = sizeof(Elf64_Shdr);
    i.head.e_shnum = 4;
    i.head.e_entry = CODE;
    i.sections[2] = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
                                 .sh_offset = offsetof(struct image, symbols),
                                 .sh_size = sizeof(i.symbols),
                                 .sh_entsize = sizeof(Elf64_Sym),
                                 .sh_link = 3};
    i.sections[3] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
                                 .sh_offset = offsetof(struct image, names),
                                 .sh_size = sizeof(i.names)};
#define SYMBOL(name, bind, type, at, size) \
    (Elf64_Sym){name, ELF64_ST_INFO(bind, type), 0, 1, at, size}
    i.symbols[1] = SYMBOL(1, STB_LOCAL, STT_FUNC, CODE, 0x100);
    i.symbols[2] = SYMBOL(7, STB_LOCAL, STT_FUNC, CODE + 0x40, 0x10);
    i.symbols[3] = SYMBOL(20, STB_WEAK, STT_FUNC, CODE + 0x200, 0x10);
    i.symbols[4] = SYMBOL(13, STB_GLOBAL, STT_FUNC, CODE + 0x200, 0x10);
    i.symbols[5] = SYMBOL(25, STB_GLOBAL, STT_OBJECT, CODE + 0x300, 0x10);
    i.symbols[6] = SYMBOL(32, STB_GLOBAL, STT_FUNC, CODE + 0x400, 0);
    return i;
}

static void write_file(const void *bytes, size_t size)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    assert_true(ftruncate(fd, (off_t)size) == 0 && close(fd) == 0);
}

/* Writes @image and returns the name at @address, or "" if there is none. */
static const char *name_in(const struct image *image, uint64_t address, uint64_t *start)
{
    static char name[64];
    write_file(image, sizeof(*image));
    struct sxs_elf_symbols *t = sxs_elf_symbols_read(path, NULL, 0);
    const char             *found = t ? sxs_elf_symbols_find(t, address, start) : NULL;
    (void)snprintf(name, sizeof(name), "%s", found ? found : "");
    sxs_elf_symbols_free(t);
    return name;
}

static void the_innermost_function_that_contains_an_address_names_it(void **state)
{
    struct image i = new_image();
    uint64_t     start = 0;
    (void)state;
    assert_string_equal(name_in(&i, CODE + 0x3f, &start), "outer");
    assert_int_equal(start, CODE);
    assert_string_equal(name_in(&i, CODE + 0x40, &start), "inner");
    assert_int_equal(start, CODE + 0x40);
    assert_string_equal(name_in(&i, CODE + 0x50, &start), "outer");
    assert_string_equal(name_in(&i, CODE + 0xff, &start), "outer");
    assert_string_equal(name_in(&i, CODE + 0x200, &start), "strong");
}

static void what_is_no_function_names_nothing(void **state)
{
    struct image i = new_image();
    uint64_t     start;
    (void)state;
    assert_string_equal(name_in(&i, CODE - 1, &start), "");
    assert_string_equal(name_in(&i, CODE + 0x100, &start), "");
    assert_string_equal(name_in(&i, CODE + 0x300, &start), "");
    assert_string_equal(name_in(&i, CODE + 0x400, &start), "");
    assert_string_equal(name_in(&i, UINT64_MAX, &start), "");
}

static void a_file_that_was_replaced_since_it_was_loaded_names_nothing(void **state)
{
    struct image            i = new_image();
    Elf64_Ehdr              loaded = i.head;
    struct sxs_elf_symbols *t;
    (void)state;
    write_file(&i, sizeof(i));
    t = sxs_elf_symbols_read(path, &loaded, sizeof(loaded));
    assert_non_null(t);
    sxs_elf_symbols_free(t);
    loaded.e_entry++;
    assert_null(sxs_elf_symbols_read(path, &loaded, sizeof(loaded)));
}

static void a_file_that_is_not_whole_names_nothing(void **state)
{
    struct image i = new_image();
    (void)state;
    for (size_t size = 0; size < sizeof(i); size++) {
        write_file(&i, size);
        assert_null(sxs_elf_symbols_read(path, NULL, 0));
    }
}

static void a_damaged_file_is_read_within_its_bounds(void **state)
{
    uint64_t start;
    (void)state;
    for (int n = 0; n < 3000; n++) {
        struct image i = new_image();
        for (int k = 0; k < 3; k++)
            ((uint8_t *)&i)[roll(sizeof(i))] = (uint8_t)roll(256);
        write_file(&i, sizeof(i));
        struct sxs_elf_symbols *t = sxs_elf_symbols_read(path, NULL, 0);
        for (uint64_t at = CODE; t && at < CODE + 0x500; at += 0x10) {
            const char *name = sxs_elf_symbols_find(t, at, &start);
            assert_true(!name || (strlen(name) <= sizeof(i) && start <= at));
        }
        sxs_elf_symbols_free(t);
    }
}

static void what_is_no_regular_file_is_refused_without_waiting(void **state)
{
    char pipe[sizeof(path) + 5];
    (void)state;
    (void)snprintf(pipe, sizeof(pipe), "%s.pipe", path);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_null(sxs_elf_symbols_read(pipe, NULL, 0));
    assert_int_equal(unlink(pipe), 0);
    assert_null(sxs_elf_symbols_read("/", NULL, 0));
    assert_null(sxs_elf_symbols_read("/dev/zero", NULL, 0));
    assert_null(sxs_elf_symbols_read(pipe, NULL, 0)); /* removed above */
}

static int first_free(void)
{
    int fd = dup(0);
    close(fd);
    return fd;
}

static __attribute__((noinline)) void named_by_no_exported_symbol(void)
{
    __asm__ volatile("");
}

static void this_programs_own_static_function_is_named_and_no_descriptor_stays(void **state)
{
    uint64_t  start = 0;
    uintptr_t bias = _r_debug.r_map->l_addr;
    int       before = first_free();
    (void)state;
    struct sxs_elf_symbols *t = sxs_elf_symbols_read("/proc/self/exe", NULL, 0);
    assert_non_null(t);
    assert_string_equal(
        sxs_elf_symbols_find(t, (uintptr_t)named_by_no_exported_symbol - bias, &start),
        "named_by_no_exported_symbol");
    assert_int_equal(start + bias, (uintptr_t)named_by_no_exported_symbol);
    sxs_elf_symbols_free(t);
    assert_int_equal(first_free(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_innermost_function_that_contains_an_address_names_it),
        cmocka_unit_test(what_is_no_function_names_nothing),
        cmocka_unit_test(a_file_that_was_replaced_since_it_was_loaded_names_nothing),
        cmocka_unit_test(a_file_that_is_not_whole_names_nothing),
        cmocka_unit_test(a_damaged_file_is_read_within_its_bounds),
        cmocka_unit_test(what_is_no_regular_file_is_refused_without_waiting),
        cmocka_unit_test(this_programs_own_static_function_is_named_and_no_descriptor_stays),
    };
    int result, fd = mkstemp(path);
    if (fd < 0)
        return 1;
    close(fd);
    result = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return result;
}
