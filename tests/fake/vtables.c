/* SPDX-License-Identifier: MIT */
/* vtables.c - both vtables, generated, with a weak E_NOTIMPL for every method nobody defines. */
#define FAKE_STUBS_INFO
#define FAKE_STUBS_META
#include "tests/fake/fake.h"
