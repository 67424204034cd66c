/* SPDX-License-Identifier: MIT */
/* method.c - IMethodInfo2: making methods, their IDs, their graph. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/utf8.h"
#include "clrie/model/method_internal.h"
#include "clrie/object/strings.h"
#include "instr/il/effect.h"
#include "instr/weave/callee.h"

const uint32_t clrie_method_size = sizeof(struct clrie_method);

/* ---- making ----------------------------------------------------------------------------------- */

static void refresh(struct clrie_graph_method *graph_method)
{
    struct clrie_method *method = container_of(graph_method, struct clrie_method, graph_method);
    uint32_t             n = clrie_method_n_locals(method);
    graph_method->il.n_locals = (uint16_t)(n < UINT16_MAX ? n : UINT16_MAX);
}

HRESULT clrie_method_new(struct clrie_model *model, enum clrie_method_use use, ModuleID module,
                         mdMethodDef token, FunctionID function, struct clrie_method **out)
{
    ICorProfilerInfo10  *info = clrie_model_info(model);
    struct clrie_object *owner;
    struct clrie_method *method;
    ClassID              class_id = 0;
    *out = NULL;
    if (!info)
        return E_FAIL;
    if (function && use != CLRIE_METHOD_REJITTED) {
        HRESULT hr = info->vtbl->GetFunctionInfo(info, function, &class_id, &module, &token);
        if (FAILED(hr))
            return hr;
    }
    owner = clrie_model_find(model, CLRIE_MODULES, module);
    if (!owner)
        return E_FAIL;
    method = clrie_new(&clrie_method);
    if (!method) {
        clrie_unref(owner);
        return E_OUTOFMEMORY;
    }
    clrie_keep(owner);
    method->module = (struct clrie_module *)owner;
    method->use = use;
    method->token = token;
    method->function = use == CLRIE_METHOD_REJITTED ? 0 : function;
    method->class_id = class_id;
    method->graph_method.info = clrie_method_face(method);
    method->graph_method.refresh = refresh;
    method->graph_method.owner = &method->object;
    if (use == CLRIE_METHOD_REJITTED)
        clrie_module_add_rejit(method->module, token);
    *out = method;
    return S_OK;
}

static void release_import(IMetaDataImport2 *import)
{
    if (import)
        import->vtbl->Release(import);
}

void clrie_method_reset(struct clrie_method *method)
{
    struct clrie_attempt *attempt =
        method->graph || method->locals ? calloc(1, sizeof(*attempt)) : NULL;
    if (!attempt)
        return;
    *attempt = (struct clrie_attempt){method->attempts, method->graph, method->locals};
    method->attempts = attempt;
    method->graph = NULL;
    method->locals = NULL;
    method->has_header = 0;
}

void clrie_method_open(struct clrie_method *method)
{
    clrie_keep(&method->object);
}

void clrie_method_close(struct clrie_method *method)
{
    if (method)
        clrie_unhold(&method->object);
}

void clrie_method_name(struct clrie_method *method, char *out, size_t room)
{
    BSTR   name = NULL;
    size_t n, len = 0;
    clrie_method_GetFullName(method, &name);
    n = clrie_string_length(name);
    for (size_t at = 0; at < n && len + 4 < room;)
        len += sxs_utf8_put(out + len, sxs_utf16_next(name, n, &at));
    out[len] = '\0';
    clrie_string_free(name);
}

void clrie_method_end(struct clrie_object *object)
{
    struct clrie_method *method = (struct clrie_method *)object;
    while (method->attempts) {
        struct clrie_attempt *next = method->attempts->next;
        clrie_graph_free(method->attempts->graph);
        clrie_locals_free(method->attempts->locals);
        free(method->attempts);
        method->attempts = next;
    }
    clrie_graph_free(method->graph);
    clrie_unhold((struct clrie_object *)method->factory);
    clrie_locals_free(method->locals);
    clrie_locals_free(method->original_locals);
    release_import(method->import);
    release_import(method->live_import);
    free(method->name);
    clrie_unhold(&method->module->object);
}

/* ---- for the engine --------------------------------------------------------------------------- */

struct clrie_module *clrie_method_module(struct clrie_method *method)
{
    return method->module;
}

mdMethodDef clrie_method_token(const struct clrie_method *method)
{
    return method->token;
}

FunctionID clrie_method_function(const struct clrie_method *method)
{
    return method->function;
}

struct clrie_graph_method *clrie_method_graph_method(struct clrie_method *method)
{
    return &method->graph_method;
}

int clrie_method_has_graph(const struct clrie_method *method)
{
    return method->graph != NULL;
}

uint32_t clrie_method_codegen_flags(const struct clrie_method *method)
{
    return method->codegen_flags;
}

IMethodInfo *clrie_method_face(struct clrie_method *method)
{
    return clrie_face(&method->object, CLRIE_FACE_method_IMethodInfo2);
}

void clrie_method_set_written(struct clrie_method *method, const uint8_t *bytes)
{
    clrie_module_set_written(method->module, method->token, bytes);
}

void clrie_method_set_transformed(struct clrie_method *method, int is)
{
    clrie_module_set_transformed(method->module, method->token, is);
}

HRESULT clrie_method_set_map(struct clrie_method *method, const COR_IL_MAP *map, uint32_t n)
{
    return clrie_module_set_map(method->module, method->token, method->function, map, n);
}

uint32_t clrie_method_map(struct clrie_method *method, COR_IL_MAP *map, uint32_t room)
{
    return clrie_module_map(method->module, method->token, method->function, map, room);
}

/* ---- the graph -------------------------------------------------------------------------------- */

/* The checker asks this of each call. Tokens that a plug-in added are in the live metadata only. */
static int find_effect(void *context, enum sxs_il_opcode opcode, uint32_t token,
                       struct sxs_il_effect *out)
{
    struct clrie_method *method = context;
    if (FAILED(clrie_method_alive(method)))
        return -1;
    if (!method->import)
        method->import = clrie_module_import(method->module);
    if (method->import && sxs_callee_effect(method->import, opcode, token, out) == 0)
        return 0;
    if (!method->live_import)
        method->live_import = clrie_module_live_import(method->module);
    return method->live_import ? sxs_callee_effect(method->live_import, opcode, token, out) : -1;
}

HRESULT clrie_method_describe(struct clrie_method *method)
{
    struct sxs_il_arity arity;
    HRESULT             hr = clrie_method_read_attributes(method);
    if (FAILED(hr))
        return hr;
    if (sxs_il_method_arity(method->sig, method->sig_size, &arity))
        return E_FAIL;
    method->graph_method.il.n_args = (uint16_t)(arity.n_parameters + arity.has_this);
    method->graph_method.il.returns = arity.returns;
    method->graph_method.il.effect = find_effect;
    method->graph_method.il.context = method;
    return S_OK;
}

HRESULT clrie_method_graph(struct clrie_method *method, struct clrie_graph **out)
{
    const uint8_t *bytes;
    uint32_t       size;
    HRESULT        hr;
    *out = method->graph;
    if (method->graph)
        return S_OK;
    hr = clrie_method_alive(method);
    if (SUCCEEDED(hr))
        hr = clrie_method_read_header(method);
    if (SUCCEEDED(hr))
        hr = clrie_method_describe(method);
    if (SUCCEEDED(hr))
        hr = clrie_module_body(method->module, method->token, method->use, &bytes, &size);
    if (SUCCEEDED(hr))
        hr = clrie_graph_new(&method->graph_method, bytes, size, out);
    if (FAILED(hr)) {
        *out = NULL;
        return hr;
    }
    method->graph = *out;
    return S_OK;
}

HRESULT clrie_method_original(struct clrie_method *method, const uint8_t **bytes, uint32_t *size)
{
    return clrie_module_body(method->module, method->token, method->use, bytes, size);
}

/* 1 if the method has no locals, or a token of a signature that exists. */
static int has_signature(struct clrie_method *method)
{
    const uint8_t *sig;
    uint32_t       size;
    return !(method->locals_token & 0xffffff) ||
           SUCCEEDED(method->module->types.signature(&method->module->types, method->locals_token,
                                                     &sig, &size));
}

HRESULT clrie_method_render(struct clrie_method *method, struct clrie_written *out, char *why,
                            size_t room)
{
    struct clrie_graph *graph;
    struct sxs_il_body *body;
    const char         *what = "there is no IL of it";
    HRESULT             hr = clrie_method_graph(method, &graph);
    if (SUCCEEDED(hr) && method->locals) {
        what = "its locals cannot be written";
        hr = clrie_locals_CommitSignature(method->locals);
    }
    if (SUCCEEDED(hr) && !has_signature(method)) {
        what = "its locals have no signature";
        hr = E_FAIL;
    }
    snprintf(why, room, "%s (0x%08x)", what, (unsigned)hr);
    if (FAILED(hr))
        return hr;
    if (room)
        why[0] = '\0';
    body = clrie_graph_body(graph);
    if (!body)
        return E_OUTOFMEMORY;
    body->locals = method->locals_token;
    body->init_locals = 1;
    sxs_il_set_changed(body);
    hr = clrie_graph_check(graph, why, room);
    if (FAILED(hr))
        return hr;
    hr = clrie_graph_write(graph, out);
    if (FAILED(hr))
        snprintf(why, room, "it cannot be written (0x%08x)", (unsigned)hr);
    return hr;
}

HRESULT clrie_method_GetInstructions(struct clrie_method *self,
                                     IInstructionGraph  **ppInstructionGraph)
{
    struct clrie_graph *graph;
    HRESULT             hr = clrie_method_graph(self, &graph);
    *ppInstructionGraph = NULL;
    return FAILED(hr)
               ? hr
               : clrie_hand_out((struct clrie_object *)graph, CLRIE_FACE_graph_IInstructionGraph,
                                (void **)ppInstructionGraph);
}

HRESULT clrie_method_GetExceptionSection(struct clrie_method *self,
                                         IExceptionSection  **ppExceptionSection)
{
    struct clrie_graph *graph;
    HRESULT             hr = clrie_method_graph(self, &graph);
    *ppExceptionSection = NULL;
    return FAILED(hr)
               ? hr
               : clrie_hand_out((struct clrie_object *)clrie_graph_section(graph),
                                CLRIE_FACE_section_IExceptionSection, (void **)ppExceptionSection);
}

HRESULT clrie_method_GetInstructionFactory(struct clrie_method  *self,
                                           IInstructionFactory **ppInstructionFactory)
{
    *ppInstructionFactory = NULL;
    if (!self->factory) {
        self->factory = clrie_factory_new();
        if (!self->factory)
            return E_OUTOFMEMORY;
        clrie_keep((struct clrie_object *)self->factory);
    }
    return clrie_hand_out((struct clrie_object *)self->factory,
                          CLRIE_FACE_factory_IInstructionFactory, (void **)ppInstructionFactory);
}

HRESULT clrie_method_GetMaxStack(struct clrie_method *self, DWORD *pMaxStack)
{
    struct clrie_graph *graph;
    HRESULT             hr = clrie_method_graph(self, &graph);
    return FAILED(hr) ? hr : clrie_graph_max_stack(graph, pMaxStack);
}

/* The single return holds the method by a data item, because it may be used after the last Release()
 * of the method. */
HRESULT clrie_method_GetSingleRetDefaultInstrumentation(
    struct clrie_method *self, ISingleRetDefaultInstrumentation **ppSingleRetDefaultInstrumentation)
{
    static const GUID key = {
        0x5c1e6a0b, 0x3f52, 0x4d0e, {0x9b, 0x27, 0x61, 0x0c, 0x8d, 0x4e, 0x77, 0xa3}};
    struct clrie_single_return *object =
        clrie_single_return_new(clrie_method_add_result_local, self);
    *ppSingleRetDefaultInstrumentation = NULL;
    if (!object)
        return E_OUTOFMEMORY;
    if (FAILED(clrie_object_SetDataItem((struct clrie_object *)object, &key, &key,
                                        (IUnknown *)(void *)clrie_method_face(self)))) {
        clrie_unref((struct clrie_object *)object);
        return E_OUTOFMEMORY;
    }
    *ppSingleRetDefaultInstrumentation = clrie_face(
        (struct clrie_object *)object, CLRIE_FACE_single_return_ISingleRetDefaultInstrumentation2);
    return S_OK;
}

/* ---- IDs and numbers -------------------------------------------------------------------------- */

HRESULT clrie_method_GetModuleInfo(struct clrie_method *self, IModuleInfo **ppModuleInfo)
{
    return clrie_hand_out(&self->module->object, CLRIE_FACE_module_IModuleInfo3,
                          (void **)ppModuleInfo);
}

HRESULT clrie_method_GetClassId(struct clrie_method *self, ClassID *pClassId)
{
    if (!self->class_id)
        return E_FAIL;
    *pClassId = self->class_id;
    return S_OK;
}

HRESULT clrie_method_GetFunctionId(struct clrie_method *self, FunctionID *pFunctionID)
{
    if (!self->function)
        return E_FAIL;
    *pFunctionID = self->function;
    return S_OK;
}

HRESULT clrie_method_GetMethodToken(struct clrie_method *self, mdToken *pToken)
{
    *pToken = self->token;
    return S_OK;
}

HRESULT clrie_method_GetRejitCodeGenFlags(struct clrie_method *self, DWORD *pRefitFlags)
{
    *pRefitFlags = self->codegen_flags;
    return S_OK;
}

HRESULT clrie_method_SetRejitCodeGenFlags(struct clrie_method *self, DWORD dwFlags)
{
    self->codegen_flags = dwFlags;
    return S_OK;
}

HRESULT clrie_method_GetRejitCount(struct clrie_method *self, DWORD *pdwRejitCount)
{
    *pdwRejitCount = clrie_module_rejits(self->module, self->token);
    return S_OK;
}
