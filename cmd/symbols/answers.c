/* SPDX-License-Identifier: MIT */
#include "cmd/symbols/answers.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* A byte that is neither 0 nor 1 is no value of this type. */
static bool is_bool(const void *bytes, size_t at)
{
    return ((const unsigned char *)bytes)[at] <= 1;
}

static bool ends(const char *text, size_t room)
{
    return memchr(text, '\0', room) != NULL;
}

static bool has_no_zero(const void *text, size_t size)
{
    return !size || !memchr(text, '\0', size);
}

bool sxs_elf_opened_read(const void *bytes, size_t size, struct sxs_elf_opened *out)
{
    if (size != sizeof(*out) || !is_bool(bytes, offsetof(struct sxs_elf_opened, is_ours)) ||
        !is_bool(bytes, offsetof(struct sxs_elf_opened, is_usable)) ||
        !is_bool(bytes, offsetof(struct sxs_elf_opened, no_debug)))
        return false;
    memcpy(out, bytes, sizeof(*out));
    return out->build_id_size <= sizeof(out->build_id) && ends(out->problem, sizeof(out->problem));
}

bool sxs_elf_named_read(const void *bytes, size_t size, struct sxs_elf_named *out,
                        const char **texts)
{
    if (size < sizeof(*out))
        return false;
    memcpy(out, bytes, sizeof(*out));
    *texts = (const char *)bytes + sizeof(*out);
    return out->symbol_size <= SXS_ELF_TEXT && out->source_size <= SXS_ELF_TEXT &&
           size - sizeof(*out) == (size_t)out->symbol_size + out->source_size &&
           has_no_zero(*texts, size - sizeof(*out)) && out->line <= INT32_MAX &&
           out->at_line <= INT32_MAX;
}

/* Returns true when @fd is a file in memory of this size that has all seals. */
static bool is_sealed(int fd, uint64_t size)
{
    struct stat st;
    int         seals = fcntl(fd, F_GET_SEALS);
    return seals >= 0 && (seals & SXS_PDB_SEALS) == SXS_PDB_SEALS && fstat(fd, &st) == 0 &&
           S_ISREG(st.st_mode) && st.st_size > 0 && (uint64_t)st.st_size == size;
}

bool sxs_pdb_found_read(const void *bytes, size_t size, int fd, struct sxs_pdb_found *out,
                        const char **wrong)
{
    if (size < sizeof(*out) || !is_bool(bytes, offsetof(struct sxs_pdb_found, is_ours)))
        return false;
    memcpy(out, bytes, sizeof(*out));
    *wrong = (const char *)bytes + sizeof(*out);
    return ends(out->problem, sizeof(out->problem)) && has_no_zero(*wrong, size - sizeof(*out)) &&
           out->size <= sxs_pdb_most(out->is_ours) &&
           (out->size ? fd >= 0 && is_sealed(fd, out->size) : fd < 0);
}
