/* SPDX-License-Identifier: MIT */
/** class_factory.h - makes callback objects, one per runtime that asks. */
#ifndef SXS_CLASS_FACTORY_H
#define SXS_CLASS_FACTORY_H

#include "sxs_abi.h"

/** The one class factory; static, its reference count never frees it. Any thread. */
IClassFactory *sxs_class_factory(void);

#endif
