/* SPDX-License-Identifier: MIT */
/** class_factory.h - the COM class factory that creates a callback object for each runtime. */
#ifndef SXS_CALLBACK_CLASS_FACTORY_H
#define SXS_CALLBACK_CLASS_FACTORY_H

#include "sxs_abi.h"

/** Return the class factory of the process. It is static: Release() never frees it. Any thread. */
IClassFactory *sxs_class_factory(void);

#endif
