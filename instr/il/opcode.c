/* SPDX-License-Identifier: MIT */
#include "include/sxs_il.h"

const struct sxs_il_opcode_info sxs_il_opcodes[SXS_IL_N_OPCODES] = {
#include "sxs_il_opcodes.inc"
};
