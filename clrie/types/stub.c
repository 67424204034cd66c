/* SPDX-License-Identifier: MIT */
#include "clrie/types/types.h"
struct clrie_type_creator *clrie_type_creator_new(struct clrie_types_module *module) { (void)module; return NULL; }
IType *clrie_type_face(struct clrie_type *type) { return (void *)type; }
HRESULT clrie_method_signature_read(struct clrie_types_module *module, const uint8_t *bytes,
                                    uint32_t size, struct clrie_type **result,
                                    struct clrie_object **parameters)
{ (void)module, (void)bytes, (void)size, (void)result, (void)parameters; return E_NOTIMPL; }
struct clrie_locals *clrie_locals_new(struct clrie_types_module *module, struct clrie_object *owner,
                                      mdSignature *token, int is_original,
                                      HRESULT (*load)(struct clrie_object *owner))
{ (void)module, (void)owner, (void)token, (void)is_original, (void)load; return NULL; }
void clrie_locals_free(struct clrie_locals *locals) { (void)locals; }
uint32_t clrie_locals_count(struct clrie_locals *locals) { (void)locals; return 0; }
