/* SPDX-License-Identifier: MIT */
/**
 * tokens.h - tokens of a module's metadata: found where they are, else made.
 *
 * Opening a module's metadata for writing has its runtime copy it once. What is made stays for the
 * module's life: a runtime takes nothing out again.
 */
#ifndef SXS_REWRITE_TOKENS_H
#define SXS_REWRITE_TOKENS_H

#include "instr/il/assemble.h"
#include "manager/runtime.h"

struct sxs_tokens {
    sxs_module               module;
    IMetaDataImport2        *import; /* references of ours */
    IMetaDataAssemblyImport *assemblies;
    IMetaDataEmit2          *emit; /* NULL until the first token is made */
    IMetaDataAssemblyEmit   *emit_assemblies;
    char                     own_name[256]; /* of the module's assembly */
    char                     error[768];    /* why the latest request failed */
};

/**
 * sxs_tokens_open - the metadata of @module, for reading; for writing once a token must be made.
 * Any thread that may ask for metadata: in a callback, or unknown to the runtime. Returns S_OK, or what
 * the runtime said; then nothing is held.
 */
HRESULT sxs_tokens_open(struct sxs_tokens *t, sxs_module module);

/** sxs_tokens_close - let go of it; with new tokens, tells the runtime first. Returns what it says. */
HRESULT sxs_tokens_close(struct sxs_tokens *t);

/** sxs_tokens_table - the same as the assembler wants it. @t is borrowed. */
struct sxs_il_tokens sxs_tokens_table(struct sxs_tokens *t);

/** sxs_tokens_is_own - does @assembly (NULL: none is named) mean the module's own? */
int sxs_tokens_is_own(const struct sxs_tokens *t, const char *assembly);

/** sxs_tokens_core_type - a type of System.Private.CoreLib, by its full name. Returns 0, or -1. */
int sxs_tokens_core_type(struct sxs_tokens *t, const char *name, uint32_t *token);

#endif
