/* SPDX-License-Identifier: MIT */
/** instr/metadata/signature_write.h - build signatures as trees, and write trees as bytes. Pure
 *  functions. */
#ifndef SXS_INSTR_METADATA_SIGNATURE_WRITE_H
#define SXS_INSTR_METADATA_SIGNATURE_WRITE_H

#include "instr/metadata/signature.h"

/** sxs_sig_add - add a node with one child, or with none when @child is SXS_SIG_NONE. Returns the
 *  index of the node, or SXS_SIG_NONE when the array is full. */
uint32_t sxs_sig_add(struct sxs_sig *sig, uint8_t element, uint32_t value, uint32_t child);

/** sxs_sig_append - append @node to the siblings that begin with @list; SXS_SIG_NONE: an empty
 *  list.
 *  Returns the first node of the list. */
uint32_t sxs_sig_append(struct sxs_sig *sig, uint32_t list, uint32_t node);

/** sxs_sig_write - write the tree as at most @size bytes. Returns the size of the whole signature
 *  in bytes, which may be more than @size; 0 when a value in the tree cannot be in a signature. */
size_t sxs_sig_write(enum sxs_sig_kind kind, const struct sxs_sig *sig, uint8_t *bytes,
                     size_t size);

#endif
