/* SPDX-License-Identifier: MIT */
/** offers.h - what this library offers to libsxsprof.so. */
#ifndef SXS_CLRIE_OFFERS_H
#define SXS_CLRIE_OFFERS_H

#include "clrie/link/link.h"

/** clrie_offered - what libsxsprof.so calls here. Constant. Any thread; not signal-safe. */
const struct clrie_offers *clrie_offered(void);

#endif
