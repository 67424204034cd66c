/* SPDX-License-Identifier: MIT */
#include "cmd/heap/heap.h"
void sxs_heap_write_html(FILE *to, const struct sxs_heap_report *r) { (void)to; (void)r; }
