/* SPDX-License-Identifier: MIT */
#include "manager/module_info.h"

int sxs_module_is_collectible(sxs_module module)
{
    DWORD flags = 0;
    if (FAILED(sxs_info_GetModuleInfo2(module.rt, module, NULL, 0, NULL, NULL, NULL, &flags)))
        return -1;
    return (flags & COR_PRF_MODULE_COLLECTIBLE) != 0;
}

IMetaDataImport2 *sxs_module_import(sxs_module module)
{
    IUnknown *imp = NULL;
    if (FAILED(sxs_info_GetModuleMetaData(module.rt, module, ofRead, &IID_IMetaDataImport2, &imp)))
        return NULL;
    return (IMetaDataImport2 *)(void *)imp;
}

int sxs_import_has_attribute(IMetaDataImport2 *imp, mdToken token, const WCHAR *name)
{
    return imp->vtbl->GetCustomAttributeByName(imp, token, name, NULL, NULL) == S_OK;
}

int sxs_import_is_entry(IMetaDataImport2 *imp, mdToken token)
{
    return sxs_import_has_attribute(
        imp, token, u"System.Runtime.InteropServices.UnmanagedCallersOnlyAttribute");
}
