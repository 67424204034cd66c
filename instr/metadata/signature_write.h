/* SPDX-License-Identifier: MIT */
/** signature_write.h - build signatures as trees, write trees as bytes. Pure functions. */
#ifndef SXS_INSTR_SIGNATURE_WRITE_H
#define SXS_INSTR_SIGNATURE_WRITE_H

#include "instr/metadata/signature.h"

/** sxs_sig_add - one more node, with one child or SXS_SIG_NONE. Returns its index, SXS_SIG_NONE: the array
 *  is full. */
uint32_t sxs_sig_add(struct sxs_sig *sig, uint8_t element, uint32_t value, uint32_t child);

/** sxs_sig_append - @node behind the last sibling of @list. Returns the list's first. */
uint32_t sxs_sig_append(struct sxs_sig *sig, uint32_t list, uint32_t node);

/** sxs_sig_write - the tree as bytes, at most @size of them. Returns how many it takes; 0: it holds what no
 *  signature can. */
size_t sxs_sig_write(enum sxs_sig_kind kind, const struct sxs_sig *sig, uint8_t *bytes,
                     size_t size);

#endif
