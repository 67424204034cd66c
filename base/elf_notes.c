/* SPDX-License-Identifier: MIT */
#include "base/elf_notes.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#include "base/base.h"
#include "base/loader.h"

static void executable_range(struct sxs_elf *elf, const struct dl_phdr_info *info)
{
    elf->lo = UINTPTR_MAX;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t lo = info->dlpi_addr + p->p_vaddr;
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
            continue;
        if (lo < elf->lo)
            elf->lo = lo;
        if (lo + p->p_memsz > elf->hi)
            elf->hi = lo + p->p_memsz;
    }
    if (elf->lo > elf->hi)
        elf->lo = elf->hi = 0;
}

/* Returns the end address of the readable segment that contains @at, or 0 if there is none. */
SXS_SIGSAFE static uintptr_t segment_end(const struct dl_phdr_info *info, uintptr_t at)
{
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t lo = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD && (p->p_flags & PF_R) && at >= lo && at < lo + p->p_filesz)
            return lo + p->p_filesz;
    }
    return 0;
}

/* Finds .eh_frame by means of .eh_frame_hdr, which @header describes. The second byte of
 * .eh_frame_hdr is the encoding of the pointer to .eh_frame, which is at byte 4. */
static void find_eh_frame(struct sxs_elf *elf, const struct dl_phdr_info *info,
                          const ElfW(Phdr) * header)
{
    uintptr_t at = info->dlpi_addr + header->p_vaddr, end;
    uint8_t   head[8];
    int32_t   offset;
    if (header->p_memsz < sizeof(head) || segment_end(info, at) < at + sizeof(head))
        return;
    memcpy(head, (const void *)at, sizeof(head));
    if (head[0] != 1 || head[1] != 0x1b) /* pc-relative, signed, 4 bytes: all linkers write this */
        return;
    memcpy(&offset, head + 4, sizeof(offset));
    elf->eh_frame = at + 4 + (uintptr_t)(intptr_t)offset;
    elf->header = at;
    elf->header_size =
        segment_end(info, at) - at < header->p_memsz ? segment_end(info, at) - at : header->p_memsz;
    end = segment_end(info, elf->eh_frame);
    if (end) /* the exact size is left to the code that copies .eh_frame: it takes a full read */
        elf->eh_frame_room = end - elf->eh_frame;
    else
        elf->eh_frame = 0;
}

/* Copies the build ID from the note segment @notes to @id. Returns its size in bytes, or 0. */
SXS_SIGSAFE static uint8_t find_build_id(uint8_t id[20], const struct dl_phdr_info *info,
                                         const ElfW(Phdr) * notes)
{
    uintptr_t at = info->dlpi_addr + notes->p_vaddr, end = at + notes->p_filesz;
    if (end < at || segment_end(info, at) < end)
        return 0;
    while (end - at >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) note;
        uint64_t  name_size, desc_size;
        uintptr_t name = at + sizeof(note);
        memcpy(&note, (const void *)at, sizeof(note));
        name_size = ((uint64_t)note.n_namesz + 3) & ~UINT64_C(3);
        desc_size = ((uint64_t)note.n_descsz + 3) & ~UINT64_C(3);
        if (name_size > end - name || note.n_descsz > end - name - name_size)
            return 0;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && note.n_descsz <= 20 &&
            !memcmp((const void *)name, "GNU", 4)) {
            memcpy(id, (const void *)(name + name_size), note.n_descsz);
            return (uint8_t)note.n_descsz;
        }
        if (desc_size > end - name - name_size)
            return 0;
        at = name + name_size + desc_size;
    }
    return 0;
}

SXS_SIGSAFE uint8_t sxs_elf_build_id(const struct dl_phdr_info *info, uint8_t id[20])
{
    uint8_t size = 0;
    for (unsigned i = 0; i < info->dlpi_phnum && !size; i++)
        if (info->dlpi_phdr[i].p_type == PT_NOTE)
            size = find_build_id(id, info, &info->dlpi_phdr[i]);
    return size;
}

struct elf_visit {
    int (*on)(const struct sxs_elf *elf, void *user);
    void *user;
};

static int on_file(struct dl_phdr_info *info, size_t size, void *user)
{
    struct elf_visit *each = user;
    struct sxs_elf elf = {.bias = info->dlpi_addr, .path = info->dlpi_name ? info->dlpi_name : ""};
    (void)size;
    executable_range(&elf, info);
    if (!elf.hi)
        return 0;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_GNU_EH_FRAME)
            find_eh_frame(&elf, info, p);
    }
    elf.build_id_size = sxs_elf_build_id(info, elf.build_id);
    return each->on(&elf, each->user);
}

int sxs_elf_each(int (*on)(const struct sxs_elf *elf, void *user), void *user)
{
    struct elf_visit each = {on, user};
    return sxs_loader_each(on_file, &each);
}

static int on_first(struct dl_phdr_info *info, size_t size, void *user)
{
    uint64_t *changes = user;
    (void)size;
    *changes = info->dlpi_adds + info->dlpi_subs;
    return 1;
}

uint64_t sxs_elf_changes(void)
{
    uint64_t changes = 0;
    sxs_loader_each(on_first, &changes);
    return changes;
}
