/* SPDX-License-Identifier: MIT */
/** elt.h - enter, leave and tailcall hooks of guests. */
#ifndef SXS_GUESTS_ELT_H
#define SXS_GUESTS_ELT_H

#include "sxs_abi.h"

struct guest_instance;

/** guest_elt_join - register an instance whose Initialize has succeeded as a user of hooks when its
 *  mask has ENTERLEAVE, even if it has set neither hooks nor a mapper: it may set a mapper later.
 *  Returns S_OK or E_OUTOFMEMORY. Called in Initialize of the runtime. */
HRESULT guest_elt_join(struct guest_instance *g);

/** guest_elt_forget - drop the hooks and the mapper of an instance whose Initialize has failed. */
void guest_elt_forget(struct guest_instance *g);

/** guest_elt_end - call no hook and no mapper of the instance any more, if the runtime does not call
 *  them itself. Any thread; takes no lock. */
void guest_elt_end(struct guest_instance *g);

#endif
