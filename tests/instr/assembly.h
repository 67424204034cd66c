/* SPDX-License-Identifier: MIT */
/** assembly.h - reads the methods of an assembly, with the data that the checker of the IL library needs. */
#ifndef SXS_TESTS_INSTR_ASSEMBLY_H
#define SXS_TESTS_INSTR_ASSEMBLY_H

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "instr/il/effect.h"
#include "instr/metadata/metadata.h"
#include "include/sxs_il.h"

#define TYPES_MAX 4096

/** A method with IL. Its pointers belong to the assembly. */
struct method {
    struct sxs_metadata *md;
    uint32_t             token;
    struct sxs_blob      bytes; /* the body, and bytes after it */
    struct sxs_blob      signature;
    struct sxs_il_method method; /* n_locals is set after the body was read */
};

/** Map @path and read its metadata. The file is never unmapped. Returns 0, or -1 if it is not an assembly. */
static inline int open_assembly(const char *path, struct sxs_metadata *md)
{
    struct stat st;
    int         fd = open(path, O_RDONLY | O_CLOEXEC);
    void       *bytes;
    if (fd < 0 || fstat(fd, &st) != 0)
        return -1;
    bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    return bytes == MAP_FAILED ? -1 : sxs_metadata_read(md, bytes, (size_t)st.st_size);
}

static inline int effect_by_signature(void *context, enum sxs_il_opcode opcode, uint32_t token,
                                      struct sxs_il_effect *e)
{
    struct sxs_blob b = sxs_md_signature(context, token);
    return sxs_il_call_effect(b.at, b.size, opcode, e);
}

/** Read method @row into *m. Returns 0, or -1 if it has no IL. */
static inline int find_method(struct sxs_metadata *md, uint32_t row, struct method *m)
{
    uint32_t            rva = sxs_md_cell(md, SXS_TABLE_METHOD_DEF, row, SXS_METHOD_DEF_RVA);
    uint32_t            impl = sxs_md_cell(md, SXS_TABLE_METHOD_DEF, row, SXS_METHOD_DEF_IMPL_FLAGS);
    struct sxs_il_arity s = {0};
    if (!rva || impl & 3)
        return -1;
    m->md = md;
    m->token = sxs_token(SXS_TABLE_METHOD_DEF, row);
    m->bytes = sxs_md_at_rva(md, rva);
    m->signature = sxs_md_signature(md, m->token);
    if (sxs_il_method_arity(m->signature.at, m->signature.size, &s) != 0)
        return -1;
    m->method = (struct sxs_il_method){.n_args = (uint16_t)(s.n_parameters + s.has_this),
                                       .returns = s.returns,
                                       .effect = effect_by_signature,
                                       .context = md};
    return 0;
}

/** Return the signature of the locals of @body; set their number in @m. */
static inline struct sxs_blob find_locals(struct method *m, const struct sxs_il_body *body)
{
    struct sxs_blob b = {NULL, 0};
    int             n;
    m->method.n_locals = 0;
    if (!body->locals)
        return b;
    b = sxs_md_signature(m->md, body->locals);
    n = sxs_il_local_count(b.at, b.size);
    m->method.n_locals = (uint16_t)(n < 0 ? 0 : n);
    return b;
}

#endif
