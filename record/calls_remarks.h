/* SPDX-License-Identifier: MIT */
/** calls_remarks.h - notes on what is not seen, from the file "calls"; for its reader. */
#ifndef SXS_CALLS_REMARKS_H
#define SXS_CALLS_REMARKS_H

#include "record/calls_read.h"

/**
 * sxs_calls_read_remarks - fills c->remarks, after c->fns.
 * @cells, @n_cells: what follows the file's header. @index_of: by cell, the index of what was read
 * there or SXS_CALLS_NONE. @bad_refs, @circles: counted up. Returns 0 or ENOMEM.
 */
int  sxs_calls_read_remarks(struct sxs_calls *c, const unsigned char *cells, uint64_t n_cells,
                            uint32_t *index_of, uint64_t *bad_refs, uint64_t *circles);
void sxs_calls_free_remarks(struct sxs_calls *c);

#endif
