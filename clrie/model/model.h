/* SPDX-License-Identifier: MIT */
/**
 * model.h - the AppDomains, assemblies, modules and methods of one runtime, as plug-ins see them.
 *
 * The model knows the runtime through an ICorProfilerInfo, and the engine through struct
 * clrie_model_host. Lists are guarded by the model's own lock; no foreign code is called while it is
 * held.
 */
#ifndef SXS_CLRIE_MODEL_MODEL_H
#define SXS_CLRIE_MODEL_MODEL_H

#include "clrie/graph/graph.h"
#include "clrie/types/types.h"
#include "sxs_clrie.h"

struct clrie_model;

/** What the model asks of the engine. Outlives the model. */
struct clrie_model_host {
    ICorProfilerInfo10 *info;    /* borrowed; the runtime's, or a guest's view of it */
    unsigned            version; /* of the interface that @info really has */
    HRESULT (*request_rejit)(struct clrie_model_host *host, ModuleID module, mdMethodDef method);
};

/** clrie_model_new - an empty model. NULL without memory. Free it when no object is used any more. */
struct clrie_model *clrie_model_new(struct clrie_model_host *host);
void                clrie_model_free(struct clrie_model *model);

/** clrie_model_domains - the IAppDomainCollection. Borrowed. */
struct clrie_domains *clrie_model_domains(struct clrie_model *model);

/** Find, make, finish and remove AppDomains and assemblies, here and for modules below. They return a
 *  borrowed object that the model holds, or NULL when it cannot be made, is unknown, or @model is NULL,
 *  as before Initialize and after Shutdown. _remove() passes the reference of the model to the caller. */
struct clrie_domain   *clrie_model_domain(struct clrie_model *model, AppDomainID id);
void                   clrie_domain_finish(struct clrie_domain *domain);
struct clrie_domain   *clrie_model_domain_remove(struct clrie_model *model, AppDomainID id);
struct clrie_assembly *clrie_model_assembly(struct clrie_model *model, AssemblyID id);
struct clrie_assembly *clrie_model_assembly_remove(struct clrie_model *model, AssemblyID id);

/** clrie_model_module_add - make the module, its assembly and its AppDomain as far as they are
 *  unknown. NULL for a module without assembly metadata (a resource). Borrowed. */
struct clrie_module *clrie_model_module_add(struct clrie_model *model, ModuleID id);
struct clrie_module *clrie_model_module(struct clrie_model *model, ModuleID id); /* NULL: unknown */
struct clrie_module *clrie_model_module_remove(struct clrie_model *model, ModuleID id);

int      clrie_module_is_dynamic(const struct clrie_module *module);
ModuleID clrie_module_id(const struct clrie_module *module);

/** How a method's object came about. */
enum clrie_method_use {
    CLRIE_METHOD_COMPILED, /* for a compilation: changes of its graph are used */
    CLRIE_METHOD_REJITTED, /* for GetReJITParameters: without a FunctionID */
    CLRIE_METHOD_ALONE     /* for questions; changes of its graph are not used */
};

/**
 * clrie_method_new - make the object of a method.
 * @function: 0 for CLRIE_METHOD_REJITTED. @token: 0: it is found by @function.
 * @out: receives one reference. Returns S_OK; E_FAIL when the module is unknown. */
HRESULT clrie_method_new(struct clrie_model *model, enum clrie_method_use use, ModuleID module,
                         mdMethodDef token, FunctionID function, struct clrie_method **out);

/** What the engine does with a method's object while the method is compiled. */
struct clrie_module       *clrie_method_module(struct clrie_method *method);
mdMethodDef                clrie_method_token(const struct clrie_method *method);
FunctionID                 clrie_method_function(const struct clrie_method *method);
struct clrie_graph_method *clrie_method_graph_method(struct clrie_method *method);
/** The graph, made of the original body if it was not made yet. Borrowed. */
HRESULT clrie_method_graph(struct clrie_method *method, struct clrie_graph **out);
int     clrie_method_has_graph(const struct clrie_method *method);
/** Commits the locals, checks and writes the graph. @why: as clrie_graph_check(). */
HRESULT  clrie_method_render(struct clrie_method *method, struct clrie_written *out, char *why,
                             size_t room);
uint32_t clrie_method_codegen_flags(const struct clrie_method *method);
/** clrie_method_name - write the method's full name, as UTF-8, for messages. */
void clrie_method_name(struct clrie_method *method, char *out, size_t room);
/** clrie_method_reset - drop the graph and the locals, so that plug-ins start again from the original body. */
void clrie_method_reset(struct clrie_method *method);
/** clrie_method_open - the caller's reference becomes one that plug-ins cannot use up. */
void clrie_method_open(struct clrie_method *method);

/** clrie_method_close - the compilation is over: free the graph, and drop the caller's reference. A
 *  plug-in that still holds the object can ask for names and IDs. */
void clrie_method_close(struct clrie_method *method);

/** clrie_method_original - the IL body without the engine's changes. Borrowed from the runtime. */
HRESULT clrie_method_original(struct clrie_method *method, const uint8_t **bytes, uint32_t *size);
/** clrie_method_check - check bytes that a plug-in wants to be the body. @size: at most so many are
 *  read. @used: receives the size of the body. @why: as clrie_graph_check(). */
HRESULT clrie_method_check(struct clrie_method *method, const uint8_t *bytes, size_t size,
                           uint32_t *used, char *why, size_t room);

/** clrie_method_set_written - @bytes was given to SetILFunctionBody(). When the runtime returns it as
 *  the body of the method later, the body before it is used instead. Only compared, never read. */
void clrie_method_set_written(struct clrie_method *method, const uint8_t *bytes);

/** clrie_module_first_body - the body that the engine was given in the first compilation, if it has set
 *  another one then. Returns 0 if not. Borrowed from the runtime. */
int clrie_module_first_body(struct clrie_module *module, mdMethodDef token, const uint8_t **bytes,
                            uint32_t *size);

/** clrie_method_set_transformed - whether plug-ins changed the method: what
 *  IMethodJitInfo::GetILTransformationStatus() answers. Set to 0 when a first compilation begins. */
void clrie_method_set_transformed(struct clrie_method *method, int is);

/** clrie_method_set_map - store the IL map of the compilation, for IMethodJitInfo2 and for the
 *  engine. clrie_method_map() copies at most @room rows and returns the number of all. */
HRESULT  clrie_method_set_map(struct clrie_method *method, const COR_IL_MAP *map, uint32_t n);
uint32_t clrie_method_map(struct clrie_method *method, COR_IL_MAP *map, uint32_t room);

/**
 * clrie_compiled_method_new - make the IMethodJitInfo of a compilation that has ended.
 * @rejit: 0: a first compilation.
 * @result: of the compilation. Returns one reference, or NULL without memory. */
struct clrie_compiled_method *clrie_compiled_method_new(struct clrie_model *model,
                                                        FunctionID function, int is_rejit,
                                                        ReJITID rejit, HRESULT result);
IMethodJitInfo               *clrie_compiled_method_face(struct clrie_compiled_method *method);

/** Return the interface that plug-ins get. Borrowed. */
IAppDomainInfo *clrie_domain_face(struct clrie_domain *domain);
IAssemblyInfo  *clrie_assembly_face(struct clrie_assembly *assembly);
IModuleInfo    *clrie_module_face(struct clrie_module *module);
IMethodInfo    *clrie_method_face(struct clrie_method *method);

#endif
