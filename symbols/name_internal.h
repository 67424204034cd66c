/* SPDX-License-Identifier: MIT */
/** symbols/name_internal.h - makes the names of managed and native frames. */
#ifndef SXS_SYMBOLS_NAME_INTERNAL_H
#define SXS_SYMBOLS_NAME_INTERNAL_H

#include "base/text/buffer.h"
#include "symbols/frame.h"

/**
 * The metadata scopes that are open. Used by one thread at a time, which must be one that the
 * runtimes do not know (see sxs_name_managed()). */
struct sxs_name_scopes {
    struct sxs_scope *scopes; /* owned */
    size_t            len, cap;
};

/**
 * sxs_name_managed - append the name of a frame with a FunctionID:
 * "Namespace.Type<Arg>.Method<Arg>(Param, ref Param)".
 * @names: zeroed before the first use; pass it to sxs_names_free() after the last.
 * Always appends something: for code without metadata "[dynamic] Name(...)" or "[stub]
 * Name(...)", and on failure the reason in brackets. A runtime refuses metadata calls to its own
 * threads outside of callbacks: call this function on a thread that no runtime knows, while the
 * function is on a stack and therefore cannot be unloaded. */
void sxs_name_managed(struct sxs_name_scopes *names, struct sxs_text *out,
                      const struct sxs_frame *frame);
/**
 * sxs_name_class - append the name of a loaded type, "Namespace.Type<Arg>". Threads: as
 * sxs_name_managed(). */
void sxs_name_class(struct sxs_name_scopes *names, struct sxs_text *out, sxs_class cls);
void sxs_names_free(struct sxs_name_scopes *names);

/**
 * sxs_name_find_dynamic - find out if a frame is a dynamic method or an IL stub of a live
 * runtime.
 * @frame: has fn.rt NULL; its fn is set when the answer is yes.
 * Returns 1 or 0. Threads: as sxs_name_managed(), because GetFunctionFromIP does not find code
 * without metadata, and GetFunctionFromIP3 is refused outside of callbacks. */
int sxs_name_find_dynamic(struct sxs_runtime *const *rts, size_t n_rts, struct sxs_frame *frame);

/** Symbols of native code. Used by one thread at a time; zeroed before the first use. */
struct sxs_symbols {
    struct loaded_symbols *files; /* owned; those read so far */
};

/**
 * sxs_symbol_name - name native code.
 * @exact: 1: @ip is the IP of the frame; 0: a return address.
 * @file: receives the base name of the file or mapping, never "".
 * @name: receives symbol+0xoffset; file+0xoffset if there is no symbol; "[stub]" for generated
 *   code. */
void sxs_symbol_name(struct sxs_symbols *symbols, uintptr_t ip, int exact, struct sxs_text *file,
                     struct sxs_text *name);
void sxs_symbols_free(struct sxs_symbols *symbols);

#endif
