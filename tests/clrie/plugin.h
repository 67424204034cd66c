/* SPDX-License-Identifier: MIT */
/**
 * plugin.h - what the instrumentation methods of tests share: the export, the class factory, the
 * object.
 *
 * Each plug-in is one library of plugin.c and one file of its own, which defines the slots that it is
 * interested in (plug_NAME()). They use nothing of the project but the tables of the ABI, so that
 * any engine with the same interfaces can load them.
 */
#ifndef SXS_TESTS_CLRIE_PLUGIN_H
#define SXS_TESTS_CLRIE_PLUGIN_H

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sxs_abi.h"

/** The plug-in on one runtime. */
struct plug {
    IInstrumentationMethod                im; /* first */
    IInstrumentationMethodJitEvents2      jit;
    IInstrumentationMethodExceptionEvents exceptions;
    IInstrumentationMethodAttach          attach;
    atomic_uint                           refs;
    char                                  runtime[32]; /* as in "10.0.11" */
    unsigned char                         id;          /* the last byte of its class ID */
    IProfilerManager                     *manager;
    IProfilerStringManager               *strings;
    IProfilerManagerLogging              *log;
    ICorProfilerInfo5                    *info;
    void                                 *own; /* of the plug-in */
};

/** The name in the output; defined by each plug-in. */
extern const char plug_name[];
/** Which of the further interfaces QueryInterface answers: PLUG_JIT, PLUG_EXCEPTIONS; 0 unless a plug-in
 *  defines it. Every plug-in can be attached: InitializeForAttach calls plug_initialize() unless a
 *  plug-in defines plug_attached(). */
enum { PLUG_JIT = 1, PLUG_EXCEPTIONS = 2 };
extern const unsigned plug_has __attribute__((weak));

/* The slots. Those that a plug-in does not define return S_OK. */
HRESULT plug_initialize(struct plug *p);
HRESULT plug_domain_created(struct plug *p, IAppDomainInfo *domain);
HRESULT plug_domain_shutdown(struct plug *p, IAppDomainInfo *domain);
HRESULT plug_assembly_loaded(struct plug *p, IAssemblyInfo *assembly);
HRESULT plug_assembly_unloaded(struct plug *p, IAssemblyInfo *assembly);
HRESULT plug_module_loaded(struct plug *p, IModuleInfo *module);
HRESULT plug_module_unloaded(struct plug *p, IModuleInfo *module);
HRESULT plug_shutdown(struct plug *p);
HRESULT plug_should(struct plug *p, IMethodInfo *method, BOOL is_rejit, BOOL *wants);
HRESULT plug_before(struct plug *p, IMethodInfo *method, BOOL is_rejit);
HRESULT plug_instrument(struct plug *p, IMethodInfo *method, BOOL is_rejit);
HRESULT plug_complete(struct plug *p, IMethodInfo *method, BOOL is_rejit);
HRESULT plug_inline(struct plug *p, IMethodInfo *callee, IMethodInfo *caller, BOOL *allowed);
HRESULT plug_jit_started(struct plug *p, FunctionID function, BOOL is_rejit);
HRESULT plug_jit_complete(struct plug *p, IMethodJitInfo *compiled);
HRESULT plug_exception(struct plug *p, const char *event, IMethodInfo *method);
HRESULT plug_attached(struct plug *p, IInstrumentationMethodAttachContext *context);
HRESULT plug_attach_complete(struct plug *p);

/** Prints one line: to the file that PLUG_OUT names, which is appended to, or to standard error. The
 *  line begins with the name of the plug-in and the version of its runtime. */
void plug_say(const struct plug *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** The text of a BSTR, which is freed; in one of four static buffers of the thread. */
const char *plug_text(struct plug *p, BSTR string);

/** A variable of the environment; "" when it is not set. */
const char *plug_setting(const char *name);

/** The full name of a method. */
const char *plug_method_name(struct plug *p, IMethodInfo *method);

#endif
