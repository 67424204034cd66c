/* SPDX-License-Identifier: MIT */
/**
 * instr/metadata/state_machine.h - the rules by which the state machine of a method is recognized.
 *
 * Compilers move the body of an async method or an iterator to the method MoveNext() of a nested
 * type, the state machine. An attribute of the method names that type. The runtime's search for
 * methods and `sxsprof check` use the same rules.
 */
#ifndef SXS_INSTR_METADATA_STATE_MACHINE_H
#define SXS_INSTR_METADATA_STATE_MACHINE_H

#include <string.h>

#include "instr/metadata/attribute.h"

/* X(name of an attribute that names a state machine). A literal in UTF-16 is: u"" name. */
#define SXS_MACHINE_ATTRIBUTES(X)                                      \
    X("System.Runtime.CompilerServices.AsyncStateMachineAttribute")    \
    X("System.Runtime.CompilerServices.IteratorStateMachineAttribute") \
    X("System.Runtime.CompilerServices.AsyncIteratorStateMachineAttribute")

/** sxs_machine_attribute - is @name the name of such an attribute? */
int sxs_machine_attribute(const char *name);

/** sxs_machine_named - does the attribute's @value name the type @type, in the form
 *  Namespace.Outer+Inner? */
static inline int sxs_machine_named(struct sxs_blob value, const char *type)
{
    return sxs_md_attribute_is_type(value, type);
}

/** sxs_machine_possible - can @type, in the form Namespace.Outer+Inner, be a state machine? It must
 *  be nested, and have a name of the C# compiler (<Method>d__1) or of the Visual Basic compiler
 *  (VB$StateMachine_1_Method). */
int sxs_machine_possible(const char *type);

/** sxs_machine_body - is @method the name of the method with the body? */
static inline int sxs_machine_body(const char *method)
{
    return strcmp(method, "MoveNext") == 0;
}

#endif
