/* SPDX-License-Identifier: MIT */
#include "cmd/symbols/pe_debug.h"

#include "cmd/output/must.h"
#include "instr/metadata/pe.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define MAX_ENTRIES 32 /* number of entries of the debug directory */

enum { CODE_VIEW = 2, EMBEDDED_PDB = 17, ENTRY_SIZE = 28 };

struct pe_image {
    int  fd;
    bool has_id;
};

static bool read_at(int fd, uint64_t at, void *out, size_t size)
{
    return pread(fd, out, size, (off_t)at) == (ssize_t)size;
}

static uint32_t u32(const uint8_t *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static uint64_t size_of(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && st.st_size > 0 ? (uint64_t)st.st_size : 0;
}

/* ---- the PE file ------------------------------------------------------------------------------ */

/* Finds the debug directory: its offset and size in the file. */
static bool find_debug_directory(const struct pe_image *m, uint64_t file_size, uint64_t *at,
                                 uint32_t *size)
{
    uint8_t       head[SXS_PE_HEADERS_SIZE];
    size_t        n = file_size < sizeof(head) ? (size_t)file_size : sizeof(head);
    struct sxs_pe pe;
    uint32_t      rva, left;
    if (!read_at(m->fd, 0, head, n) || sxs_pe_parse(head, n, &pe) != 0)
        return false;
    sxs_pe_directory(&pe, SXS_PE_DEBUG, &rva, size);
    *at = sxs_pe_offset(&pe, rva, &left);
    return *at != 0;
}

/* Takes the ID and the path of the PDB from an entry of the type CodeView. */
static void take_code_view(struct pe_image *m, const uint8_t *entry, struct sxs_pe_debug *out)
{
    uint32_t size = u32(entry + 16), at = u32(entry + 24), room = sizeof(out->path);
    uint8_t  head[24];
    if (size < sizeof(head) || !read_at(m->fd, at, head, sizeof(head)) ||
        memcmp(head, "RSDS", 4) != 0)
        return;
    memcpy(out->id, head + 4, 16);
    memcpy(out->id + 16, entry + 4, 4); /* time stamp of the entry */
    m->has_id = true;
    size -= (uint32_t)sizeof(head);
    if (size > room || !read_at(m->fd, (uint64_t)at + sizeof(head), out->path, size) ||
        !memchr(out->path, 0, size))
        out->path[0] = 0;
}

static void take_entry(struct pe_image *m, const uint8_t *entry, struct sxs_pe_debug *out)
{
    uint32_t type = u32(entry + 12), size = u32(entry + 16);
    if (type == EMBEDDED_PDB && size > 8) {
        out->embedded_at = u32(entry + 24);
        out->embedded_size = size;
    } else if (type == CODE_VIEW && !m->has_id) {
        take_code_view(m, entry, out);
    }
}

static bool read_image(struct pe_image *m, uint64_t file_size, struct sxs_pe_debug *out)
{
    uint64_t at;
    uint32_t size;
    uint8_t  entry[ENTRY_SIZE];
    if (!find_debug_directory(m, file_size, &at, &size))
        return false;
    for (size_t i = 0; i < size / ENTRY_SIZE && i < MAX_ENTRIES; i++)
        if (read_at(m->fd, at + i * ENTRY_SIZE, entry, sizeof(entry)))
            take_entry(m, entry, out);
    return m->has_id;
}

bool sxs_pe_read_debug(int fd, struct sxs_pe_debug *out)
{
    struct pe_image m = {.fd = fd};
    memset(out, 0, sizeof(*out));
    return read_image(&m, size_of(fd), out);
}

/* ---- the embedded PDB ------------------------------------------------------------------------- */

/* Format: "MPDB", the uncompressed size, and raw deflate data. */
static uint8_t *unpack(const uint8_t *packed, uint32_t packed_size, size_t max, size_t *size)
{
    z_stream z = {0};
    uint32_t room = u32(packed + 4);
    if (memcmp(packed, "MPDB", 4) != 0 || !room || room > max ||
        inflateInit2(&z, -MAX_WBITS) != Z_OK)
        return NULL;
    uint8_t *bytes = sxs_must_zeroed(room, 1);
    z.next_in = (Bytef *)(uintptr_t)(packed + 8);
    z.avail_in = packed_size - 8;
    z.next_out = bytes;
    z.avail_out = room;
    inflate(&z, Z_FINISH);
    *size = z.total_out;
    inflateEnd(&z);
    return bytes;
}

uint8_t *sxs_pe_read_embedded(int fd, const struct sxs_pe_debug *debug, size_t max, size_t *size)
{
    uint64_t file_size = size_of(fd);
    uint32_t packed_size = debug->embedded_size;
    uint8_t *bytes = NULL;
    if (packed_size <= 8 || packed_size > max || debug->embedded_at > file_size ||
        file_size - debug->embedded_at < packed_size)
        return NULL;
    uint8_t *packed = sxs_must_zeroed(packed_size, 1);
    if (read_at(fd, debug->embedded_at, packed, packed_size))
        bytes = unpack(packed, packed_size, max, size);
    free(packed);
    return bytes;
}
