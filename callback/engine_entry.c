/* SPDX-License-Identifier: MIT */
#include "callback/engine_entry.h"

#include <dlfcn.h>

#include "base/base.h"
#include "clrie/config/config.h"
#include "clrie/link/link.h"
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
    const struct clrie_offers *engine = out ? clrie_link() : NULL;
    if (out && !engine)
        *out = NULL;
    return !out ? E_POINTER : engine ? engine->log_instance(out) : E_FAIL;
}

SXS_EXPORT HRESULT InstrumentationEngineFreeString(BSTR string)
{
    const struct clrie_offers *engine =
        string ? clrie_link() : NULL; /* which has made the string */
    if (engine)
        engine->string_free(string);
    return string ? S_OK : S_FALSE;
}
