/* SPDX-License-Identifier: MIT */
/** method_internal.h - the struct of a method, for the files of this folder. */
#ifndef SXS_CLRIE_MODEL_METHOD_INTERNAL_H
#define SXS_CLRIE_MODEL_METHOD_INTERNAL_H

#include "clrie/model/model_internal.h"

/* What an earlier attempt to change the method has left: plug-ins may hold it. */
struct clrie_attempt {
    struct clrie_attempt *next;
    struct clrie_graph   *graph;
    struct clrie_locals  *locals;
};

struct clrie_method {
    CLRIE_OBJECT(2);
    struct clrie_module  *module; /* one reference */
    enum clrie_method_use use;
    mdToken               token;
    FunctionID            function; /* 0: not known */
    ClassID               class_id; /* 0: not known */
    DWORD                 codegen_flags;
    /* What metadata says; valid when has_attributes. */
    uint8_t        has_attributes, has_generics, has_header;
    DWORD          attributes, impl;
    ULONG          rva;
    mdToken        owner;      /* the declaring type */
    mdToken        definition; /* the method itself; of a MethodSpec: the generic method */
    const uint8_t *sig;        /* borrowed from the metadata */
    ULONG          sig_size;
    uint32_t       n_generics;
    char   *name; /* as GetName() gives it, but without type parameters until has_full_name */
    uint8_t has_full_name;
    /* Metadata for the checker: opened when first needed; one reference each. */
    IMetaDataImport2         *import, *live_import;
    mdSignature               locals_token;             /* valid when has_header */
    struct clrie_locals      *locals, *original_locals; /* owned */
    struct clrie_graph_method graph_method;
    struct clrie_graph       *graph;   /* one reference; its references are counted by the method */
    struct clrie_factory     *factory; /* one reference */
    struct clrie_attempt     *attempts; /* owned */
};

/* method_names.c: read what metadata says of the method, once. */
HRESULT clrie_method_read_attributes(struct clrie_method *method);
HRESULT clrie_method_read_generics(struct clrie_method *method);
HRESULT clrie_method_read_name(struct clrie_method *method);
/** clrie_method_alive - S_OK, or E_FAIL when the module was unloaded: its metadata cannot be read. */
HRESULT clrie_method_alive(const struct clrie_method *method);

/** clrie_method_describe - fill graph_method.il, for the checker. (method.c) */
HRESULT clrie_method_describe(struct clrie_method *method);

/* method_locals.c */
HRESULT clrie_method_read_header(struct clrie_method *method);
HRESULT clrie_method_locals_of(struct clrie_method *method, int is_original,
                               struct clrie_locals **out);
/** clrie_method_add_result_local - adds a local of the result's type, for the single return. */
int      clrie_method_add_result_local(void *method, int *returns);
uint32_t clrie_method_n_locals(struct clrie_method *method);

#endif
