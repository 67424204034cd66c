/* SPDX-License-Identifier: MIT */
#include "manager/exit_method.h"

#include "manager/module_info.h"
#include "sxs_info.h"

void sxs_exit_method_find(struct sxs_exit_method *out, sxs_module module)
{
    IMetaDataImport2 *imp = sxs_module_import(module);
    mdTypeDef         type = 0;
    mdMethodDef       method = 0;
    if (!imp)
        return;
    if (SUCCEEDED(imp->vtbl->FindTypeDefByName(imp, u"System.AppContext", 0, &type)) &&
        SUCCEEDED(imp->vtbl->FindMethod(imp, type, u"OnProcessExit", NULL, 0, &method)))
        *out = (struct sxs_exit_method){module.id, method};
    imp->vtbl->Release(imp);
}

int sxs_exit_method_is(const struct sxs_exit_method *m, sxs_function function)
{
    sxs_module module = {0};
    mdToken    token = 0;
    return m->method &&
           SUCCEEDED(sxs_info_GetFunctionInfo(function.rt, function, NULL, &module, &token)) &&
           token == m->method && module.id == m->module;
}
