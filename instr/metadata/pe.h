/* SPDX-License-Identifier: MIT */
/**
 * instr/metadata/pe.h - parse the headers of a PE file (an assembly): its sections and data
 * directories.
 *
 * The bytes are untrusted. Pure functions; any thread; not signal-safe.
 */
#ifndef SXS_INSTR_METADATA_PE_H
#define SXS_INSTR_METADATA_PE_H

#include <stddef.h>
#include <stdint.h>

/** Bytes from the begin of a file that have all headers of an assembly: DOS and PE headers, and the
 *  table of SXS_PE_SECTIONS_MAX sections. */
#define SXS_PE_HEADERS_SIZE 8192u
#define SXS_PE_SECTIONS_MAX 96u

enum sxs_pe_directory { SXS_PE_DEBUG = 6, SXS_PE_CLI = 14 };

struct sxs_pe {
    const uint8_t *head;     /* borrowed */
    size_t         size;     /* bytes of `head` */
    size_t         optional; /* offset of the optional header */
    size_t         sections; /* offset of the table of sections, which lies in `head` */
    uint32_t       n_sections;
};

/** sxs_pe_parse - parse the headers @head of @size bytes, which is a whole file or the begin of one.
 *  Returns 0, or -1 when the bytes are no PE file or its headers are cut off. */
int sxs_pe_parse(const uint8_t *head, size_t size, struct sxs_pe *out);

/** sxs_pe_directory - get a data directory. @rva, @bytes: receive its address in the image and its
 *  size; 0 when there is none. */
void sxs_pe_directory(const struct sxs_pe *pe, enum sxs_pe_directory which, uint32_t *rva,
                      uint32_t *bytes);

/** sxs_pe_offset - convert the address @rva of the image to an offset in the file. @left: receives
 *  the number of bytes from there to the end of the section's part of the file. Returns 0 when no
 *  section contains the address; no section begins at offset 0. */
uint64_t sxs_pe_offset(const struct sxs_pe *pe, uint32_t rva, uint32_t *left);

/** sxs_pe_end - return the offset at which the last section ends in the file. */
uint64_t sxs_pe_end(const struct sxs_pe *pe);

#endif
