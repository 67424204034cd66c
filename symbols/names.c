/* SPDX-License-Identifier: MIT */
#include "symbols/names.h"

#include <stdlib.h>
#include <string.h>

#include "symbols/name_internal.h"

struct sxs_namer {
    struct sxs_name_scopes names;
};

struct sxs_namer *sxs_namer_new(void)
{
    return calloc(1, sizeof(struct sxs_namer));
}

void sxs_namer_reset(struct sxs_namer *namer)
{
    sxs_names_free(&namer->names);
    memset(&namer->names, 0, sizeof(namer->names));
}

void sxs_namer_free(struct sxs_namer *namer)
{
    if (!namer)
        return;
    sxs_names_free(&namer->names);
    free(namer);
}

void sxs_namer_function(struct sxs_namer *namer, sxs_function fn, char *out, size_t size)
{
    struct sxs_frame frame = {.fn = fn, .info_hr = S_FALSE};
    struct sxs_text  text = sxs_text_in(out, size);
    ClassID          args[SXS_WALK_TYPE_ARGS];
    frame.info_hr = sxs_info_GetFunctionInfo2(fn.rt, fn, 0, &frame.cls, &frame.module, &frame.token,
                                              SXS_WALK_TYPE_ARGS, &frame.n_type_args, args);
    if (SUCCEEDED(frame.info_hr))
        memcpy(frame.type_args, args, sizeof(args));
    sxs_name_managed(&namer->names, &text, &frame);
}

void sxs_namer_class(struct sxs_namer *namer, sxs_class cls, char *out, size_t size)
{
    struct sxs_text text = sxs_text_in(out, size);
    sxs_name_class(&namer->names, &text, cls);
}

int sxs_namer_find(struct sxs_runtime *rt, uintptr_t ip, sxs_function *fn)
{
    if (SUCCEEDED(sxs_info_GetFunctionFromIP(rt, (LPCBYTE)ip, fn)) && fn->id)
        return 1;
    return SUCCEEDED(sxs_info_GetFunctionFromIP3(rt, (LPCBYTE)ip, fn, NULL)) && fn->id;
}

size_t sxs_namer_file(sxs_module module, char *out, size_t size)
{
    WCHAR           path[1024] = {0};
    ULONG           len = 0;
    struct sxs_text text = sxs_text_in(out, size);
    out[0] = 0;
    if (FAILED(sxs_info_GetModuleInfo2(module.rt, module, NULL, ARRAY_LEN(path), &len, path, NULL,
                                       NULL)) &&
        FAILED(sxs_info_GetModuleInfo(module.rt, module, NULL, ARRAY_LEN(path), &len, path, NULL)))
        return 0;
    path[ARRAY_LEN(path) - 1] = 0;
    if (path[0] != '/') /* modules made in memory have a name without a path, or none */
        return 0;
    sxs_text_put_utf16(&text, path, ARRAY_LEN(path));
    return strlen(out);
}
