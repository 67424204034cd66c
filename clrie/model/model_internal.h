/* SPDX-License-Identifier: MIT */
/** model_internal.h - the structs of the model, for the files of this folder. */
#ifndef SXS_CLRIE_MODEL_MODEL_INTERNAL_H
#define SXS_CLRIE_MODEL_MODEL_INTERNAL_H

#include <pthread.h>

#include "base/base.h"
#include "clrie/model/image.h"
#include "clrie/model/model.h"

/** Objects by ID, sorted by ID. */
struct clrie_ids {
    struct clrie_id {
        uint64_t             id;
        struct clrie_object *object; /* one reference */
    } * rows;
    uint32_t n, room;
};

/**
 * The model. Each of its objects holds a reference, so that the model lives as long as a plug-in
 * holds one of them.
 */
struct clrie_model {
    _Atomic(struct clrie_model_host *) host; /* NULL after clrie_model_free() */
    atomic_uint                        refs;
    pthread_mutex_t                    lock; /* guards the lists */
    struct clrie_domains              *domains;
    struct clrie_ids                   domain_ids, assembly_ids, module_ids;
};

struct clrie_domains {
    CLRIE_OBJECT(1);
    struct clrie_model *model;
};

struct clrie_domain {
    CLRIE_OBJECT(2);
    struct clrie_model *model;
    AppDomainID         id;
    BSTR                name;        /* guarded by the model's lock */
    atomic_int          is_finished; /* the name and the flags below are known */
    uint8_t             is_system, is_shared, is_default;
};

struct clrie_assembly {
    CLRIE_OBJECT(2);
    struct clrie_model  *model;
    struct clrie_domain *domain; /* one reference */
    AssemblyID           id;
    ModuleID             manifest_id;
    BSTR                 name;
    atomic_int           has_manifest; /* 1: the manifest module was added */
    /* What the manifest says, read when it is first asked for; the rest is set before is_read. */
    atomic_int           is_read;
    mdAssembly           token;
    uint8_t             *public_key; /* owned; NULL: none */
    uint32_t             public_key_size;
    struct clrie_module *manifest; /* one reference, dropped when the module is unloaded */
};

struct clrie_bodies;

struct clrie_module {
    CLRIE_OBJECT(2);
    struct clrie_model       *model;
    struct clrie_assembly    *assembly; /* one reference */
    struct clrie_domain      *domain;   /* one reference */
    ModuleID                  id;
    LPCBYTE                   base;  /* NULL: a dynamic module */
    DWORD                     flags; /* COR_PRF_MODULE_* */
    GUID                      mvid;
    atomic_int                has_mvid;
    BSTR                      path, name;
    struct clrie_image       *image; /* owned; NULL: dynamic, or its headers cannot be read */
    atomic_int                is_unloaded;
    pthread_mutex_t           lock;                 /* guards what follows */
    IMetaDataImport2         *import, *live_import; /* live_import: sees tokens that were added */
    IMetaDataAssemblyImport  *assembly_import;
    IMetaDataEmit2           *emit;
    IMetaDataAssemblyEmit    *assembly_emit;
    struct clrie_bodies      *bodies;       /* what is known of its methods (bodies.c) */
    struct clrie_object      *type_creator; /* its references are counted by the module */
    struct clrie_types_module types;
};

/* model.c */
struct clrie_model *clrie_model_ref(struct clrie_model *model);
void                clrie_model_unref(struct clrie_model *model);
/** clrie_model_info - the runtime's info; NULL after clrie_model_free(). */
ICorProfilerInfo10 *clrie_model_info(struct clrie_model *model);
/** clrie_ids_find - find an object by ID. The model's lock is held. */
struct clrie_object *clrie_ids_find(const struct clrie_ids *ids, uint64_t id);

/** The kinds of lists. */
enum clrie_kind { CLRIE_DOMAINS, CLRIE_ASSEMBLIES, CLRIE_MODULES };
/** clrie_model_find - return the object with a new reference; NULL: unknown. */
struct clrie_object *clrie_model_find(struct clrie_model *model, enum clrie_kind kind, uint64_t id);
/** clrie_model_hand_out - store face 0 of the object in @out. Returns S_OK, or E_FAIL and NULL. */
HRESULT clrie_model_hand_out(struct clrie_model *model, enum clrie_kind kind, uint64_t id,
                             void **out);
/** clrie_model_list - make an enumerator of the objects for which @wanted returns 1.
 *  @wanted: NULL: all. Called with the model's lock; must not take locks.
 *  @count: receives their number; may be NULL. @out: receives the enumerator; may be NULL. */
HRESULT clrie_model_list(struct clrie_model *model, enum clrie_kind kind,
                         int (*wanted)(struct clrie_object *object, const void *what),
                         const void *what, uint32_t *count, void **out);

/** clrie_wide_is - is @text, which may be NULL, the same as @other? Case counts. (assembly.c) */
int clrie_wide_is(const WCHAR *text, const WCHAR *other);
/** clrie_string_out - copy @text to *out. Returns S_OK or E_OUTOFMEMORY. (assembly.c) */
HRESULT clrie_string_out(BSTR text, BSTR *out);

/* domain.c, assembly.c, module.c: make objects. They return one reference, or NULL. */
struct clrie_domains  *clrie_domains_new(struct clrie_model *model);
/** clrie_model_read_mvids - read the mvid of each module, for a search. */
void clrie_model_read_mvids(struct clrie_model *model);
struct clrie_domain   *clrie_domain_new(struct clrie_model *model, AppDomainID id);
struct clrie_assembly *clrie_assembly_new(struct clrie_model *model, AssemblyID id);
struct clrie_module   *clrie_module_new(struct clrie_model *model, ModuleID id);
/** Note that a module was added to, or removed from, the lists. */
void clrie_assembly_add_module(struct clrie_assembly *assembly, struct clrie_module *module);
void clrie_assembly_remove_module(struct clrie_assembly *assembly, struct clrie_module *module);
void clrie_module_unload(struct clrie_module *module);

/** Predicates for clrie_model_list(). @what: the struct clrie_domain or clrie_assembly. */
int clrie_module_is_in_domain(struct clrie_object *module, const void *domain);
int clrie_assembly_is_in_domain(struct clrie_object *assembly, const void *domain);

/** clrie_module_creator - the module's ITypeCreator, borrowed. (module_methods.c) */
HRESULT clrie_module_creator(struct clrie_module *module, struct clrie_object **out);

/* metadata.c */
/** clrie_module_import - the metadata of the module, with a new reference; NULL: unloaded.
 *  clrie_module_live_import() sees tokens that plug-ins added, too, and is opened when first
 *  needed. */
IMetaDataImport2 *clrie_module_import(struct clrie_module *module);
IMetaDataImport2 *clrie_module_live_import(struct clrie_module *module);
/** clrie_module_read_mvid - read module->mvid, once. Returns S_OK, or the failure of the metadata. */
HRESULT clrie_module_read_mvid(struct clrie_module *module);
void    clrie_module_close(struct clrie_module *module);
/** clrie_type_name - the name of a TypeDef or TypeRef as IType::GetName() gives it. */
HRESULT clrie_module_type_name(struct clrie_types_module *types, mdToken token, BSTR *out);
HRESULT clrie_module_signature(struct clrie_types_module *types, mdSignature token,
                               const uint8_t **bytes, uint32_t *size);
HRESULT clrie_module_token(struct clrie_types_module *types, const uint8_t *bytes, uint32_t size,
                           mdSignature *token);

/* bodies.c: what is known of the methods of a module. All functions take the module's lock. */
/** clrie_module_body - the IL body that a method has without the engine's changes. Borrowed from
 *  the runtime. */
HRESULT clrie_module_body(struct clrie_module *module, mdMethodDef token, enum clrie_method_use use,
                          const uint8_t **bytes, uint32_t *size);
void clrie_module_set_written(struct clrie_module *module, mdMethodDef token, const uint8_t *bytes);
uint32_t clrie_module_rejits(struct clrie_module *module, mdMethodDef token);
void     clrie_module_add_rejit(struct clrie_module *module, mdMethodDef token);
int      clrie_module_is_transformed(struct clrie_module *module, mdMethodDef token);
void     clrie_module_set_transformed(struct clrie_module *module, mdMethodDef token, int is);
HRESULT  clrie_module_set_map(struct clrie_module *module, mdMethodDef token, FunctionID function,
                              const COR_IL_MAP *map, uint32_t n);
/** Copies at most @room rows; returns the number of all. @map may be NULL. */
uint32_t clrie_module_map(struct clrie_module *module, mdMethodDef token, FunctionID function,
                          COR_IL_MAP *map, uint32_t room);
void     clrie_bodies_free(struct clrie_bodies *bodies);

#endif
