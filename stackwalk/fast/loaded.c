/* SPDX-License-Identifier: MIT */
#include "stackwalk/fast/loaded.h"

#include <elf.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/elf_notes.h"
#include "base/find_object.h"
#include "base/safe_read.h"
#include "base/session_state.h"
#include "stackwalk/fast/cfi.h"

SXS_SIGSAFE static int is_read(void *to, uintptr_t from, size_t size)
{
    return sxs_safe_read(to, from, size) == size;
}

/* ---- files that walks have met --------------------------------------------------------------- */

enum { FREE, FILLED, COMPLETE };

static struct kept_file {
    _Atomic int       state;
    uintptr_t         map; /* address of the loader's description; only compared */
    struct sxs_loaded file;
} kept[32];
SXS_SESSION_RESETS(kept);

SXS_SIGSAFE static struct kept_file *reserve(void)
{
    for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
        int is = FREE;
        if (atomic_load_explicit(&kept[i].state, memory_order_relaxed) == FREE &&
            atomic_compare_exchange_strong(&kept[i].state, &is, FILLED))
            return &kept[i];
    }
    return NULL;
}

/* Reads the program headers of the file that begins at @start. Returns their number, or 0. */
SXS_SIGSAFE static size_t read_headers(uintptr_t start, ElfW(Phdr) * headers, size_t max)
{
    ElfW(Ehdr) elf;
    if (!is_read(&elf, start, sizeof(elf)) || memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 ||
        elf.e_phentsize != sizeof(*headers) || elf.e_phnum > max ||
        !is_read(headers, start + elf.e_phoff, elf.e_phnum * sizeof(*headers)))
        return 0;
    return elf.e_phnum;
}

/* Finds the build ID in a copy of a note segment, for which it makes up a file. */
SXS_SIGSAFE static uint8_t read_build_id(uintptr_t notes, size_t size, uint8_t id[20])
{
    uint8_t copy[256];
    ElfW(Phdr) made_up[2] = {{.p_type = PT_LOAD, .p_flags = PF_R}, {.p_type = PT_NOTE}};
    struct dl_phdr_info info = {
        .dlpi_addr = (uintptr_t)copy, .dlpi_phdr = made_up, .dlpi_phnum = ARRAY_LEN(made_up)};
    if (size > sizeof(copy) || !is_read(copy, notes, size))
        return 0;
    made_up[0].p_filesz = made_up[1].p_filesz = size;
    return sxs_elf_build_id(&info, id);
}

/* Returns 0 if the file cannot be read any more. */
SXS_SIGSAFE static int describe(const struct dl_find_object *object, struct sxs_loaded *file)
{
    struct link_map map;
    ElfW(Phdr) headers[16];
    size_t n = read_headers((uintptr_t)object->dlfo_map_start, headers, ARRAY_LEN(headers));
    if (!n || !is_read(&map, (uintptr_t)object->dlfo_link_map, sizeof(map)))
        return 0;
    file->bias = map.l_addr;
    file->lo = UINTPTR_MAX;
    file->hi = file->build_id_size = 0;
    for (size_t i = 0; i < n; i++) {
        uintptr_t lo = map.l_addr + headers[i].p_vaddr, hi = lo + headers[i].p_memsz;
        if (headers[i].p_type == PT_LOAD && (headers[i].p_flags & PF_X)) {
            file->lo = lo < file->lo ? lo : file->lo;
            file->hi = hi > file->hi ? hi : file->hi;
        } else if (headers[i].p_type == PT_NOTE && !file->build_id_size) {
            file->build_id_size = read_build_id(lo, headers[i].p_filesz, file->build_id);
        }
    }
    n = sxs_safe_read(file->path, (uintptr_t)map.l_name, sizeof(file->path) - 1);
    file->path[n] = '\0';
    file->time_ns = sxs_now_ns(CLOCK_MONOTONIC);
    return file->lo < file->hi && file->path[0] && strlen(file->path) < n;
}

SXS_SIGSAFE static int is_kept(const struct kept_file *new)
{
    const struct sxs_loaded *file = &new->file;
    for (size_t i = 0; i < ARRAY_LEN(kept); i++)
        if (atomic_load_explicit(&kept[i].state, memory_order_acquire) == COMPLETE &&
            kept[i].map == new->map &&kept[i].file.lo == file->lo &&kept[i].file.hi ==
                file->hi &&kept[i].file.build_id_size == file->build_id_size &&
            !memcmp(kept[i].file.build_id, file->build_id, file->build_id_size) &&
            !strcmp(kept[i].file.path, file->path))
            return 1;
    return 0;
}

SXS_SIGSAFE static void keep(const struct dl_find_object *object)
{
    struct kept_file *k = reserve();
    if (!k)
        return;
    k->map = (uintptr_t)object->dlfo_link_map;
    atomic_store_explicit(&k->state, describe(object, &k->file) && !is_kept(k) ? COMPLETE : FREE,
                          memory_order_release);
}

void sxs_loaded_each(void (*on)(const struct sxs_loaded *file, void *user), void *user)
{
    for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
        if (atomic_load_explicit(&kept[i].state, memory_order_acquire) != COMPLETE)
            continue;
        on(&kept[i].file, user);
        atomic_store_explicit(&kept[i].state, FREE, memory_order_release);
    }
}

/* ---- rules ----------------------------------------------------------------------------------- */

/* @section: address of .eh_frame_hdr; 0: there is none. Returns the address of the description of the
 * last function that begins at or before @pc, or 0. */
SXS_SIGSAFE static uintptr_t find_description(uintptr_t section, uintptr_t pc)
{
    struct sxs_cfi_list head;
    int32_t             pair[2];
    uint32_t            lo = 0, hi;
    if (!section || !is_read(&head, section, sizeof(head)) || !sxs_cfi_list_is_known(&head))
        return 0;
    for (hi = head.n; lo < hi;) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (!is_read(pair, section + sizeof(head) + mid * sizeof(pair), sizeof(pair)))
            return 0;
        if (section + (uintptr_t)(intptr_t)pair[0] <= pc)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (!lo || !is_read(pair, section + sizeof(head) + (lo - 1) * sizeof(pair), sizeof(pair)))
        return 0;
    return section + (uintptr_t)(intptr_t)pair[1];
}

/* Copies an entry of .eh_frame to @bytes. Returns its size, or 0 if it is larger than @max. */
SXS_SIGSAFE static size_t read_entry(uint8_t *bytes, size_t max, uintptr_t at)
{
    uint32_t size;
    if (!is_read(&size, at, sizeof(size)) || size > max - sizeof(size) ||
        !is_read(bytes, at, sizeof(size) + size))
        return 0;
    return sizeof(size) + size;
}

SXS_SIGSAFE static struct sxs_unwind_rule rule_in(uintptr_t description, uintptr_t pc)
{
    uint8_t        fde_bytes[512], cie_bytes[128];
    struct sxs_cfi fde = {fde_bytes, read_entry(fde_bytes, sizeof(fde_bytes), description),
                          description};
    struct sxs_cfi cie = {.bytes = cie_bytes};
    uint32_t       back;
    if (fde.size < 2 * sizeof(back))
        return (struct sxs_unwind_rule){.kind = SXS_RULE_NONE};
    memcpy(&back, fde_bytes + sizeof(back), sizeof(back));
    cie.address = description + sizeof(back) - back;
    cie.size = read_entry(cie_bytes, sizeof(cie_bytes), cie.address);
    return sxs_cfi_find_apart(&cie, &fde, pc).rule;
}

SXS_SIGSAFE int sxs_loaded_rule(uintptr_t pc, struct sxs_unwind_rule *rule)
{
    struct dl_find_object object;
    uintptr_t             description;
    if (sxs_find_object(pc, &object) != 0)
        return 0;
    keep(&object);
    description = find_description((uintptr_t)object.dlfo_eh_frame, pc);
    *rule =
        description ? rule_in(description, pc) : (struct sxs_unwind_rule){.kind = SXS_RULE_NONE};
    return rule->kind != SXS_RULE_NONE;
}
