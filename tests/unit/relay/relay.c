/* SPDX-License-Identifier: MIT */
/* relay.c - a plug-in library whose classes are in the test program, which exports relay_class_object(). */
#include "sxs_abi.h"

HRESULT relay_class_object(const GUID *clsid, const GUID *iid, void **out);

__attribute__((visibility("default"))) HRESULT DllGetClassObject(const GUID *clsid, const GUID *iid,
                                                                 void **out);
HRESULT DllGetClassObject(const GUID *clsid, const GUID *iid, void **out)
{
    return relay_class_object(clsid, iid, out);
}
