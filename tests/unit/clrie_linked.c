/* SPDX-License-Identifier: MIT */
/* clrie_linked.c - stands in for clrie/link/link.c in unit tests, into which the engine is linked. */
#include "clrie/offers.h"

const struct clrie_offers *clrie_link(void)
{
    return clrie_offered();
}
