/* SPDX-License-Identifier: MIT */
/** name_internal.h - what a frame is called. */
#ifndef SXS_NAME_INTERNAL_H
#define SXS_NAME_INTERNAL_H

#include "symbols/text_internal.h"
#include "symbols/frame.h"

/** Metadata scopes already opened. One thread at a time, and not a runtime's own: see below. */
struct sxs_names {
    struct sxs_scope *scopes; /* owned */
    size_t            len, cap;
};

/**
 * sxs_name_managed - "Namespace.Type<Arg>.Method<Arg>(Param, ref Param)" of a frame with an ID.
 * @names: zeroed before the first use; sxs_names_free() after the last.
 * Never writes nothing: "[dynamic] Name(...)", "[stub] Name(...)" or what could not be found out.
 * A runtime refuses its metadata to its own threads outside a callback: call this on a thread
 * that no runtime knows, while the frame's function is kept alive by being on a stack.
 */
void sxs_name_managed(struct sxs_names *names, struct sxs_text *out, const struct sxs_frame *frame);
/** sxs_name_class - "Namespace.Type<Arg>" of a loaded type. As above. */
void sxs_name_class(struct sxs_names *names, struct sxs_text *out, sxs_class cls);
void sxs_names_free(struct sxs_names *names);

/**
 * sxs_name_find_dynamic - is that code a dynamic method or an IL stub of a live runtime?
 * @frame: one with fn.rt NULL; gets its fn when the answer is yes. Returns 1 or 0. Threads as
 * above: GetFunctionFromIP is silent about code without metadata, GetFunctionFromIP3 is refused
 * outside callbacks.
 */
int sxs_name_find_dynamic(struct sxs_runtime *const *rts, size_t n_rts, struct sxs_frame *frame);

/** Native symbols; one thread at a time. */
struct sxs_symbols {
    void *dwfl; /* libdw's session, opened when first needed */
};

/**
 * sxs_symbol_name - name native code.
 * @file: receives the base name of the file or mapping, never "".
 * @name: receives symbol+0xoffset, or file+0xoffset without a symbol, or "[stub]" for code that was
 *        generated. @exact: @ip is where the frame stands rather than a return address.
 */
void sxs_symbol_name(struct sxs_symbols *symbols, uintptr_t ip, int exact, struct sxs_text *file,
                     struct sxs_text *name);
void sxs_symbols_free(struct sxs_symbols *symbols);

#endif
