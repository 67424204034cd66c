/* SPDX-License-Identifier: MIT */
#include "callback/engine_entry.h"

#include <dlfcn.h>

#include "base/base.h"
#include "clrie/config/config.h"
#include "clrie/log/log.h"
#include "clrie/object/strings.h"
#include "manager/guid.h"

#define ENGINE_LIBRARY "libInstrumentationEngine.so"

SXS_EXPORT HRESULT GetInstrumentationEngineLogger(IProfilerManagerLogging **out);
SXS_EXPORT HRESULT InstrumentationEngineFreeString(BSTR string);

int sxs_engine_is_class(const GUID *clsid)
{
    GUID engine;
    return sxs_guid_parse(CLRIE_CLSID, &engine) && sxs_guid_equal(clsid, &engine);
}

void sxs_engine_take_name(void)
{
    void *library = dlopen(ENGINE_LIBRARY, RTLD_LAZY | RTLD_NOLOAD);
    if (library && dlsym(library, "InstrumentationEngineFreeString") !=
                       (void *)(uintptr_t)InstrumentationEngineFreeString)
        dlclose(library);
}

/* Works before the first engine exists, too. */
SXS_EXPORT HRESULT GetInstrumentationEngineLogger(IProfilerManagerLogging **out)
{
    return out ? clrie_log_instance(out) : E_POINTER;
}

SXS_EXPORT HRESULT InstrumentationEngineFreeString(BSTR string)
{
    clrie_string_free(string);
    return string ? S_OK : S_FALSE;
}
