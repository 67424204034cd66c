/* SPDX-License-Identifier: MIT */
#include "symbols/elf_symbols.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptors.h"

/* Larger tables are not read: the memory is the host's. */
#define MAX_TABLE_BYTES ((uint64_t)256 * 1024 * 1024)
/* Section numbers from SHN_LORESERVE on are not used. */
#define MAX_SECTIONS 0xff00u
/* Functions seldom overlap. An address is looked up in that many functions that begin before it. */
#define MAX_OVERLAP 16

struct function {
    uint64_t start, end; /* virtual addresses, half-open */
    uint32_t name;       /* offset in names */
    uint32_t rank;       /* among functions with the same range, the lowest rank wins */
};

struct sxs_elf_symbols {
    struct function *functions; /* owned; sorted by start */
    size_t           n;
    char            *names; /* owned; the last byte is zero */
    size_t           names_size;
};

struct symbols_job {
    const char             *path;
    const void             *header;
    size_t                  header_size;
    int                     fd;
    uint64_t                file_size;
    struct sxs_elf_symbols *table; /* filled */
};

static int read_at(const struct symbols_job *job, uint64_t offset, void *to, size_t size)
{
    char *at = to;
    if (offset > job->file_size || size > job->file_size - offset)
        return -1;
    while (size) {
        ssize_t n = pread(job->fd, at, size, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        at += n;
        offset += (uint64_t)n;
        size -= (size_t)n;
    }
    return 0;
}

/* Reads @size bytes at @offset into new memory, which @extra zero bytes follow. */
static void *read_new(const struct symbols_job *job, uint64_t offset, uint64_t size, size_t extra)
{
    char *bytes;
    if (!size || size > MAX_TABLE_BYTES || size > job->file_size)
        return NULL;
    bytes = malloc((size_t)size + extra);
    if (!bytes || read_at(job, offset, bytes, (size_t)size) != 0) {
        free(bytes);
        return NULL;
    }
    memset(bytes + size, 0, extra);
    return bytes;
}

static int is_ours(const struct symbols_job *job, const Elf64_Ehdr *head)
{
    if (memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64 ||
        head->e_ident[EI_DATA] != ELFDATA2LSB || head->e_shentsize != sizeof(Elf64_Shdr) ||
        !head->e_shnum || head->e_shnum >= MAX_SECTIONS)
        return 0;
    return !job->header ||
           (job->header_size <= sizeof(*head) && !memcmp(head, job->header, job->header_size));
}

static int is_function(const Elf64_Sym *sym)
{
    unsigned type = ELF64_ST_TYPE(sym->st_info);
    return sym->st_shndx != SHN_UNDEF && sym->st_size &&
           sym->st_value + sym->st_size > sym->st_value &&
           (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE);
}

static uint32_t rank_of(const Elf64_Sym *sym)
{
    unsigned bind = ELF64_ST_BIND(sym->st_info);
    return bind == STB_GLOBAL ? 0 : bind == STB_WEAK ? 1 : 2;
}

static int by_start(const void *a, const void *b)
{
    const struct function *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end) /* the inner of two functions comes last, where the search begins */
        return x->end > y->end ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank > y->rank ? -1 : 1;
    return (x->name < y->name) - (x->name > y->name);
}

static int keep_functions(struct sxs_elf_symbols *table, const Elf64_Sym *symbols, size_t n)
{
    table->functions = calloc(n, sizeof(*table->functions));
    if (!table->functions)
        return -1;
    for (size_t i = 0; i < n; i++) {
        const Elf64_Sym *sym = &symbols[i];
        if (!is_function(sym) || sym->st_name >= table->names_size || !table->names[sym->st_name])
            continue;
        table->functions[table->n++] = (struct function){
            sym->st_value, sym->st_value + sym->st_size, sym->st_name, rank_of(sym)};
    }
    if (!table->n)
        return -1;
    qsort(table->functions, table->n, sizeof(*table->functions), by_start);
    return 0;
}

/* Reads the symbol table that section header @at describes, and its names. */
static int read_table(const struct symbols_job *job, const Elf64_Shdr *sections, size_t n,
                      const Elf64_Shdr *at)
{
    Elf64_Sym *symbols;
    int        rc = -1;
    if (at->sh_link >= n || at->sh_entsize != sizeof(Elf64_Sym) ||
        sections[at->sh_link].sh_type != SHT_STRTAB)
        return -1;
    symbols = read_new(job, at->sh_offset, at->sh_size - at->sh_size % sizeof(Elf64_Sym), 0);
    const Elf64_Shdr *names = &sections[at->sh_link];
    job->table->names = read_new(job, names->sh_offset, names->sh_size, 1);
    job->table->names_size = (size_t)names->sh_size;
    if (symbols && job->table->names)
        rc = keep_functions(job->table, symbols, (size_t)(at->sh_size / sizeof(Elf64_Sym)));
    free(symbols);
    return rc;
}

static int read_open_file(const struct symbols_job *job)
{
    Elf64_Ehdr  head;
    Elf64_Shdr *sections;
    int         rc = -1;
    if (read_at(job, 0, &head, sizeof(head)) != 0 || !is_ours(job, &head))
        return -1;
    sections = read_new(job, head.e_shoff, (uint64_t)head.e_shnum * sizeof(*sections), 0);
    for (size_t i = 0; sections && i < head.e_shnum; i++) {
        if (sections[i].sh_type != SHT_SYMTAB)
            continue;
        rc = read_table(job, sections, head.e_shnum, &sections[i]);
        break;
    }
    free(sections);
    return rc;
}

static int read_file(void *arg)
{
    struct symbols_job *job = arg;
    struct stat         st;
    int                 rc = -1;
    job->fd = open(job->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (job->fd < 0)
        return -1;
    if (fstat(job->fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
        job->file_size = (uint64_t)st.st_size;
        rc = read_open_file(job);
    }
    close(job->fd);
    return rc;
}

struct sxs_elf_symbols *sxs_elf_symbols_read(const char *path, const void *header,
                                             size_t header_size)
{
    struct symbols_job job = {.path = path, .header = header, .header_size = header_size};
    int                rc;
    job.table = calloc(1, sizeof(*job.table));
    if (!job.table)
        return NULL;
    rc = sxs_descriptors_call(read_file, &job);
    if (rc == -ECHILD)
        rc = read_file(&job);
    if (rc == 0)
        return job.table;
    sxs_elf_symbols_free(job.table);
    return NULL;
}

const char *sxs_elf_symbols_find(const struct sxs_elf_symbols *table, uint64_t address,
                                 uint64_t *start)
{
    size_t lo = 0, hi = table->n; /* the first function that begins after the address */
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (table->functions[mid].start <= address)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (size_t i = lo; i > 0 && lo - i < MAX_OVERLAP; i--) {
        const struct function *f = &table->functions[i - 1];
        if (address < f->end) {
            *start = f->start;
            return table->names + f->name;
        }
    }
    return NULL;
}

void sxs_elf_symbols_free(struct sxs_elf_symbols *table)
{
    if (!table)
        return;
    free(table->functions);
    free(table->names);
    free(table);
}
