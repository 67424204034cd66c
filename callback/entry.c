/* SPDX-License-Identifier: MIT */
/* entry.c - the exports that a runtime calls first: DllGetClassObject and DllCanUnloadNow. */
#include <dlfcn.h>
#include <pthread.h>

#include "base/env.h"
#include "base/log.h"
#include "base/proc.h"
#include "callback/attach.h"
#include "callback/class_factory.h"
#include "callback/copies.h"
#include "callback/engine_entry.h"
#include "clrie/config/config.h"
#include "control/control.h"
#include "control/ring.h"
#include "elt/calls_hooks.h"
#include "guests/guests.h"
#include "include/sxsprof.h"
#include "instr/config/config.h"
#include "manager/guid.h"
#include "manager/manager.h"
#include "tools/calls/calls.h"
#include "tools/options/tool_list.h"

SXS_EXPORT HRESULT DllGetClassObject(const GUID *clsid, const GUID *iid, void **out);
SXS_EXPORT HRESULT DllCanUnloadNow(void);

#define DECLARE(name)              extern const struct sxs_tool sxs_##name##_tool;
#define DECLARE_NAMED(name, table) DECLARE(name)
SXS_TOOLS(DECLARE, DECLARE_NAMED)

#define ROW(name)              &sxs_##name##_tool,
#define NAMED_ROW(name, table) ROW(name)
static const struct sxs_tool *const tools[] = {SXS_TOOLS(ROW, NAMED_ROW)};

/* Keep the library loaded until the process ends. A runtime closes the library when Initialize
 * fails, but signal handlers, hooks and other runtimes still need it. The library is found by the
 * address of a static function, because an exported name may resolve to another profiler that the
 * program was linked with. */
static int pin_library(void)
{
    Dl_info self;
    return dladdr((void *)(uintptr_t)pin_library, &self) && self.dli_fname &&
           dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) != NULL;
}

/* Called once per process, because hooks of one runtime may be running when the next one loads the
 * library. */
static void set_up(void)
{
    if (sxs_env_is_secure())
        sxs_error("%s; the program runs on", SXS_ATTACH_RAISED);
    sxs_config_open_files_by(sxs_proc_call); /* no descriptor in the host's table */
    if (clrie_config_is_named())
        sxs_engine_take_name();
    sxs_calls_use_hooks(sxs_elt_hooks());
    sxs_ring_prepare();
    sxs_manager_init(tools, ARRAY_LEN(tools));
    sxs_guests_init();
    sxs_control_start();
}

SXS_EXPORT HRESULT DllGetClassObject(const GUID *clsid, const GUID *iid, void **out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    GUID           ours;
    IClassFactory *factory = sxs_class_factory();
    char           other[256];
    if (!out)
        return E_POINTER;
    *out = NULL;
    if (!clsid || !sxs_guid_parse(SXSPROF_CLSID, &ours) ||
        (!sxs_guid_equal(clsid, &ours) && !sxs_engine_is_class(clsid)))
        return CLASS_E_CLASSNOTAVAILABLE;
    if (!sxs_copies_claim(other, sizeof(other))) {
        sxs_warn(
            "another copy of the library is at work in this process (%s): this one does nothing",
            other);
        return CORPROF_E_PROFILER_ALREADY_ACTIVE; /* the runtime unloads this copy */
    }
    if (!pin_library()) {
        sxs_copies_give_up();
        sxs_error("the library cannot be kept loaded (%s): not profiling", dlerror());
        return E_FAIL;
    }
    if (sxs_engine_is_class(clsid))
        clrie_config_ask();
    pthread_once(&once, set_up);
    return factory->vtbl->QueryInterface(factory, iid, out);
}

SXS_EXPORT HRESULT DllCanUnloadNow(void)
{
    return S_FALSE;
}
