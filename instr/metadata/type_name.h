/* SPDX-License-Identifier: MIT */
/**
 * instr/metadata/type_name.h - write names of types: Namespace.Outer+Inner.
 *
 * The printer reads the parts of a name from a source: the metadata of a file (below), or of a
 * runtime (symbols/type_name.h).
 */
#ifndef SXS_INSTR_METADATA_TYPE_NAME_H
#define SXS_INSTR_METADATA_TYPE_NAME_H

#include "base/text/buffer.h"
#include "instr/metadata/metadata.h"

#define SXS_TYPE_TEXT 2048u /* bytes of a part's text */

/** A type without the types around it. */
struct sxs_type_part {
    uint32_t    outer;               /* the enclosing TypeDef, or the scope of a TypeRef; 0: none */
    const char *space;               /* namespace; "" if it has none or if it is in `name` */
    const char *name;                /* not "" */
    char        text[SXS_TYPE_TEXT]; /* `name` may point here */
};

struct sxs_type_source {
    /** Reads the TypeDef or TypeRef @token. Returns 0, or -1 when it has no name. */
    int (*read)(const void *context, uint32_t token, struct sxs_type_part *part);
    const void *context; /* borrowed */
};

/** How a name is written. */
struct sxs_type_style {
    const char *nested; /* between an outer and a nested type; NULL: "+" */
    /* Writes a namespace, or the name of one type; NULL: as it is. */
    void (*put)(struct sxs_text *t, const char *name);
    /* Called before the outermost type of a TypeRef; NULL: nothing. @context: of the source. */
    void (*begin)(const void *context, struct sxs_text *t, uint32_t scope);
    /* Called after each type with the number of its own type parameters; NULL: nothing. */
    void (*after)(void *context, struct sxs_text *t, uint32_t arity);
    void *context;       /* for after() */
    int   without_arity; /* 1: leave out suffixes like "`2" */
    int   numbers;       /* 1: write "[type 0x02000001]" for a type without a name */
};

/** sxs_type_put - append the name of the TypeDef or TypeRef @token. At most 16 nested types are
 *  written, the innermost ones. Returns 0, or -1 when a name cannot be read and style->numbers is 0;
 *  then part of the name may have been written. */
int sxs_type_put(struct sxs_text *t, const struct sxs_type_source *from,
                 const struct sxs_type_style *style, uint32_t token);

/** sxs_types_of_file - the source that reads @md (borrowed). */
struct sxs_type_source sxs_types_of_file(const struct sxs_metadata *md);

#endif
