/* SPDX-License-Identifier: MIT */
#include "cmd/symbols/pe_debug.h"

#include "cmd/output/must.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define MAX_SECTION 96           /* number of sections of a PE file */
#define MAX_ENTRIES 32           /* number of entries of its debug directory */

enum { DEBUG_DIRECTORY = 6, CODE_VIEW = 2, EMBEDDED_PDB = 17, ENTRY_SIZE = 28 };

struct section {
    uint32_t size, address, raw_size, raw;
};

struct image {
    int            fd;
    struct section sections[MAX_SECTION];
    size_t         n_sections;
    uint32_t       debug_address, debug_size;
    bool           has_id;
};

static bool read_at(int fd, uint64_t at, void *out, size_t size)
{
    return pread(fd, out, size, (off_t)at) == (ssize_t)size;
}

static uint32_t u16(const uint8_t *at)
{
    return at[0] | (uint32_t)at[1] << 8;
}

static uint32_t u32(const uint8_t *at)
{
    return u16(at) | u16(at + 2) << 16;
}

static int open_regular(const char *path, uint64_t *size)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return -1;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return -1;
    }
    *size = (uint64_t)st.st_size;
    return fd;
}

/* ---- the PE file ------------------------------------------------------------------------------ */

static bool read_sections(struct image *m, uint64_t at, size_t n)
{
    uint8_t raw[40];
    for (size_t i = 0; i < n && i < MAX_SECTION; i++) {
        if (!read_at(m->fd, at + i * sizeof(raw), raw, sizeof(raw)))
            return false;
        m->sections[m->n_sections++] =
            (struct section){u32(raw + 8), u32(raw + 12), u32(raw + 16), u32(raw + 20)};
    }
    return true;
}

static bool read_headers(struct image *m)
{
    uint8_t  dos[64], head[24], optional[256] = {0};
    uint32_t pe, size, at;
    if (!read_at(m->fd, 0, dos, sizeof(dos)) || dos[0] != 'M' || dos[1] != 'Z')
        return false;
    pe = u32(dos + 60);
    if (!read_at(m->fd, pe, head, sizeof(head)) || memcmp(head, "PE\0", 4) != 0)
        return false;
    size = u16(head + 20);
    if (size < 2 || !read_at(m->fd, (uint64_t)pe + 24, optional,
                             size < sizeof(optional) ? size : sizeof(optional)))
        return false;
    at = u16(optional) == 0x20b ? 112 : 96; /* offset of the data directories in PE32+, in PE32 */
    if (u32(optional + at - 4) <= DEBUG_DIRECTORY || size < at + 8 * (DEBUG_DIRECTORY + 1))
        return false;
    m->debug_address = u32(optional + at + 8 * DEBUG_DIRECTORY);
    m->debug_size = u32(optional + at + 8 * DEBUG_DIRECTORY + 4);
    return read_sections(m, (uint64_t)pe + 24 + size, u16(head + 6));
}

/* Converts an address of the image to an offset in the file; returns false when no section contains
 * it. */
static bool offset_of(const struct image *m, uint32_t address, uint64_t *offset)
{
    for (size_t i = 0; i < m->n_sections; i++) {
        const struct section *s = &m->sections[i];
        if (address >= s->address && address - s->address < s->raw_size) {
            *offset = (uint64_t)s->raw + (address - s->address);
            return true;
        }
    }
    return false;
}

/* Takes the ID and the path of the PDB from an entry of the type CodeView. */
static void take_code_view(struct image *m, const uint8_t *entry, struct sxs_pe_debug *out)
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

static void take_entry(struct image *m, const uint8_t *entry, struct sxs_pe_debug *out)
{
    uint32_t type = u32(entry + 12), size = u32(entry + 16);
    if (type == EMBEDDED_PDB && size > 8) {
        out->embedded_at = u32(entry + 24);
        out->embedded_size = size;
    } else if (type == CODE_VIEW && !m->has_id) {
        take_code_view(m, entry, out);
    }
}

static bool read_image(struct image *m, struct sxs_pe_debug *out)
{
    uint64_t at;
    uint8_t  entry[ENTRY_SIZE];
    if (!read_headers(m) || !offset_of(m, m->debug_address, &at))
        return false;
    for (size_t i = 0; i < m->debug_size / ENTRY_SIZE && i < MAX_ENTRIES; i++)
        if (read_at(m->fd, at + i * ENTRY_SIZE, entry, sizeof(entry)))
            take_entry(m, entry, out);
    return m->has_id;
}

bool sxs_pe_read_debug(const char *path, struct sxs_pe_debug *out)
{
    uint64_t     file_size;
    struct image m = {.fd = open_regular(path, &file_size)};
    memset(out, 0, sizeof(*out));
    if (m.fd < 0)
        return false;
    bool found = read_image(&m, out);
    close(m.fd);
    return found;
}

/* ---- the embedded PDB ------------------------------------------------------------------------- */

/* Format: "MPDB", the uncompressed size, and raw deflate data. */
static uint8_t *unpack(const uint8_t *packed, uint32_t packed_size, size_t *size)
{
    z_stream z = {0};
    uint32_t room = u32(packed + 4);
    if (memcmp(packed, "MPDB", 4) != 0 || !room || room > SXS_MAX_PDB ||
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

uint8_t *sxs_pe_read_embedded(const char *path, const struct sxs_pe_debug *debug, size_t *size)
{
    uint64_t file_size = 0;
    uint32_t packed_size = debug->embedded_size;
    uint8_t *bytes = NULL;
    int      fd = packed_size > 8 ? open_regular(path, &file_size) : -1;
    if (fd < 0)
        return NULL;
    if (debug->embedded_at <= file_size && file_size - debug->embedded_at >= packed_size) {
        uint8_t *packed = sxs_must_zeroed(packed_size, 1);
        if (read_at(fd, debug->embedded_at, packed, packed_size))
            bytes = unpack(packed, packed_size, size);
        free(packed);
    }
    close(fd);
    return bytes;
}
