/* SPDX-License-Identifier: MIT */
/** tools/heap/image.h - finds static fields that lie in the image of their module. */
#ifndef SXS_TOOLS_HEAP_IMAGE_H
#define SXS_TOOLS_HEAP_IMAGE_H

#include "manager/runtime.h"

/** sxs_heap_image_address - return where the RVA static field @field of @cls lies in memory; 0: not
 *  known. Also for classes that are not initialized, for which the runtime does not tell it. On a
 *  thread that no runtime knows, or in a callback. */
uint64_t sxs_heap_image_address(sxs_class cls, mdFieldDef field);

#endif
