/* SPDX-License-Identifier: MIT */
/**
 * types.h - types, signatures and local variables, as plug-ins see them. Signatures are read and
 * written by instr/metadata/signature.h and signature_write.h.
 */
#ifndef SXS_CLRIE_TYPES_TYPES_H
#define SXS_CLRIE_TYPES_TYPES_H

#include "sxs_clrie.h"

/** What types must know of the module that their tokens belong to. Outlives them. */
struct clrie_types_module {
    IModuleInfo *info; /* borrowed */
    /* Stores the name of the type @token in @out, as IType::GetName gives it. Returns an HRESULT. */
    HRESULT (*type_name)(struct clrie_types_module *module, mdToken token, BSTR *out);
    /* Returns the bytes of the signature @token (StandAloneSig); borrowed. */
    HRESULT (*signature)(struct clrie_types_module *module, mdSignature token, const uint8_t **bytes,
                         uint32_t *size);
    /* Makes a token of the signature. */
    HRESULT (*token)(struct clrie_types_module *module, const uint8_t *bytes, uint32_t size,
                     mdSignature *token);
};

/** clrie_type_creator_new - ITypeCreator and ISignatureParser of a module. One reference, or NULL. */
struct clrie_type_creator *clrie_type_creator_new(struct clrie_types_module *module);

/**
 * clrie_type_read - make the type at *@at of a signature, and move *@at past it.
 * @out: receives one reference. Returns S_OK, E_NOTIMPL for an unknown element, E_INVALIDARG when the
 * signature is cut, or E_OUTOFMEMORY. */
HRESULT clrie_type_read(struct clrie_types_module *module, const uint8_t **at, const uint8_t *end,
                        struct clrie_type **out);

/** clrie_type_face - the IType of a type. */
IType *clrie_type_face(struct clrie_type *type);

/** clrie_signature_builder_new - ISignatureBuilder. One reference, or NULL. */
struct clrie_signature_builder *clrie_signature_builder_new(void);

/** clrie_method_signature_read - read a method's signature. @result: receives the result type;
 *  @parameters: receives IEnumMethodParameters without `this`. Either may be NULL. One reference each. */
HRESULT clrie_method_signature_read(struct clrie_types_module *module, const uint8_t *bytes,
                                    uint32_t size, struct clrie_type **result,
                                    struct clrie_object **parameters);

/**
 * clrie_locals_new - ILocalVariableCollection2 of a method.
 * @owner: the object whose life the collection shares, and whose references are counted instead.
 * @token: where the method's token of locals is; read when first needed, written by CommitSignature().
 * @is_original: 1: the collection that cannot be changed.
 * @load: called before @token is read, so that the header can be read; NULL: nothing.
 * Returns NULL without memory. Freed with clrie_locals_free(). */
struct clrie_locals *clrie_locals_new(struct clrie_types_module *module, struct clrie_object *owner,
                                      mdSignature *token, int is_original,
                                      HRESULT (*load)(struct clrie_object *owner));
void                 clrie_locals_free(struct clrie_locals *locals);

/** clrie_locals_count - the present number of locals. */
uint32_t clrie_locals_count(struct clrie_locals *locals);

#endif
