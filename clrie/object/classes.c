/* SPDX-License-Identifier: MIT */
/* classes.c - the vtables of all classes, generated. */
#include "sxs_clrie.h"

#include "sxs_clrie.inc"
