/* SPDX-License-Identifier: MIT */
/**
 * instr/metadata/metadata.h - read the metadata of an assembly (ECMA-335 II.22 to II.24) from the
 * bytes of its file.
 *
 * The bytes are untrusted, and every offset is checked. An item that does not exist reads as 0, as
 * an empty string or as an empty blob. Results point into the bytes. Any number of threads may read
 * at once. Rows are numbered from 1.
 */
#ifndef SXS_INSTR_METADATA_METADATA_H
#define SXS_INSTR_METADATA_METADATA_H

#include <stddef.h>
#include <stdint.h>

#include "instr/metadata/pe.h"

enum sxs_table {
    SXS_TABLE_MODULE = 0x00,
    SXS_TABLE_TYPE_REF = 0x01,
    SXS_TABLE_TYPE_DEF = 0x02,
    SXS_TABLE_FIELD = 0x04,
    SXS_TABLE_METHOD_DEF = 0x06,
    SXS_TABLE_PARAM = 0x08,
    SXS_TABLE_MEMBER_REF = 0x0a,
    SXS_TABLE_CUSTOM_ATTRIBUTE = 0x0c,
    SXS_TABLE_STAND_ALONE_SIG = 0x11,
    SXS_TABLE_MODULE_REF = 0x1a,
    SXS_TABLE_TYPE_SPEC = 0x1b,
    SXS_TABLE_ASSEMBLY = 0x20,
    SXS_TABLE_ASSEMBLY_REF = 0x23,
    SXS_TABLE_EXPORTED_TYPE = 0x27,
    SXS_TABLE_NESTED_CLASS = 0x29,
    SXS_TABLE_GENERIC_PARAM = 0x2a,
    SXS_TABLE_METHOD_SPEC = 0x2b,
    SXS_N_TABLES = 0x2d,
};

/** Columns of tables, in the order of ECMA-335. */
enum {
    SXS_TYPE_REF_SCOPE = 0,
    SXS_TYPE_REF_NAME,
    SXS_TYPE_REF_NAMESPACE,
    SXS_TYPE_DEF_FLAGS = 0,
    SXS_TYPE_DEF_NAME,
    SXS_TYPE_DEF_NAMESPACE,
    SXS_TYPE_DEF_EXTENDS,
    SXS_TYPE_DEF_FIELDS,
    SXS_TYPE_DEF_METHODS,
    SXS_FIELD_FLAGS = 0,
    SXS_FIELD_NAME,
    SXS_FIELD_SIGNATURE,
    SXS_METHOD_DEF_RVA = 0,
    SXS_METHOD_DEF_IMPL_FLAGS,
    SXS_METHOD_DEF_FLAGS,
    SXS_METHOD_DEF_NAME,
    SXS_METHOD_DEF_SIGNATURE,
    SXS_METHOD_DEF_PARAMS,
    SXS_PARAM_FLAGS = 0,
    SXS_PARAM_SEQUENCE,
    SXS_PARAM_NAME,
    SXS_MEMBER_REF_PARENT = 0,
    SXS_MEMBER_REF_NAME,
    SXS_MEMBER_REF_SIGNATURE,
    SXS_CUSTOM_ATTRIBUTE_PARENT = 0,
    SXS_CUSTOM_ATTRIBUTE_TYPE, /* the constructor */
    SXS_CUSTOM_ATTRIBUTE_VALUE,
    SXS_STAND_ALONE_SIG_SIGNATURE = 0,
    SXS_MODULE_REF_NAME = 0,
    SXS_TYPE_SPEC_SIGNATURE = 0,
    SXS_ASSEMBLY_MAJOR = 1, /* the columns minor, build and revision follow */
    SXS_ASSEMBLY_NAME = 7,
    SXS_ASSEMBLY_REF_MAJOR = 0,
    SXS_ASSEMBLY_REF_NAME = 6,
    SXS_EXPORTED_TYPE_NAME = 2,
    SXS_EXPORTED_TYPE_NAMESPACE,
    SXS_EXPORTED_TYPE_IN, /* the column Implementation: a file, an assembly, or the outer type */
    SXS_NESTED_CLASS_NESTED = 0,
    SXS_NESTED_CLASS_ENCLOSING,
    SXS_METHOD_SPEC_METHOD = 0,
    SXS_METHOD_SPEC_INSTANTIATION,
};

struct sxs_blob {
    const uint8_t *at;
    size_t         size;
};

struct sxs_md_table {
    const uint8_t *rows;
    uint32_t       n_rows;
    uint16_t       row_size;
    uint8_t        widths[9];  /* bytes of each column */
    uint16_t       offsets[9]; /* of each column in a row, in bytes */
};

struct sxs_metadata {
    struct sxs_blob     file;
    struct sxs_blob     strings, blobs, user_strings, guids; /* the heaps */
    struct sxs_pe       pe;
    struct sxs_md_table tables[SXS_N_TABLES];
};

/**
 * sxs_metadata_read - find the heaps and tables in an assembly's file.
 * @md: receives their places; need not be initialized.
 * @file, @size: the bytes of the file, borrowed; they must outlive @md.
 * Returns 0, or -1 when the file is not an assembly.
 */
int sxs_metadata_read(struct sxs_metadata *md, const uint8_t *file, size_t size);

/** The parts of a file that sxs_metadata_read() reads, in the order in which they can be found. */
enum sxs_metadata_step { SXS_METADATA_HEADERS, SXS_METADATA_CLI, SXS_METADATA_ROOT, SXS_METADATA_STEPS };

/**
 * sxs_metadata_part - find where the part @step is in a file that is not completely in memory yet.
 * @file, @size: memory for the whole file, in which the parts before @step are valid. The other
 * bytes may have any value.
 * Returns the place of the part; its size is 0 when there is no such part.
 */
struct sxs_blob sxs_metadata_part(enum sxs_metadata_step step, const uint8_t *file, size_t size);

/** sxs_md_rows - return the number of rows of @table. */
uint32_t sxs_md_rows(const struct sxs_metadata *md, enum sxs_table table);

/** sxs_md_cell - read a cell: a number, an index into a heap, or a token. Coded indexes and indexes
 *  of other tables become tokens. */
uint32_t sxs_md_cell(const struct sxs_metadata *md, enum sxs_table table, uint32_t row,
                     unsigned column);

/** sxs_md_string, sxs_md_blob - get the string or blob at an index into its heap. */
const char     *sxs_md_string(const struct sxs_metadata *md, uint32_t index);
struct sxs_blob sxs_md_blob(const struct sxs_metadata *md, uint32_t index);

/** sxs_md_user_string - get the string of a ldstr's @token: UTF-16, little-endian, without the
 *  single byte that metadata has after it. */
struct sxs_blob sxs_md_user_string(const struct sxs_metadata *md, uint32_t token);

/** sxs_md_guid - get the GUID of the module (MVID), 16 bytes; empty when there is none. */
struct sxs_blob sxs_md_guid(const struct sxs_metadata *md);

/** sxs_md_at_rva - get the file's bytes from @rva to the end of the section that contains @rva. */
struct sxs_blob sxs_md_at_rva(const struct sxs_metadata *md, uint32_t rva);

/** sxs_md_signature - get the signature of @token, which is a method, member reference, standalone
 *  signature, type spec, field, or method spec (whose method's signature it gets). */
struct sxs_blob sxs_md_signature(const struct sxs_metadata *md, uint32_t token);

/** sxs_md_owner - return the TypeDef token of the type that declares the method or field @token;
 *  0: none. */
uint32_t sxs_md_owner(const struct sxs_metadata *md, uint32_t token);

/** sxs_md_enclosing - return the token of the type in which @type_def is nested; 0: none. */
uint32_t sxs_md_enclosing(const struct sxs_metadata *md, uint32_t type_def);

static inline uint32_t sxs_token(enum sxs_table table, uint32_t row)
{
    return (uint32_t)table << 24 | row;
}

#endif
