/* SPDX-License-Identifier: MIT */
#include "tools/heap/exit.h"

#include "manager/module_info.h"
#include "tools/heap/triggers.h"

void sxs_heap_find_exit(struct sxs_heap_runtime *h, sxs_module module)
{
    IMetaDataImport2 *imp = sxs_module_import(module);
    mdTypeDef         type = 0;
    mdMethodDef       method = 0;
    if (!imp)
        return;
    if (SUCCEEDED(imp->vtbl->FindTypeDefByName(imp, u"System.AppContext", 0, &type)) &&
        SUCCEEDED(imp->vtbl->FindMethod(imp, type, u"OnProcessExit", NULL, 0, &method))) {
        h->exit_method = method;
        h->exit_module = module.id;
    }
    imp->vtbl->Release(imp);
}

static void prepared(struct sxs_heap_runtime *h, sxs_function function)
{
    sxs_module module = {0};
    mdToken    token = 0;
    if (h->exit_method &&
        SUCCEEDED(sxs_info_GetFunctionInfo(h->sub->rt, function, NULL, &module, &token)) &&
        token == h->exit_method && module.id == h->exit_module)
        sxs_heap_exiting(h->sub->rt);
}

HRESULT sxs_heap_search_started(struct sxs_sub *sub, sxs_function function, BOOL *use)
{
    (void)use;
    prepared(sub->state, function);
    return S_OK;
}

HRESULT sxs_heap_jit_started(struct sxs_sub *sub, sxs_function function, BOOL safe)
{
    (void)safe;
    prepared(sub->state, function);
    return S_OK;
}
