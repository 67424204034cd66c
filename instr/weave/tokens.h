/* SPDX-License-Identifier: MIT */
/**
 * tokens.h - finds tokens in a module's metadata, and makes those that are not there.
 *
 * When a module's metadata is opened for writing for the first time, the runtime copies it. Tokens
 * that are made stay as long as the module, because a runtime cannot remove them.
 */
#ifndef SXS_INSTR_WEAVE_TOKENS_H
#define SXS_INSTR_WEAVE_TOKENS_H

#include "instr/il/assemble.h"
#include "manager/runtime.h"

struct sxs_tokens {
    sxs_module               module;
    IMetaDataImport2        *import; /* owned references, as the three below */
    IMetaDataAssemblyImport *assemblies;
    IMetaDataEmit2          *emit; /* NULL until the first token is made */
    IMetaDataAssemblyEmit   *emit_assemblies;
    char                     own_name[256]; /* simple name of the module's assembly */
    char                     error[768];    /* why the latest request for a token failed */
};

/**
 * sxs_tokens_open - open the metadata of @module.
 * The metadata is opened for reading; for writing as soon as a token must be made. Returns S_OK, or
 * the runtime's error; then nothing has to be closed.
 * Any thread that may ask for metadata: in a callback, or one that the runtime does not know.
 */
HRESULT sxs_tokens_open(struct sxs_tokens *t, sxs_module module);

/** sxs_tokens_close - release the metadata. When it was opened for writing, apply the new tokens
 *  first (ApplyMetaData). Returns the result of that, or S_OK. */
HRESULT sxs_tokens_close(struct sxs_tokens *t);

/** sxs_tokens_table - return the functions by which the assembler asks for tokens. @t is
 *  borrowed. */
struct sxs_il_tokens sxs_tokens_table(struct sxs_tokens *t);

/** sxs_tokens_is_own - return nonzero when @assembly names the module's own assembly, or is NULL
 *  (no assembly is named). */
int sxs_tokens_is_own(const struct sxs_tokens *t, const char *assembly);

/** sxs_tokens_core_type - get a token of the type @name, a full name, of System.Private.CoreLib.
 *  Returns 0, or -1 with t->error. */
int sxs_tokens_core_type(struct sxs_tokens *t, const char *name, uint32_t *token);

#endif
