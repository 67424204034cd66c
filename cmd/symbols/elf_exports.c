/* SPDX-License-Identifier: MIT */
#include "cmd/symbols/elf_exports.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

/* Files with more are garbled: linkers write a dozen headers, a few dozen entries, and chains of a few
 * symbols. */
enum { MAX_HEADERS = 256, MAX_ENTRIES = 1024, MAX_CHAIN = 4096, MAX_NAME = 128 };

struct exports_image {
    int        fd;
    bool       in_memory; /* the descriptor is the memory of a process, with the image at `base` */
    uint64_t   base;
    unsigned   n_headers;
    Elf64_Phdr headers[MAX_HEADERS];
    uint64_t   symbols, strings, gnu_hash, hash; /* addresses; 0: none */
};

static bool read_at(const struct exports_image *im, void *out, size_t size, uint64_t at)
{
    uint64_t from = im->base + at;
    return from >= at && from <= INT64_MAX - size &&
           pread(im->fd, out, size, (off_t)from) == (ssize_t)size;
}

/* The place of byte @offset of segment @h: in a file, or after the beginning of the image in memory. */
static uint64_t place_of(const struct exports_image *im, const Elf64_Phdr *h, uint64_t offset)
{
    return (im->in_memory ? h->p_vaddr : h->p_offset) + offset;
}

/* Reads @size bytes that the loader would map at @address. */
static bool read_mapped(const struct exports_image *im, void *out, size_t size, uint64_t address)
{
    for (unsigned i = 0; i < im->n_headers; i++) {
        const Elf64_Phdr *h = &im->headers[i];
        if (h->p_type == PT_LOAD && address >= h->p_vaddr && address - h->p_vaddr < h->p_filesz &&
            size <= h->p_filesz - (address - h->p_vaddr))
            return h->p_offset <= INT64_MAX - (address - h->p_vaddr) &&
                   read_at(im, out, size, place_of(im, h, address - h->p_vaddr));
    }
    return false;
}

static bool read_headers(struct exports_image *im)
{
    Elf64_Ehdr eh;
    if (!read_at(im, &eh, sizeof(eh), 0) || memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 ||
        eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_ident[EI_DATA] != ELFDATA2LSB ||
        eh.e_phentsize != sizeof(Elf64_Phdr) || eh.e_phnum > MAX_HEADERS)
        return false;
    im->n_headers = eh.e_phnum;
    return read_at(im, im->headers, eh.e_phnum * sizeof(Elf64_Phdr), eh.e_phoff);
}

static void take_entry(struct exports_image *im, const Elf64_Dyn *d)
{
    /* The loader has added the address of the image to those of its tables. */
    uint64_t at = d->d_un.d_ptr - (im->in_memory && d->d_un.d_ptr >= im->base ? im->base : 0);
    if (d->d_tag == DT_SYMTAB)
        im->symbols = at;
    else if (d->d_tag == DT_STRTAB)
        im->strings = at;
    else if (d->d_tag == DT_GNU_HASH)
        im->gnu_hash = at;
    else if (d->d_tag == DT_HASH)
        im->hash = at;
}

static bool read_dynamic(struct exports_image *im)
{
    const Elf64_Phdr *dynamic = NULL;
    Elf64_Dyn         entries[64];
    for (unsigned i = 0; i < im->n_headers && !dynamic; i++)
        if (im->headers[i].p_type == PT_DYNAMIC)
            dynamic = &im->headers[i];
    uint64_t n = dynamic ? dynamic->p_filesz / sizeof(Elf64_Dyn) : 0;
    for (uint64_t i = 0; i < n && i < MAX_ENTRIES;) {
        size_t some = n - i < 64 ? (size_t)(n - i) : 64;
        if (!read_at(im, entries, some * sizeof(Elf64_Dyn),
                     place_of(im, dynamic, i * sizeof(Elf64_Dyn))))
            return false;
        for (size_t k = 0; k < some; k++, i++) {
            if (entries[k].d_tag == DT_NULL)
                return im->symbols && im->strings;
            take_entry(im, &entries[k]);
        }
    }
    return im->symbols && im->strings;
}

/* Tells whether symbol number @index is a definition of @name. */
static bool is_symbol(const struct exports_image *im, uint64_t index, const char *name)
{
    Elf64_Sym sym;
    char      text[MAX_NAME];
    size_t    len = strlen(name) + 1;
    return len <= sizeof(text) &&
           read_mapped(im, &sym, sizeof(sym), im->symbols + index * sizeof(sym)) &&
           sym.st_shndx != SHN_UNDEF && read_mapped(im, text, len, im->strings + sym.st_name) &&
           memcmp(text, name, len) == 0;
}

static uint32_t gnu_hash_of(const char *name)
{
    uint32_t h = 5381;
    for (; *name; name++)
        h = h * 33 + (unsigned char)*name;
    return h;
}

static bool find_gnu(const struct exports_image *im, const char *name)
{
    struct {
        uint32_t n_buckets, first, n_bloom, shift;
    } head;
    uint32_t hash = gnu_hash_of(name), index, value;
    if (!read_mapped(im, &head, sizeof(head), im->gnu_hash) || !head.n_buckets)
        return false;
    uint64_t buckets = im->gnu_hash + sizeof(head) + 8 * (uint64_t)head.n_bloom;
    uint64_t chains = buckets + 4 * (uint64_t)head.n_buckets;
    if (!read_mapped(im, &index, 4, buckets + 4 * (uint64_t)(hash % head.n_buckets)) ||
        index < head.first)
        return false;
    for (int i = 0; i < MAX_CHAIN; i++, index++) {
        if (!read_mapped(im, &value, 4, chains + 4 * (uint64_t)(index - head.first)))
            return false;
        if ((value | 1) == (hash | 1) && is_symbol(im, index, name))
            return true;
        if (value & 1)
            return false;
    }
    return false;
}

static uint32_t hash_of(const char *name)
{
    uint32_t h = 0;
    for (; *name; name++) {
        h = (h << 4) + (unsigned char)*name;
        h ^= (h & 0xf0000000) >> 24;
        h &= 0x0fffffff;
    }
    return h;
}

static bool find_sysv(const struct exports_image *im, const char *name)
{
    uint32_t head[2], index; /* numbers of buckets, of chains */
    if (!read_mapped(im, head, sizeof(head), im->hash) || !head[0])
        return false;
    uint64_t buckets = im->hash + sizeof(head), chains = buckets + 4 * (uint64_t)head[0];
    if (!read_mapped(im, &index, 4, buckets + 4 * (uint64_t)(hash_of(name) % head[0])))
        return false;
    for (int i = 0; i < MAX_CHAIN && index; i++) {
        if (is_symbol(im, index, name))
            return true;
        if (!read_mapped(im, &index, 4, chains + 4 * (uint64_t)index))
            return false;
    }
    return false;
}

static unsigned find_exports(struct exports_image *im, const char *const *symbols)
{
    unsigned found = 0;
    if (!read_headers(im) || !read_dynamic(im))
        return 0;
    for (unsigned i = 0; i < 32 && symbols[i]; i++)
        if (im->gnu_hash ? find_gnu(im, symbols[i]) : im->hash && find_sysv(im, symbols[i]))
            found |= 1u << i;
    return found;
}

unsigned sxs_elf_exports_in(int fd, const char *const *symbols)
{
    return find_exports(&(struct exports_image){.fd = fd}, symbols);
}

unsigned sxs_elf_exports_in_memory(int fd, uint64_t base, const char *const *symbols)
{
    return find_exports(&(struct exports_image){.fd = fd, .in_memory = true, .base = base},
                        symbols);
}
