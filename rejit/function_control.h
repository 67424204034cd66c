/* SPDX-License-Identifier: MIT */
/** function_control.h - the ICorProfilerFunctionControl that a tool or a guest gets in
 *  GetReJITParameters: it keeps what was set. */
#ifndef SXS_REJIT_FUNCTION_CONTROL_H
#define SXS_REJIT_FUNCTION_CONTROL_H

#include <stdatomic.h>
#include <stdint.h>

#include "sxs_abi.h"

struct function_control {
    ICorProfilerFunctionControl com;
    atomic_uint                 refs;
    uint32_t                    flags; /* the last COR_PRF_CODEGEN_FLAGS */
    uint8_t                    *body;  /* a copy of the last body; owned; NULL: none */
    uint32_t                    size;
    COR_IL_MAP                 *map; /* a copy of the last map; owned */
    ULONG                       n_map;
};

/** function_control_new - make one with one reference, which Release() drops. NULL: no memory. */
struct function_control *function_control_new(void);

#endif
