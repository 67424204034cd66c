/* SPDX-License-Identifier: MIT */
/* test_elf_notes.c - a build ID is found, and notes that lie are read no further than the file is loaded. */
#include <elf.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "base/elf_notes.h"

#define PAGE ((size_t)4096)

/* Notes at the end of a page, after which nothing can be read. */
static uint8_t find(const void *notes, size_t size, size_t claimed, uint8_t id[20])
{
    char *page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ElfW(Phdr) ph[2] = {
        {.p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = PAGE, .p_memsz = PAGE},
        {.p_type = PT_NOTE, .p_vaddr = PAGE - size, .p_filesz = claimed, .p_memsz = claimed}};
    struct dl_phdr_info info = {.dlpi_addr = (uintptr_t)page, .dlpi_phdr = ph, .dlpi_phnum = 2};
    uint8_t             found;
    assert_true(page != MAP_FAILED && mprotect(page + PAGE, PAGE, PROT_NONE) == 0);
    memcpy(page + PAGE - size, notes, size);
    found = sxs_elf_build_id(&info, id);
    munmap(page, 2 * PAGE);
    return found;
}

struct note {
    ElfW(Nhdr) head;
    char    name[4];
    uint8_t desc[20];
};

static struct note build_id(void)
{
    struct note n = {{4, 20, NT_GNU_BUILD_ID}, "GNU", {0}};
    memset(n.desc, 0xab, sizeof(n.desc));
    return n;
}

static void a_build_id_is_found(void **state)
{
    struct note n = build_id();
    uint8_t     id[20] = {0};
    (void)state;
    assert_int_equal(find(&n, sizeof(n), sizeof(n), id), 20);
    assert_memory_equal(id, n.desc, 20);
}

static void sizes_that_lead_out_of_the_file_are_refused(void **state)
{
    static const uint32_t sizes[] = {5, 24, 4096, 0x7fffffff, 0xfffffffc, 0xfffffffd, 0xffffffff};
    uint8_t               id[20];
    (void)state;
    for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct note n = build_id();
        n.head.n_namesz = sizes[i];
        assert_int_equal(find(&n, sizeof(n), sizeof(n), id), 0);
        n = build_id();
        n.head.n_descsz = sizes[i] < 20 ? 21 : sizes[i];
        assert_int_equal(find(&n, sizeof(n), sizeof(n), id), 0);
        n.head.n_type = 1; /* and what comes after a note that is skipped */
        assert_int_equal(find(&n, sizeof(n), sizeof(n), id), 0);
    }
}

static void notes_beyond_the_segment_are_not_read(void **state)
{
    struct note n = build_id();
    uint8_t     id[20];
    (void)state;
    n.head.n_type = 1;
    assert_int_equal(find(&n, sizeof(n), sizeof(n) + PAGE, id), 0);
    assert_int_equal(find(&n, sizeof(n), SIZE_MAX - 64, id), 0);
    assert_int_equal(find(&n, 8, 8, id), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_build_id_is_found),
        cmocka_unit_test(sizes_that_lead_out_of_the_file_are_refused),
        cmocka_unit_test(notes_beyond_the_segment_are_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
