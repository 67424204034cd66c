/* SPDX-License-Identifier: MIT */
#include "tools/heap/image.h"

#include "base/safe_read.h"
#include "manager/module_info.h"
#include "sxs_info.h"

#define SECTIONS_MAX 96u

static uint32_t read_u32(uint64_t at)
{
    uint32_t value = 0;
    return sxs_safe_read(&value, at, sizeof(value)) == sizeof(value) ? value : 0;
}

/* Returns the offset in the file of @rva. @base: address of the file's bytes. 0: not known. */
static uint64_t offset_of(uint64_t base, uint32_t rva)
{
    uint64_t headers = base + read_u32(base + 0x3c);
    uint32_t n = read_u32(headers + 4) >> 16, optional = read_u32(headers + 20) & 0xffffu;
    for (uint32_t i = 0; i < n && i < SECTIONS_MAX; i++) {
        uint64_t section = headers + 24 + optional + (uint64_t)i * 40;
        uint32_t start = read_u32(section + 12), size = read_u32(section + 16);
        uint32_t file = read_u32(section + 20);
        if (rva >= start && rva - start < size)
            return (uint64_t)file + (rva - start);
    }
    return 0;
}

uint64_t sxs_heap_image_address(sxs_class cls, mdFieldDef field)
{
    sxs_module        module = {cls.rt, 0};
    sxs_class         parent = {cls.rt, 0};
    sxs_assembly      assembly = {0};
    mdTypeDef         type = 0;
    LPCBYTE           base = NULL;
    DWORD             module_flags = 0, flags = 0;
    ULONG             n = 0, rva = 0;
    IMetaDataImport2 *imp;
    HRESULT           hr;
    uint64_t          address = 0;
    if (FAILED(sxs_info_GetClassIDInfo2(cls.rt, cls, &module, &type, &parent, 0, NULL, NULL)) ||
        FAILED(sxs_info_GetModuleInfo2(cls.rt, module, &base, 0, &n, NULL, &assembly,
                                       &module_flags)) ||
        !base)
        return 0;
    imp = sxs_module_import(module);
    if (!imp)
        return 0;
    hr = imp->vtbl->GetRVA(imp, field, &rva, &flags);
    imp->vtbl->Release(imp);
    if (FAILED(hr) || !rva)
        return 0;
    if (!(module_flags & COR_PRF_MODULE_FLAT_LAYOUT))
        return (uint64_t)(uintptr_t)base + rva;
    address = offset_of((uint64_t)(uintptr_t)base, rva);
    return address ? (uint64_t)(uintptr_t)base + address : 0;
}
