/* SPDX-License-Identifier: MIT */
/* vtables.c - the generated vtables of Info and IMetaDataImport2. Methods that no file defines have
 * a weak function that returns E_NOTIMPL. */
#define FAKE_STUBS_INFO
#define FAKE_STUBS_META
#include "tests/fake/fake.h"
